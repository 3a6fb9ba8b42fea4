package generated_test

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// ownsItself: what the verdict is about blocks its own deletion, or waits for one that does.
func ownsItself(w *world, b *law.Breach) bool {
	all, first := w.storedAt(b.Record), w.about(b)
	if first == nil {
		return false
	}
	met := []metav1.Object{first}
	for i := 0; i < len(met); i++ {
		if blocks(met[i], met[i].GetUID()) {
			return true
		}
		for _, o := range all {
			if blocks(o.Object, met[i].GetUID()) && !slices.Contains(met, o.Object) {
				met = append(met, o.Object)
			}
		}
	}
	return false
}

func blocks(o metav1.Object, owner types.UID) bool {
	ref := referenceTo(o, owner)
	return ref != nil && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func referenceTo(o metav1.Object, uid types.UID) *metav1.OwnerReference {
	if o == nil {
		return nil
	}
	refs := o.GetOwnerReferences()
	if i := slices.IndexFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == uid }); i >= 0 {
		return &refs[i]
	}
	return nil
}

// renamed: somebody has given a reference of what the verdict is about other coordinates, under the uid
// that it had, and there is nothing of that uid and name.
func renamed(w *world, b *law.Breach) bool {
	o := w.about(b)
	if o == nil {
		return false
	}
	moved := map[types.UID]bool{}
	for _, r := range w.commits(0, b.Record) {
		if !is(r.After, o.GetUID()) {
			continue
		}
		for _, ref := range object(r.After).GetOwnerReferences() {
			was := referenceTo(object(r.Before), ref.UID)
			if was != nil && (was.Name != ref.Name || was.Kind != ref.Kind || was.APIVersion != ref.APIVersion) {
				moved[ref.UID] = true
			}
		}
	}
	all := w.storedAt(b.Record)
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		owner := all.with(ref.UID)
		return moved[ref.UID] && (owner == nil || owner.GetName() != ref.Name)
	})
}

// letGoOnce: a dependent of the object that is written was shown as one that goes with its own
// dependents, and is there though its finalizer is off.
func letGoOnce(w *world, b *law.Breach) bool {
	r := w.record(b.Record)
	if r.Op != sim.Commit {
		return false
	}
	owner := object(r.Before).GetUID()
	return w.storedAt(b.Record).find(func(d stored) bool {
		return referenceTo(d.Object, owner) != nil && !held(d.Object, metav1.FinalizerDeleteDependents) &&
			anyOf(w.shown(0, b.Record), func(_ int, r *sim.Record) bool {
				return is(r.After, d.GetUID()) && held(r.After, metav1.FinalizerDeleteDependents)
			})
	}) != nil
}

// orphanedOnce: the owner for which the collector works was shown as one whose deletion orphans its
// dependents, and then as one whose deletion does not.
func orphanedOnce(w *world, b *law.Breach) bool {
	began, r := w.begun(b.Record), w.record(b.Record)
	if r.Op != sim.Commit {
		return false
	}
	for _, ref := range object(r.Before).GetOwnerReferences() {
		if r.For.Name == "orphan "+string(ref.UID) && referenceTo(object(r.After), ref.UID) == nil &&
			anyOf(w.shown(0, began), func(_ int, d *sim.Record) bool {
				return is(d.Before, ref.UID) && held(d.Before, metav1.FinalizerOrphanDependents) &&
					is(d.After, ref.UID) && !held(d.After, metav1.FinalizerOrphanDependents)
			}) {
			return true
		}
	}
	return false
}

// tiedToWaiting: what the verdict is about was shown with a reference to an owner after that owner had been
// shown as one that waits for its dependents, and waits still.
func tiedToWaiting(w *world, b *law.Breach) bool {
	o := w.about(b)
	if o == nil {
		return false
	}
	all := w.storedAt(b.Record)
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		owner := all.with(ref.UID)
		if owner == nil || !held(owner, metav1.FinalizerDeleteDependents) {
			return false
		}
		return anyOf(w.shown(0, b.Record), func(i int, d *sim.Record) bool {
			tied := is(d.After, o.GetUID()) && referenceTo(object(d.After), ref.UID) != nil
			before := is(d.Before, o.GetUID()) && referenceTo(object(d.Before), ref.UID) != nil
			return tied && !before && anyOf(w.shown(0, i), func(_ int, e *sim.Record) bool {
				return is(e.After, ref.UID) && held(e.After, metav1.FinalizerDeleteDependents)
			})
		})
	})
}

// reachableSince: what the verdict is about is cluster-scoped; when it was last looked at it had a reference to an
// owner of a namespaced kind, which has been taken off since.
func reachableSince(w *world, b *law.Breach) bool {
	o := w.about(b)
	if o == nil || o.GetNamespace() != "" {
		return false
	}
	var last metav1.Object
	for _, r := range w.records(0, b.Record) {
		if r.Op == sim.Read && r.Process == w.subject.name && r.For.Name == "delete "+string(o.GetUID()) &&
			is(r.After, o.GetUID()) {
			last = object(r.After)
		}
	}
	return last != nil && slices.ContainsFunc(last.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		k := w.Server.KindNamed(ref.Kind)
		return k != nil && k.Namespaced && referenceTo(o, ref.UID) == nil
	})
}
