package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

var secrets = corev1.SchemeGroupVersion.WithKind("Secret")

// rightOwnership are right operators, by what they do with owner references.
var rightOwnership = []right{
	{"adopts by name", by(adoptsByName), ""},
	{"adopts by selector", []host.Controller{reconciler("selector", gardens, adoptsBySelector, parts)}, ""},
	{"imports by annotation", by(imports), importing},
	{"an owner chain of three", []host.Controller{reconciler("garden", gardens, plans, works),
		reconciler("work", works, digs, parts)}, ""},
	{"an owner of the cluster", []host.Controller{reconciler("park", parks, furnishes, parts)}, ""},
	{"several owners", by(joins), ""},
	{"a plain reference on a shared object", by(governs), ""},
	{"server-side apply without force", by(appliesPolitely), ""},
	{"CreateOrUpdate merges", by(merges), ""},
	{"corrects drift", by(corrects), ""},
	{"shards by label", []host.Controller{sharded("one"), sharded("two")},
		"apiVersion: garden.example.com/v1\nkind: Garden\nmetadata: {name: web, labels: {shard: one}}\nspec: {size: 2, color: green}\n"},
}

// live reads an object from the server, nil for none.
func (a *at) live(kind schema.GroupVersionKind, namespace, name string) (*thing, error) {
	o, err := a.env.Client.Get(a, kind, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u := fields(o)
	u.SetGroupVersionKind(kind)
	return u, nil
}

// same reports whether an owner is on the server as the cache shows it: the same object, which is not being deleted.
func (a *at) same(owner *thing) (bool, error) {
	now, err := a.live(a.of, owner.GetNamespace(), owner.GetName())
	return now != nil && now.GetUID() == owner.GetUID() && now.GetDeletionTimestamp() == nil, err
}

// alike reports whether an object has the data that is wanted.
func alike(is, wanted *thing) bool {
	return reflect.DeepEqual(is.Object["data"], wanted.Object["data"])
}

// upsert creates an object, or lets change bring what is there by its name to what is wanted, as CreateOrUpdate does.
func (a *at) upsert(next *thing, change func(is *thing) error) error {
	is := a.cached(next.GetName())
	if is == nil {
		return a.create(next)
	}
	before := is.DeepCopy()
	if err := change(is); err != nil || reflect.DeepEqual(before, is) {
		return err
	}
	return a.update(is)
}

// controls makes an owner the controller of an object, unless another is.
func (a *at) controls(owner, o *thing) error {
	switch {
	case metav1.IsControlledBy(o, owner):
		return nil
	case metav1.GetControllerOf(o) != nil || o.GetDeletionTimestamp() != nil:
		return taken(o)
	}
	o.SetOwnerReferences(append(o.GetOwnerReferences(), *metav1.NewControllerRef(owner, a.of)))
	return nil
}

// adoptsByName makes what has the name of a dependent its own, if it is nobody's, and gives it the owner's color.
func adoptsByName(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
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

// adoptsBySelector owns what has its label: it adopts orphans, once it has looked at its owner on the server, and
// releases what has lost the label.
func adoptsBySelector(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	mine := map[string]bool{}
	for _, o := range a.env.Informer(a.kind).GetIndexer().List() {
		d := fields(o.(runtime.Object))
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

// refers changes the owner references of an object as it was seen, by a strategic merge patch.
func (a *at) refers(o *thing, ref any) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": o.GetUID(), "resourceVersion": o.GetResourceVersion(), "ownerReferences": []any{ref}}})
	if err != nil {
		return err
	}
	_, err = a.env.Client.Patch(a, a.kind, o.GetNamespace(), o.GetName(),
		host.Patch{Type: types.StrategicMergePatchType, Data: data})
	return err
}

const importing = `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web, annotations: {garden.example.com/import: old-garden}}
spec: {size: 1, color: green}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old-garden, namespace: default}
data: {color: green}
`

// imports makes the object that an annotation names its own, if it is nobody's, in place of one that it creates.
func imports(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.dependent(owner, owner.GetName())
	name, given := owner.GetAnnotations()["garden.example.com/import"]
	if given {
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

// plans keeps a Work for its owner, with its color.
func plans(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.dependent(owner, owner.GetName()+"-work")
	next.Object["spec"] = owner.Object["spec"]
	delete(next.Object, "data")
	return a.upsert(next, func(is *thing) error {
		is.Object["spec"] = next.Object["spec"]
		return a.controls(owner, is)
	})
}

// digs keeps the ConfigMaps of a Work, and says how many there are.
func digs(a *at, work *thing) error {
	if ended(work) {
		return nil
	}
	if err := adoptsByName(a, work); err != nil {
		return err
	}
	return a.reports(work, "ready", int64(len(a.own(work))))
}

// furnishes keeps the ConfigMaps of an owner of the cluster in a namespace.
func furnishes(a *at, park *thing) error {
	if ended(park) {
		return nil
	}
	for _, name := range wanted(park) {
		next := a.dependent(park, name)
		next.SetNamespace("default")
		err := a.upsert(next, func(is *thing) error {
			if !metav1.IsControlledBy(is, park) {
				return taken(is)
			}
			is.Object["data"] = next.Object["data"]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return a.prune(park)
}

// joins keeps one ConfigMap for all owners, each of which is one of its owners and none of which controls it.
func joins(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	ref := metav1.OwnerReference{APIVersion: a.of.GroupVersion().String(), Kind: a.of.Kind, Name: owner.GetName(),
		UID: owner.GetUID()}
	next := &thing{Object: map[string]any{"data": map[string]any{"shared": "yes"}}}
	next.SetGroupVersionKind(a.kind)
	next.SetName("gardens")
	next.SetNamespace(owner.GetNamespace())
	next.SetOwnerReferences([]metav1.OwnerReference{ref})
	return a.upsert(next, func(is *thing) error {
		refs := is.GetOwnerReferences()
		if is.GetDeletionTimestamp() == nil &&
			!slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == ref.UID }) {
			is.SetOwnerReferences(append(refs, ref))
		}
		return nil
	})
}

// governs keeps one ConfigMap for all owners, which the first of them has made, and a ConfigMap of each.
func governs(a *at, owner *thing) error {
	if err := joins(a, owner); err != nil {
		return err
	}
	return applies(a, owner)
}

// appliesPolitely applies what it wants without force: a field of another manager is a conflict, which it reports.
func appliesPolitely(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
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

// merges sets its own labels and fields on its dependents, and leaves those of others.
func merges(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		next.SetLabels(map[string]string{ownerLabel: owner.GetName()})
		err := a.upsert(next, func(is *thing) error {
			labels := is.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[ownerLabel] = owner.GetName()
			is.SetLabels(labels)
			color := next.Object["data"].(map[string]any)["color"]
			if err := unstructured.SetNestedField(is.Object, color, "data", "color"); err != nil {
				return err
			}
			return a.controls(owner, is)
		})
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			a.env.Queue.AddRateLimited(key(owner)) // the cache is late
			return nil
		}
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// corrects brings its dependents back to what they are to be, by what the server has.
func corrects(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
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

// sharded is an instance of an operator that works on the owners of one shard.
func sharded(shard string) host.Controller {
	return reconciler("shard-"+shard, gardens, func(a *at, owner *thing) error {
		if ended(owner) || owner.GetLabels()["shard"] != shard {
			return nil
		}
		if err := adoptsByName(a, owner); err != nil {
			return err
		}
		return a.reports(owner, "shard", fmt.Sprintf("%s has %d", shard, len(a.own(owner))))
	}, parts)
}
