package conformance

import (
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// rightOwnership contains right operators with different uses of owner references.
var rightOwnership = []right{
	{"adopts by name", by(adoptsByName), ""},
	{"adopts by selector", by(adoptsBySelector), ""},
	{"imports by annotation", by(imports), `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web, annotations: {garden.example.com/import: old-garden}}
spec: {size: 1, color: green}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old-garden, namespace: default}
data: {color: green}
`},
	{"an owner chain of three", []host.Controller{reconciler("garden", gardens, living(plans), works),
		reconciler("work", works, living(digs), parts)}, ""},
	{"a dependent of a dependent", []host.Controller{nests()}, ""},
	{"an owner in an owner", []host.Controller{reconciler("nested", gardens, living(nestsGardens), parts, gardens)},
		gardenOf("{color: green, nested: true}")},
	{"an owner of the cluster", []host.Controller{reconciler("park", parks, living(furnishes), parts)}, ""},
	{"a Namespace of a cluster-scoped owner", []host.Controller{reconciler("tenants", parks, living(housesTenant), namespaces, parts)}, ""},
	{"an order that the owner decides", []host.Controller{reconciler("orders", gardens, living(ordersByOwner), works)}, ""},
	{"two controllers of one kind", []host.Controller{reconciler("first", gardens, living(needsNames), parts),
		reconciler("second", gardens, living(needsNames), works)}, ""},
	{"several owners", by(joins), ""},
	{"a plain reference on a shared object", by(governs), ""},
	{"a second owner of another kind", []host.Controller{needsSecret("sharers", sharesWithSecret)}, withSecret},
	{"server-side apply", by(applies), ""},
	{"server-side apply without a look", by(appliesBlindly), ""},
	{"server-side apply of all", []host.Controller{reconciler("intends", gardens, intends, parts)}, ""},
	{"server-side apply without force", by(appliesPolitely), ""},
	{"CreateOrUpdate merges", by(merges), ""},
	{"shards by label", []host.Controller{sharded("one"), sharded("two")},
		"apiVersion: garden.example.com/v1\nkind: Garden\nmetadata: {name: web, labels: {shard: one}}\nspec: {size: 2, color: green}\n"},
	{"beside an autoscaler", append(by(merges), autoscaler()), ""},
}

// nests creates a ConfigMap for its owner, and a Secret with a ControllerRef to the ConfigMap. This is as with a
// StatefulSet and its PodDisruptionBudget.
func nests() host.Controller {
	c := reconciler("nests", gardens, living(func(a *at, owner *thing) error {
		if err := a.ensure(owner, a.dependent(owner, owner.GetName())); err != nil {
			return err
		}
		above, err := a.live(parts, owner.GetNamespace(), owner.GetName())
		if err != nil || above == nil || above.GetDeletionTimestamp() != nil || !metav1.IsControlledBy(above, owner) {
			return err
		}
		below := object(secrets, owner.GetNamespace(), owner.GetName())
		below.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(above, parts)})
		return a.upsert(below, func(is *thing) error { return mine(above, is) })
	}), parts, secrets)
	c.Owns = []schema.GroupVersionKind{parts, secrets}
	return c
}

// nestsGardens creates a ConfigMap with the name of the owner, and another Garden if the owner wants one.
func nestsGardens(a *at, owner *thing) error {
	if is, _, _ := unstructured.NestedBool(owner.Object, "spec", "nested"); is {
		bed := object(gardens, owner.GetNamespace(), owner.GetName()+"-bed")
		bed.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, gardens)})
		bed.Object["spec"] = map[string]any{"color": stringAt(owner, "spec", "color")}
		err := a.upsert(bed, func(is *thing) error {
			is.Object["spec"] = bed.Object["spec"]
			return mine(owner, is)
		})
		if err != nil {
			return err
		}
	}
	return a.fills(owner, a.dependent(owner, owner.GetName()))
}

// adoptsByName gives its dependents the owner's color. It adopts ownerless objects with a dependent's name.
func adoptsByName(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		err := a.upsert(next, func(is *thing) error {
			is.Object["data"] = next.Object["data"]
			return a.controls(owner, is)
		})
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// adoptsBySelector adopts orphans with its label, after a live read of the owner. It releases those without the label.
func adoptsBySelector(a *at, owner *thing) error {
	mine := map[string]bool{}
	for _, d := range a.seen(a.kind) {
		matches := d.GetLabels()[ownerLabel] == owner.GetName()
		switch ref := metav1.GetControllerOf(d); {
		case ref == nil && matches && d.GetDeletionTimestamp() == nil:
			if is, err := a.same(owner); err != nil || !is {
				return err
			}
			if err := a.refers(d, metav1.NewControllerRef(owner, a.of)); err != nil {
				return err
			}
		case ref == nil || ref.UID != owner.GetUID():
			continue
		case !matches:
			err := a.refers(d, map[string]any{"$patch": "delete", "uid": owner.GetUID()})
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
				return err
			}
			continue
		}
		mine[d.GetName()] = true
	}
	for _, name := range wanted(owner) {
		if !mine[name] {
			d := a.dependent(owner, name)
			d.SetLabels(map[string]string{ownerLabel: owner.GetName()})
			if err := a.create(d); err != nil {
				return err
			}
		}
	}
	return a.prune(owner)
}

// refers changes the owner references of an object, with its resource version as a precondition.
func (a *at) refers(o *thing, ref any) error {
	return a.patch(o, "", types.StrategicMergePatchType, map[string]any{"metadata": map[string]any{
		"uid": o.GetUID(), "resourceVersion": o.GetResourceVersion(), "ownerReferences": []any{ref}}}, metav1.PatchOptions{})
}

// imports adopts the object without an owner that an annotation names, instead of creating an object.
func imports(a *at, owner *thing) error {
	next := a.dependent(owner, owner.GetName())
	if name, given := owner.GetAnnotations()["garden.example.com/import"]; given {
		next.SetName(name)
		if a.cached(name) == nil {
			return a.reports(owner, "phase", "NothingToImport")
		}
	}
	err := a.upsert(next, func(is *thing) error {
		is.Object["data"] = next.Object["data"]
		return a.controls(owner, is)
	})
	if err != nil {
		return err
	}
	return a.reports(owner, "phase", "Ready")
}

// plans creates a Work with the owner's spec.
func plans(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName()+"-work")
	next.Object["spec"] = owner.Object["spec"]
	return a.upsert(next, func(is *thing) error {
		is.Object["spec"] = next.Object["spec"]
		return a.controls(owner, is)
	})
}

// digs creates the ConfigMaps of a Work, and reports their number.
func digs(a *at, work *thing) error {
	if err := adoptsByName(a, work); err != nil {
		return err
	}
	return a.reports(work, "ready", int64(len(a.own(work))))
}

// furnishes creates the ConfigMaps of a cluster-scoped owner in a namespace.
func furnishes(a *at, park *thing) error {
	for _, name := range wanted(park) {
		next := a.dependent(park, name)
		next.SetNamespace("default")
		if err := a.fills(park, next); err != nil {
			return err
		}
	}
	return a.prune(park)
}

// housesTenant creates a Namespace for a cluster-scoped owner, and a ConfigMap in it. It waits while the Namespace
// terminates, because the server then refuses the ConfigMap.
func housesTenant(a *at, park *thing) error {
	space := object(namespaces, "", "tenant-"+park.GetName())
	space.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(park, a.of)})
	limits := object(parts, space.GetName(), "limits")
	limits.SetOwnerReferences(space.GetOwnerReferences())
	limits.Object["data"] = map[string]any{"size": strconv.FormatInt(intAt(park, "spec", "size"), 10)}
	if err := a.ensure(park, space); err != nil {
		return err
	}
	if is := a.cachedAt(namespaces, space.GetName()); is == nil || is.GetDeletionTimestamp() != nil {
		return errLater
	}
	return a.fills(park, limits)
}

// ordersByOwner writes a list whose order depends on the owner. A second instance that has not seen an edit restores the
// old order.
func ordersByOwner(a *at, owner *thing) error {
	var list []any
	for i := range int64(3) {
		name := string(rune('a' + (intAt(owner, "spec", "size")+i)%3))
		list = append(list, map[string]any{"name": name, "value": "x"})
	}
	next := a.bare(owner, owner.GetName()+"-work")
	next.Object["spec"] = map[string]any{"env": list}
	return a.upsert(next, func(is *thing) error {
		is.Object["spec"] = next.Object["spec"]
		return mine(owner, is)
	})
}

// joins creates one ConfigMap for all owners. It has a plain reference to each of them, and no ControllerRef.
func joins(a *at, owner *thing) error {
	ref := metav1.OwnerReference{APIVersion: a.of.GroupVersion().String(), Kind: a.of.Kind, Name: owner.GetName(),
		UID: owner.GetUID()}
	next := object(a.kind, owner.GetNamespace(), "gardens")
	next.Object["data"] = map[string]any{"shared": "yes"}
	next.SetOwnerReferences([]metav1.OwnerReference{ref})
	return a.upsert(next, func(is *thing) error { return refersAlso(is, ref) })
}

// refersAlso adds an owner reference to an object that does not have it yet and is not terminating.
func refersAlso(o *thing, ref metav1.OwnerReference) error {
	refs := o.GetOwnerReferences()
	if o.GetDeletionTimestamp() == nil &&
		!slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == ref.UID }) {
		o.SetOwnerReferences(append(refs, ref))
	}
	return nil
}

// governs creates a ConfigMap that all owners share, and the owner's own ConfigMaps.
func governs(a *at, owner *thing) error {
	if err := joins(a, owner); err != nil {
		return err
	}
	return applies(a, owner)
}

// applies sends the wanted dependents at each reconcile, by server-side apply. Objects of others stay unchanged.
func applies(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if d := a.cached(name); d != nil && !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		if err := a.apply(a.dependent(owner, name), "", true); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// appliesBlindly applies the wanted dependents without a look at what has their names. The server refuses to change the
// controller of an object.
func appliesBlindly(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if err := a.apply(a.dependent(owner, name), "", true); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// intends writes its finalizer, the dependents and the status by server-side apply.
func intends(a *at, owner *thing) error {
	switch {
	case owner == nil:
		return nil
	case owner.GetDeletionTimestamp() != nil:
		if !held(owner) {
			return nil
		}
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	}
	say := object(a.of, owner.GetNamespace(), owner.GetName())
	say.SetUID(owner.GetUID())
	holds := say.DeepCopy()
	holds.SetFinalizers([]string{finished})
	if err := a.apply(holds, "", true); err != nil {
		return err
	}
	if err := applies(a, owner); err != nil {
		return err
	}
	say.Object["status"] = map[string]any{"plants": int64(len(a.own(owner)))}
	return a.apply(say, "status", true)
}

// appliesPolitely applies without force. It reports a conflict with another manager.
func appliesPolitely(a *at, owner *thing) error {
	phase := "Applied"
	for _, name := range wanted(owner) {
		if d := a.cached(name); d != nil && !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		err := a.apply(a.dependent(owner, name), "", false)
		if apierrors.IsConflict(err) {
			phase = "Conflict"
		} else if err != nil {
			return err
		}
	}
	if err := a.prune(owner); err != nil {
		return err
	}
	return a.reports(owner, "phase", phase)
}

// merges sets its own label and field, and keeps those of other managers. It requeues the key after a conflict.
func merges(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		next.SetLabels(map[string]string{ownerLabel: owner.GetName()})
		err := a.upsert(next, func(is *thing) error {
			if err := unstructured.SetNestedField(is.Object, owner.GetName(), "metadata", "labels", ownerLabel); err != nil {
				return err
			}
			if err := unstructured.SetNestedField(is.Object, stringAt(next, "data", "color"), "data", "color"); err != nil {
				return err
			}
			return a.controls(owner, is)
		})
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			a.env.Queue.AddRateLimited(key(owner)) // the cache is outdated
			return nil
		}
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// corrects reads its dependents from the server, and restores the wanted state.
func corrects(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		is, err := a.live(a.kind, owner.GetNamespace(), name)
		switch {
		case err != nil:
			return err
		case is == nil:
			err = a.create(next)
		case !metav1.IsControlledBy(is, owner):
			return taken(is)
		case is.GetDeletionTimestamp() == nil && !alike(is, next):
			is.Object["data"] = next.Object["data"]
			err = a.update(is)
		}
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// sharded returns an instance of an operator that handles only the owners of one shard.
func sharded(shard string) host.Controller {
	return reconciler("shard-"+shard, gardens, living(func(a *at, owner *thing) error {
		if owner.GetLabels()["shard"] != shard {
			return nil
		}
		if err := adoptsByName(a, owner); err != nil {
			return err
		}
		return a.reports(owner, "shard", fmt.Sprintf("%s has %d", shard, len(a.own(owner))))
	}), parts)
}

// autoscaler sets an annotation on the ConfigMaps of every Garden, as an allowed writer. It updates them with a
// precondition, because a patch by name could change a recreated object.
func autoscaler() host.Controller {
	c := reconciler("autoscaler", parts, living(func(a *at, m *thing) error {
		ref := metav1.GetControllerOf(m)
		if ref == nil || ref.Kind != gardens.Kind || m.GetAnnotations()["load"] == "high" {
			return nil
		}
		m.SetAnnotations(map[string]string{"load": "high"})
		return ignoreNotFound(a.update(m))
	}))
	c.Contract.MayEdit = []schema.GroupVersionKind{parts}
	return c
}
