package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

var claims = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

const (
	oldFinalizer = "old.example.com/finished" // the finalizer of an earlier version of the operator
	archive      = "archive.example.com/keep" // the finalizer of an archive, which acts after the operator
)

// rightCleanup contains right operators with different ways to clean up.
var rightCleanup = []right{
	{"finalizers on dependents", []host.Controller{reconciler("holds", gardens, holdsDependents, parts)}, ""},
	{"retains", []host.Controller{reconciler("retains", gardens, finalized(adoptsBack, orphans), parts)}, ""},
	{"retains, and needs the names", []host.Controller{reconciler("retains", gardens, finalized(needsNames, orphans), parts)}, ""},
	{"a Job cleans up", []host.Controller{reconciler("cleans", gardens, finalized(needsNames, cleansByJob), parts, jobs)}, ""},
	{"uses what exists", []host.Controller{reconciler("uses", gardens, living(usesWhatExists), secrets)}, ""},
	{"a finalizer under a new name", []host.Controller{reconciler("renames", gardens, renames, plots)}, `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web, finalizers: [old.example.com/finished]}
spec: {size: 1, color: green}
`},
	{"a finalizer handed over", []host.Controller{reconciler("hands-over", gardens, handsOver, plots),
		reconciler("archive", gardens, archives)}, ""},
	{"pruned by inventory", by(inventories), ""},
	{"finished dependents have a time to live", []host.Controller{reconciler("expires", gardens, living(expiresFinished), works),
		reconciler("work", works, living(finishes))}, ""},
	{"claims are retained", []host.Controller{reconciler("stores", gardens, living(storesClaim), claims)}, ""},
	{"claims are deleted if the owner says so", []host.Controller{reconciler("stores", gardens,
		finalized(storesClaim, removesIfAsked), claims)}, gardenOf("{size: 1, cleanupData: true}")},
	{"claims are deleted by label", []host.Controller{reconciler("stores", gardens,
		finalized(ifSame(storesClaim), removesLabelled(claims)), claims)}, ""},
	{"claims of a StatefulSet are deleted", []host.Controller{reconciler("sets", gardens, finalized(ifSame(setsUp), removesSet(removesLabelled(claims))),
		statefulSets, claims)}, ""},
	{"labels a Pod of its StatefulSet", []host.Controller{reconciler("marks", gardens, living(marksPrimary), statefulSets, podKind)}, ""},
	{"keeps a protected owner", []host.Controller{reconciler("protects", gardens, finalized(needsNames, protects), parts)}, ""},
	{"adopts a Secret that the user has given", []host.Controller{reconciler("takes", gardens, living(takesGiven), secrets)}, givenSecret},
	{"in another namespace", []host.Controller{reconciler("afar", gardens, finalized(plantsAfar, removesLabelled(parts)), parts)}, `
apiVersion: v1
kind: Namespace
metadata: {name: beds}
---
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {size: 1, color: green}
`},
	{"deletes what has no reference", []host.Controller{reconciler("labels", gardens, finalized(plantsUnreferenced, removesLabelled(parts)), parts)}, ""},
	{"a Namespace for each owner", []host.Controller{reconciler("spaces", gardens, finalized(makesSpace, removesSpace), namespaces)}, ""},
	{"torn down in order", []host.Controller{reconciler("ordered", gardens, finalized(corrects, tearsDown), parts)}, ""},
	{"waits until its dependents are gone", []host.Controller{reconciler("waits", gardens, finalized(sums, removesWorks), works)}, ""},
	{"deletes a collection", []host.Controller{reconciler("collections", gardens, finalized((*at).plot, removesCollection), plots)}, ""},
	{"an external id in a Secret", []host.Controller{reconciler("external", gardens, finalized(external, removesExternal), secrets)}, ""},
	{"records its intent first", []host.Controller{reconciler("intent", gardens, finalized(recordsIntent, removesNoted), plots)}, ""},
}

// holdsDependents adds a finalizer to its dependents. It removes the finalizer from terminating dependents, even if
// their owner no longer exists.
func holdsDependents(a *at, owner *thing) error {
	for _, d := range a.seen(a.kind) {
		if d.GetDeletionTimestamp() == nil || !slices.Contains(d.GetFinalizers(), inUse) {
			continue
		}
		d.SetFinalizers(without(d, inUse))
		if err := ignoreNotFound(a.update(d)); err != nil {
			return err
		}
	}
	return living(func(a *at, owner *thing) error {
		for _, name := range wanted(owner) {
			d := a.dependent(owner, name)
			d.SetFinalizers([]string{inUse})
			if err := a.ensure(owner, d); err != nil {
				return err
			}
		}
		return a.prune(owner)
	})(a, owner)
}

// space returns the Namespace of an owner.
func space(owner *thing) *thing {
	ns := object(namespaces, "", "space-"+string(owner.GetUID()))
	ns.SetLabels(map[string]string{ownerLabel: fullLabel(owner)})
	return ns
}

func makesSpace(a *at, owner *thing) error {
	return ignoreAlreadyExists(a.upsert(space(owner), func(*thing) error { return nil }))
}

// removesSpace deletes the Namespace of an owner, and waits until it is gone.
func removesSpace(a *at, owner *thing) error {
	is, err := a.live(namespaces, "", space(owner).GetName())
	if err != nil || is == nil {
		return err
	}
	if is.GetDeletionTimestamp() == nil {
		err = a.remove(is)
	}
	return cmp.Or(err, errLater)
}

// needsNames creates the dependents. It returns an error while an object of another owner has the name of one.
func needsNames(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if err := a.ensure(owner, a.dependent(owner, name)); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// cleansByJob runs a Job, and waits until it has completed.
func cleansByJob(a *at, owner *thing) error {
	name := "cleans-up-" + string(owner.GetUID())
	job := a.cachedAt(jobs, a.namespace+"/"+name)
	switch {
	case job == nil:
		job = object(jobs, a.namespace, name)
		job.SetLabels(map[string]string{ownerLabel: owner.GetName()})
		job.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
			"containers": []any{map[string]any{"name": "main", "image": "registry.example/clean"}}}}}
		if err := ignoreAlreadyExists(a.create(job)); err != nil {
			return err
		}
		return errLater
	case intAt(job, "status", "succeeded") == 0:
		return errLater
	}
	return a.remove(job)
}

// usesWhatExists creates the Secrets that its cache lacks. It uses those that exist, such as those of an earlier owner.
func usesWhatExists(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if a.cached(name) != nil {
			continue
		}
		d := a.bare(owner, name)
		d.SetLabels(map[string]string{ownerLabel: owner.GetName()})
		if err := ignoreAlreadyExists(a.create(d)); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// removesSeen deletes the dependents in its cache, without preconditions. The garbage collector may have orphaned them.
func removesSeen(a *at, owner *thing) error {
	for _, d := range a.own(owner) {
		err := a.env.Client.Delete(a, d.GroupVersionKind(), d.GetNamespace(), d.GetName(), metav1.DeleteOptions{})
		if ignoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// adoptsBack adopts the dependents of an earlier owner with the same name.
func adoptsBack(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		err := a.upsert(a.dependent(owner, name), func(is *thing) error { return a.controls(owner, is) })
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// orphans removes the owner reference from the dependents.
func orphans(a *at, owner *thing) error {
	all, err := a.list(a.kind, owner.GetNamespace(), "")
	if err != nil {
		return err
	}
	for _, d := range all {
		if !metav1.IsControlledBy(d, owner) {
			continue
		}
		d.SetOwnerReferences(slices.DeleteFunc(d.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return ref.UID == owner.GetUID()
		}))
		if err := ignoreNotFound(a.update(d)); err != nil {
			return err
		}
	}
	return nil
}

// ifSame runs an idiom only if the owner still exists on the server. Objects created for a deleted owner would stay
// forever.
func ifSame(keep idiom) idiom {
	return func(a *at, owner *thing) error {
		if is, err := a.same(owner); err != nil || !is {
			return err
		}
		return keep(a, owner)
	}
}

// renames replaces the old finalizer by the new one in a single update, and cleans up for both.
func renames(a *at, owner *thing) error {
	switch old := owner != nil && slices.Contains(owner.GetFinalizers(), oldFinalizer); {
	case !old:
		return finalized(ifSame((*at).plot), removesPlots(true))(a, owner)
	case owner.GetDeletionTimestamp() == nil:
		owner.SetFinalizers(append(without(owner, oldFinalizer, finished), finished))
		return a.update(owner)
	}
	if err := removesPlots(true)(a, owner); err != nil {
		return err
	}
	owner.SetFinalizers(without(owner, oldFinalizer, finished))
	return a.update(owner)
}

// handsOver deletes the plots of a terminating owner, and then leaves the owner to the archive. It adds both finalizers
// to the owner in advance, because none can be added to a terminating owner.
func handsOver(a *at, owner *thing) error {
	if owner != nil && owner.GetDeletionTimestamp() == nil && !(held(owner) && slices.Contains(owner.GetFinalizers(), archive)) {
		owner.SetFinalizers(append(without(owner, archive, finished), finished, archive))
		return a.update(owner)
	}
	return finalized((*at).plot, removesPlots(true))(a, owner)
}

// archives removes the archive's finalizer when the operator has cleaned up.
func archives(a *at, owner *thing) error {
	if owner == nil || owner.GetDeletionTimestamp() == nil || held(owner) || !slices.Contains(owner.GetFinalizers(), archive) {
		return nil
	}
	owner.SetFinalizers(without(owner, archive))
	return ignoreNotFound(a.update(owner))
}

// inventories records in the status what it is about to create. It deletes recorded objects that are no longer wanted.
func inventories(a *at, owner *thing) error {
	noted, _, _ := unstructured.NestedSlice(owner.Object, "status", "inventory")
	all := slices.Clone(noted)
	var now []any
	for _, name := range wanted(owner) {
		if now = append(now, name); !slices.Contains(all, any(name)) {
			all = append(all, name)
		}
	}
	if len(all) > len(noted) {
		return a.reports(owner, "inventory", all)
	}
	for _, name := range wanted(owner) {
		if err := a.ensure(owner, a.dependent(owner, name)); err != nil {
			return err
		}
	}
	for _, name := range all {
		if slices.Contains(now, name) {
			continue
		}
		d, err := a.live(a.kind, owner.GetNamespace(), name.(string)) // the cache may not contain it yet
		if err == nil && d != nil && metav1.IsControlledBy(d, owner) {
			err = a.remove(d)
		}
		if err != nil {
			return err
		}
	}
	if len(all) > len(now) {
		return a.reports(owner, "inventory", now)
	}
	return nil
}

// expiresFinished creates a Work once, and deletes it one minute after it is ready.
func expiresFinished(a *at, owner *thing) error {
	done := stringAt(owner, "status", "done")
	next := a.bare(owner, owner.GetName()+"-work")
	w := a.cached(next.GetName())
	switch {
	case w == nil && done == "":
		return a.create(next)
	case w == nil:
		return nil
	case !metav1.IsControlledBy(w, owner) && done == "":
		return taken(w)
	case !metav1.IsControlledBy(w, owner) || stringAt(w, "status", "phase") == "" || w.GetDeletionTimestamp() != nil:
		return nil
	case done == "":
		return a.reports(owner, "done", a.env.Now().UTC().Format(time.RFC3339))
	}
	since, err := time.Parse(time.RFC3339, done)
	if err != nil {
		return err
	}
	if left := since.Add(time.Minute).Sub(a.env.Now()); left > 0 {
		a.env.Queue.AddAfter(key(owner), left)
		return nil
	}
	return a.remove(w)
}

// storesClaim creates a claim for its owner. The claim outlives the owner, so it has no reference to it.
func storesClaim(a *at, owner *thing) error {
	c := claim(owner, "data-"+owner.GetName())
	if a.cached(c.GetName()) != nil {
		return nil
	}
	return ignoreAlreadyExists(a.create(c))
}

// claim returns a claim without a reference, and with a label for its owner.
func claim(owner *thing, name string) *thing {
	c := object(claims, owner.GetNamespace(), name)
	c.Object["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"},
		"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
	c.SetLabels(map[string]string{ownerLabel: owner.GetName()})
	return c
}

var statefulSets = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// setsUp creates a StatefulSet with claims.
func setsUp(a *at, owner *thing) error {
	labels := map[string]any{ownerLabel: owner.GetName()}
	set := a.bare(owner, owner.GetName())
	set.SetGroupVersionKind(statefulSets)
	set.Object["spec"] = map[string]any{"serviceName": "none", "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{
			map[string]any{"name": "main", "image": "registry.example/web"}}}},
		"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}}}}
	return a.upsert(set, func(is *thing) error { return mine(owner, is) })
}

// marksPrimary labels the first Pod of the StatefulSet, which a Service may select.
func marksPrimary(a *at, owner *thing) error {
	if err := setsUp(a, owner); err != nil {
		return err
	}
	set, pod := a.cached(owner.GetName()), a.cachedAt(podKind, owner.GetNamespace()+"/"+owner.GetName()+"-0")
	if set == nil || pod == nil || !metav1.IsControlledBy(pod, set) || pod.GetLabels()["role"] == "primary" {
		return nil
	}
	labels := pod.GetLabels()
	labels["role"] = "primary"
	pod.SetLabels(labels)
	return a.update(pod)
}

// protects keeps the owner, and says so in a condition.
func protects(a *at, owner *thing) error {
	if err := a.ready(owner, "False", "DeletionBlocked"); err != nil {
		return err
	}
	return errLater
}

const givenSecret = `
apiVersion: v1
kind: Secret
metadata: {name: given, annotations: {adopt: web}}
---
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {size: 2, color: green}
`

// takesGiven adopts the Secret that the user has made for the owner, and creates another one.
func takesGiven(a *at, owner *thing) error {
	if d := a.cached("given"); d != nil && d.GetAnnotations()["adopt"] == owner.GetName() && metav1.GetControllerOf(d) == nil &&
		d.GetDeletionTimestamp() == nil {
		if is, err := a.same(owner); err != nil || !is {
			return err
		}
		if err := a.controls(owner, d); err != nil {
			return err
		}
		return a.update(d)
	}
	return a.ensure(owner, a.bare(owner, owner.GetName()+"-own"))
}

// removesSet deletes the StatefulSet. When it is gone, it calls then, to delete the claims of the StatefulSet.
func removesSet(then idiom) idiom {
	return func(a *at, owner *thing) error {
		set, err := a.live(statefulSets, owner.GetNamespace(), owner.GetName())
		switch {
		case err != nil:
			return err
		case set == nil || !metav1.IsControlledBy(set, owner):
			return then(a, owner)
		case set.GetDeletionTimestamp() == nil:
			if err := a.remove(set); err != nil {
				return err
			}
		}
		return errLater
	}
}

// removesAllClaims deletes the claims of all owners in the namespace.
func removesAllClaims(a *at, owner *thing) error {
	left, err := a.list(claims, owner.GetNamespace(), ownerLabel)
	if err != nil {
		return err
	}
	return a.removeAll(left)
}

// removesLabelled deletes all objects of a kind with the owner's label.
func removesLabelled(kind schema.GroupVersionKind) idiom {
	return func(a *at, owner *thing) error {
		namespace, label := owner.GetNamespace(), owner.GetName()
		if kind != claims {
			namespace, label = "", fullLabel(owner)
		}
		left, err := a.list(kind, namespace, ownerLabel+"="+label)
		if err != nil {
			return err
		}
		return a.removeAll(left)
	}
}

// removesIfAsked deletes the claims of an owner, unless its field cleanupData is false.
func removesIfAsked(a *at, owner *thing) error {
	if asked, _, _ := unstructured.NestedBool(owner.Object, "spec", "cleanupData"); !asked {
		return nil
	}
	return removesLabelled(claims)(a, owner)
}

// plantsAfar creates a ConfigMap in another namespace, with a label for its owner.
func plantsAfar(a *at, owner *thing) error { return plantsIn("beds", a, owner) }

// plantsUnreferenced creates a ConfigMap without a reference in the owner's namespace.
func plantsUnreferenced(a *at, owner *thing) error { return plantsIn(owner.GetNamespace(), a, owner) }

func plantsIn(namespace string, a *at, owner *thing) error {
	next := a.dependent(owner, owner.GetNamespace()+"-"+owner.GetName())
	next.SetNamespace(namespace)
	next.SetOwnerReferences(nil)
	next.SetLabels(map[string]string{ownerLabel: fullLabel(owner)})
	switch is := a.cachedAt(parts, namespace+"/"+next.GetName()); {
	case is == nil:
		return ifSame(func(a *at, _ *thing) error { return a.create(next) })(a, owner)
	case is.GetLabels()[ownerLabel] != fullLabel(owner):
		return taken(is)
	case is.GetDeletionTimestamp() != nil || alike(is, next):
		return nil
	default:
		is.Object["data"] = next.Object["data"]
		return a.update(is)
	}
}

// tearsDown deletes its dependents one after the other, the last first.
func tearsDown(a *at, owner *thing) error {
	all, err := a.list(a.kind, owner.GetNamespace(), "")
	if err != nil {
		return err
	}
	var last *thing
	for _, d := range all {
		if metav1.IsControlledBy(d, owner) && (last == nil || d.GetName() > last.GetName()) {
			last = d
		}
	}
	switch {
	case last == nil:
		return nil
	case last.GetDeletionTimestamp() == nil:
		if err := a.remove(last); err != nil {
			return err
		}
	}
	return errLater
}

// removesWorks deletes its Works and waits until they no longer exist on the server, as they may have other finalizers.
func removesWorks(a *at, owner *thing) error {
	all, err := a.list(works, owner.GetNamespace(), "")
	if err != nil {
		return err
	}
	left := 0
	for _, w := range all {
		if !metav1.IsControlledBy(w, owner) {
			continue
		}
		left++
		if w.GetDeletionTimestamp() == nil {
			if err := a.remove(w); err != nil {
				return err
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("%d Works are left", left)
	}
	return nil
}

// removesCollection deletes all objects with the owner's label in a single request.
func removesCollection(a *at, owner *thing) error {
	_, err := a.env.Client.Do(a, &fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: a.serverKind(plots),
		List: metav1.ListOptions{LabelSelector: labels.Set{ownerLabel: fullLabel(owner)}.String()}})
	return err
}

// external records the ID of a plot in a Secret of the owner before it creates the plot.
func external(a *at, owner *thing) error {
	note, err := a.live(secrets, owner.GetNamespace(), owner.GetName()+"-id")
	if err != nil {
		return err
	}
	id := "plot-" + string(owner.GetUID())
	if note == nil {
		next := a.bare(owner, owner.GetName()+"-id")
		next.Object["stringData"] = map[string]any{"id": id}
		err = a.create(next)
	} else {
		err = mine(owner, note)
	}
	if err != nil {
		return err
	}
	return ifSame(createsPlot(id))(a, owner)
}

func createsPlot(name string) idiom {
	return func(a *at, _ *thing) error { return ignoreAlreadyExists(a.create(object(plots, "", name))) }
}

func removesExternal(a *at, owner *thing) error {
	return ignoreNotFound(a.env.Client.Delete(a, plots, "", "plot-"+string(owner.GetUID()), metav1.DeleteOptions{}))
}

// recordsIntent records in the status which plot it is about to create.
func recordsIntent(a *at, owner *thing) error {
	noted := stringAt(owner, "status", "plot")
	if noted == "" {
		return a.reports(owner, "plot", "plot-"+string(owner.GetUID())) // the event of this write requeues the owner
	}
	return ifSame(createsPlot(noted))(a, owner)
}

// removesNoted deletes the plot that is recorded in the status.
func removesNoted(a *at, owner *thing) error {
	noted := stringAt(owner, "status", "plot")
	if noted == "" {
		return nil
	}
	return ignoreNotFound(a.env.Client.Delete(a, plots, "", noted, metav1.DeleteOptions{}))
}
