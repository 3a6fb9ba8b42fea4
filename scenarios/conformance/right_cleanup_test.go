package conformance

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/host"
)

var claims = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

// oldFinalizer is a finalizer that an earlier version of the operator put on its owners.
const oldFinalizer = "old.example.com/finished"

// rightCleanup are right operators, by how they clean up.
var rightCleanup = []right{
	{"a finalizer under a new name", []host.Controller{reconciler("renames", gardens, renames, plots)}, `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web, finalizers: [old.example.com/finished]}
spec: {size: 1, color: green}
`},
	{"a finalizer handed over", []host.Controller{reconciler("hands-over", gardens, handsOver, plots),
		{Name: "archive", For: gardens, Routes: reconciler("", gardens, nil).Routes,
			New: func(env *host.Env) host.Reconciler { return reconciler("", gardens, archives).New(env) }}}, ""},
	{"pruned by inventory", by(inventories), ""},
	{"finished dependents have a time to live", []host.Controller{reconciler("expires", gardens, expiresFinished, works),
		reconciler("work", works, finishes)}, ""},
	{"claims are retained", []host.Controller{reconciler("stores", gardens, stores(true), claims)}, ""},
	{"claims are deleted by label", []host.Controller{reconciler("stores", gardens, stores(false), claims)}, ""},
	{"in another namespace", []host.Controller{reconciler("afar", gardens, plantsAfar, parts)}, `
apiVersion: v1
kind: Namespace
metadata: {name: beds}
---
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {size: 1, color: green}
`},
	{"torn down in order", by(tearsDown), ""},
	{"waits until its dependents are gone", []host.Controller{reconciler("waits", gardens, waitsForTheEnd, works)}, ""},
	{"an external id in a Secret", []host.Controller{reconciler("external", gardens, external, secrets)}, ""},
}

// renames replaces its old finalizer by the new one in one update, and cleans up for either.
func renames(a *at, owner *thing) error {
	if owner.GetDeletionTimestamp() != nil {
		if !held(owner) && !slices.Contains(owner.GetFinalizers(), oldFinalizer) {
			return nil
		}
		left, err := a.labelled(plots, owner.GetName(), true)
		if err != nil {
			return err
		}
		for _, p := range left {
			if err := a.remove(p); err != nil {
				return err
			}
		}
		owner.SetFinalizers(slices.DeleteFunc(without(owner, finished), func(f string) bool { return f == oldFinalizer }))
		return a.update(owner)
	}
	if slices.Contains(owner.GetFinalizers(), oldFinalizer) || !held(owner) {
		owner.SetFinalizers(append(slices.DeleteFunc(without(owner, oldFinalizer), func(f string) bool { return f == finished }), finished))
		return a.update(owner)
	}
	if is, err := a.same(owner); err != nil || !is {
		return err
	}
	return a.plot(owner)
}

// archive is the finalizer of an archive, which an operator hands its deleted owners over to.
const archive = "archive.example.com/keep"

// handsOver deletes its plots for a deleted owner, and says in the status that the archive can go on. It puts both
// finalizers on the owner: none can be added once that is being deleted.
func handsOver(a *at, owner *thing) error {
	if owner.GetDeletionTimestamp() != nil {
		if !held(owner) {
			return nil
		}
		return a.clears(owner, true)
	}
	if !held(owner) || !slices.Contains(owner.GetFinalizers(), archive) {
		owner.SetFinalizers(append(slices.DeleteFunc(without(owner, archive), func(f string) bool { return f == finished }), finished, archive))
		return a.update(owner)
	}
	return a.plot(owner)
}

// archives lets a deleted owner go once the operator has cleaned up.
func archives(a *at, owner *thing) error {
	if owner.GetDeletionTimestamp() == nil || held(owner) || !slices.Contains(owner.GetFinalizers(), archive) {
		return nil
	}
	owner.SetFinalizers(without(owner, archive))
	if err := a.update(owner); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// inventories notes in the status what it is about to create, and deletes what the status names and is wanted no more.
func inventories(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	noted, _, _ := unstructured.NestedStringSlice(owner.Object, "status", "inventory")
	all := slices.Clone(noted)
	for _, name := range wanted(owner) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(all) > len(noted) {
		return a.inventory(owner, all)
	}
	for _, name := range wanted(owner) {
		switch d := a.cached(name); {
		case d == nil:
			if err := a.create(a.dependent(owner, name)); err != nil {
				return err
			}
		case !metav1.IsControlledBy(d, owner):
			return taken(d)
		}
	}
	for _, name := range all {
		if slices.Contains(wanted(owner), name) {
			continue
		}
		d, err := a.live(a.kind, owner.GetNamespace(), name) // the cache may not show it yet
		if err != nil {
			return err
		}
		if d != nil && metav1.IsControlledBy(d, owner) {
			if err := a.remove(d); err != nil {
				return err
			}
		}
	}
	if len(all) > len(wanted(owner)) {
		return a.inventory(owner, wanted(owner))
	}
	return nil
}

func (a *at) inventory(owner *thing, names []string) error {
	c := owner.DeepCopy()
	if err := unstructured.SetNestedStringSlice(c.Object, names, "status", "inventory"); err != nil {
		return err
	}
	_, err := a.env.Client.UpdateStatus(a, c)
	return err
}

// expiresFinished creates a Work once, and deletes it a minute after it is ready.
func expiresFinished(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	name := owner.GetName() + "-work"
	done, _, _ := unstructured.NestedString(owner.Object, "status", "done")
	w := a.cached(name)
	switch {
	case w == nil && done != "":
		return nil
	case w == nil:
		next := a.dependent(owner, name)
		delete(next.Object, "data")
		return a.create(next)
	case !metav1.IsControlledBy(w, owner):
		if done == "" {
			return taken(w)
		}
		return nil
	}
	phase, _, _ := unstructured.NestedString(w.Object, "status", "phase")
	if phase == "" || w.GetDeletionTimestamp() != nil {
		return nil
	}
	if done == "" {
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

// stores keeps a claim for its owner, without a reference: it is to outlive it. One that does not retain deletes it by
// its label, held by a finalizer.
func stores(retains bool) idiom {
	return func(a *at, owner *thing) error {
		if owner.GetDeletionTimestamp() != nil {
			if retains || !held(owner) {
				return nil
			}
			left, err := a.labelled(claims, owner.GetName(), true)
			if err != nil {
				return err
			}
			for _, c := range left {
				if err := a.remove(c); err != nil {
					return err
				}
			}
			owner.SetFinalizers(without(owner, finished))
			return a.update(owner)
		}
		if !retains {
			if is, err := a.holds(owner); !is {
				return err
			}
			if is, err := a.same(owner); err != nil || !is {
				return err
			}
		}
		name := "data-" + owner.GetName()
		if a.cached(name) != nil {
			return nil
		}
		c := &thing{Object: map[string]any{"spec": map[string]any{"accessModes": []any{"ReadWriteOnce"},
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}}}
		c.SetGroupVersionKind(claims)
		c.SetName(name)
		c.SetNamespace(owner.GetNamespace())
		c.SetLabels(map[string]string{ownerLabel: owner.GetName()})
		if err := a.create(c); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}
}

// plantsAfar keeps a ConfigMap in another namespace, which a label ties to its owner, and deletes it by that.
func plantsAfar(a *at, owner *thing) error {
	name := owner.GetNamespace() + "-" + owner.GetName()
	if owner.GetDeletionTimestamp() != nil {
		if !held(owner) {
			return nil
		}
		left, err := a.env.Client.List(a, parts, "beds", metav1.ListOptions{LabelSelector: ownerLabel + "=" + owner.GetName()})
		if err != nil {
			return err
		}
		for _, o := range left {
			if err := a.remove(fields(o)); err != nil {
				return err
			}
		}
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	}
	if is, err := a.holds(owner); !is {
		return err
	}
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	next := &thing{Object: map[string]any{"data": map[string]any{"color": color}}}
	next.SetGroupVersionKind(parts)
	next.SetName(name)
	next.SetNamespace("beds")
	next.SetLabels(map[string]string{ownerLabel: owner.GetName()})
	o, ok, _ := a.env.Informer(parts).GetIndexer().GetByKey("beds/" + name)
	if !ok {
		if is, err := a.same(owner); err != nil || !is {
			return err
		}
		return a.create(next)
	}
	is := fields(o.(runtime.Object))
	switch {
	case is.GetLabels()[ownerLabel] != owner.GetName():
		return taken(is)
	case is.GetDeletionTimestamp() != nil || alike(is, next):
		return nil
	}
	is.Object["data"] = next.Object["data"]
	return a.update(is)
}

// tearsDown deletes its dependents one after the other when its owner is deleted, the last first, and lets the owner go.
func tearsDown(a *at, owner *thing) error {
	if owner == nil {
		return nil
	}
	if owner.GetDeletionTimestamp() == nil {
		if is, err := a.holds(owner); !is {
			return err
		}
		return corrects(a, owner)
	}
	if !held(owner) {
		return nil
	}
	all, err := a.env.Client.List(a, a.kind, owner.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	var last *thing
	for _, o := range all {
		if d := fields(o); metav1.IsControlledBy(d, owner) && (last == nil || d.GetName() > last.GetName()) {
			last = d
		}
	}
	if last == nil {
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	}
	if last.GetDeletionTimestamp() != nil {
		return nil // its end comes back here
	}
	return a.remove(last)
}

// waitsForTheEnd deletes its Works when its owner is deleted, and lets the owner go when they are gone from the server:
// they may have finalizers of others.
func waitsForTheEnd(a *at, owner *thing) error {
	if owner.GetDeletionTimestamp() == nil {
		if is, err := a.holds(owner); !is {
			return err
		}
		return sums(a, owner)
	}
	if !held(owner) {
		return nil
	}
	all, err := a.env.Client.List(a, works, owner.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	left := 0
	for _, o := range all {
		w := fields(o)
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
	owner.SetFinalizers(without(owner, finished))
	return a.update(owner)
}

// external notes the id of a plot in a Secret of its owner before it creates the plot, and deletes the plot by it.
func external(a *at, owner *thing) error {
	note, err := a.live(secrets, owner.GetNamespace(), owner.GetName()+"-id")
	if err != nil {
		return err
	}
	mine := note != nil && metav1.IsControlledBy(note, owner)
	id := "plot-" + string(owner.GetUID())
	if owner.GetDeletionTimestamp() != nil {
		if !held(owner) {
			return nil
		}
		if err := a.env.Client.Delete(a, plots, "", id, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	}
	if is, err := a.holds(owner); !is {
		return err
	}
	switch {
	case note == nil:
		next := a.dependent(owner, owner.GetName()+"-id")
		delete(next.Object, "data")
		next.Object["stringData"] = map[string]any{"id": id}
		if err := a.create(next); err != nil {
			return err
		}
	case !mine:
		return taken(note)
	}
	if is, err := a.same(owner); err != nil || !is {
		return err
	}
	p := &thing{Object: map[string]any{}}
	p.SetGroupVersionKind(plots)
	p.SetName(id)
	if err := a.create(p); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
