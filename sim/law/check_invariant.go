// This file selects the invariants to check for a record. It also checks invariants at a write to a dependent, such
// as stay-within-bounds (a rollout stays within its bounds).

package law

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// invariantLaw returns a function for [Law].New. The law checks the invariant with this ID in every contract that has
// it.
func invariantLaw(id string, when When) func(*Judge) Check {
	var of []sim.Op
	if when&^WhenSettled != 0 {
		of = append(of, sim.Commit)
	}
	if when&WhenSettled != 0 {
		of = append(of, sim.Settled)
	}
	return On(func(j *Judge, r *sim.Record) {
		if r.Op == sim.Settled {
			j.oneOnEach(id)
			j.overdue(id, r)
			return
		}
		w := &j.write
		if w.process == nil || w.process.Actor.moments&^WhenSettled == 0 {
			return
		}
		if v := w.process.Actor.invariant(id); v != nil {
			j.written(v, r)
		}
	}, of...)
}

// written checks an invariant of the controller that writes. The invariant applies to dependents, and to objects of a
// kind in MayEdit. If the controller reconciles no kind, the invariant applies to every object.
func (j *Judge) written(v *Invariant, r *sim.Record) {
	w := &j.write
	own := w.Actor != nil && w.Dependent
	others := w.Actor == nil || !own && among(w.Actor.MayEdit, r.Object.Kind)
	if v.When&BeforeCreate != 0 && own {
		j.restsOnWhatStays(v, r)
	}
	if v.When&AtWrite != 0 {
		switch {
		case own:
			j.withinBounds(v, r)
		case others:
			j.sparing(v, r)
		}
	}
	if v.When&AtDelete != 0 {
		switch {
		case own:
			j.takenAlong(v, r)
		case others:
			j.inTime(v, r)
		}
	}
}

// ofWorld returns a function for [Law].New. The law checks the invariant for the whole world.
func ofWorld(v *Invariant) func(*Judge) Check {
	return On(func(j *Judge, r *sim.Record) {
		f := &Facts{Now: sim.Epoch.Add(r.At), All: j.state.values, Get: j.state.get}
		w := &j.write
		switch {
		case r.Op == sim.Settled:
			if v.When&WhenSettled == 0 {
				return
			}
			j.actor, f.Forever = nil, r.Reason != CutShort
			j.askEach()
		case w.process == nil || v.When&AtWrite == 0 && !(v.When&BeforeCreate != 0 && r.Before == nil) &&
			!(v.When&AtDelete != 0 && w.Deletes):
			return
		default:
			f.Before, f.After = objectOf(r.Before), objectOf(r.After)
			f.All = func(kind string) []runtime.Object { return j.state.with(r, kind) }
			f.Get = namedIn(f.All)
			j.Exercise()
		}
		if what := j.evaluate(v, f); what != "" {
			j.Report(Informed, what)
		}
	}, sim.Commit, sim.Settled)
}

// with returns the objects of a kind as they are after the write r.
func (s *State) with(r *sim.Record, kind string) (all []runtime.Object) {
	uid := meta.Of(r.Before)
	for _, o := range s.Kind(kind) {
		if uid == nil || o.Meta.GetUID() != uid.GetUID() {
			all = append(all, objectOf(o.Value))
		}
	}
	if r.After != nil && r.Object.Kind == kind {
		all = append(all, objectOf(r.After))
	}
	return all
}

// withinBounds checks an invariant at a write to a dependent. The violation is Informed if the write also violates the
// invariant in the actor's view: see knewBounds.
func (j *Judge) withinBounds(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil || w.Before != nil && !w.Mine || !w.Deletes && !w.isFor(w.NewOwner) || meta.Deleting(w.Before) || r.Subresource == "status" {
		return
	}
	owner := j.state.Object(uidOf(r.For))
	if owner == nil || meta.Deleting(owner.Meta) {
		return
	}
	j.Exercise()
	after := r.After
	if w.Deletes {
		after = nil
	}
	what := j.evaluate(v, &Facts{Owner: objectOf(owner.Value), Dependents: j.others(r), Before: objectOf(r.Before),
		After: objectOf(after), Now: sim.Epoch.Add(r.At), All: j.state.values, Get: j.state.get})
	if what == "" {
		return
	}
	j.Report(informedIf(j.knewBounds(v, r, after)), what)
}

// others returns the stored dependents of the reconciled owner, without the written object.
func (j *Judge) others(r *sim.Record) (others []runtime.Object) {
	w, owner := &j.write, uidOf(r.For)
	for _, o := range j.state.Dependents(owner) {
		if o.Meta.GetUID() != w.uid() && meta.ControlledBy(o.Meta, owner) && w.Actor.manages(o.Ref.Kind) {
			others = append(others, objectOf(o.Value))
		}
	}
	return others
}

func (w *Write) uid() types.UID {
	if w.After != nil {
		return w.After.GetUID()
	}
	return w.Before.GetUID()
}

// knewBounds reports whether a write violates the invariant in the actor's view. It tries each version of the owner
// that the actor may have used. It tries the dependents as known and as cached, and the times of the reconcile's start
// and of the write. Each combination must violate the invariant. The result is false if a cache changed during the
// reconcile, or if the reconcile has listed from the server.
func (j *Judge) knewBounds(v *Invariant, r *sim.Record, after any) bool {
	w := &j.write
	k, p := w.counting(r), w.process
	if k == nil || k.listed || p.Cache(r.Object.Kind).Changed > k.begun {
		return false
	}
	befores := []any{r.Before}
	if w.Saw != nil {
		befores[0] = r.Saw
		if e := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name); e != nil &&
			e.Meta.GetUID() == w.uid() && e.Value != r.Saw {
			befores = append(befores, e.Value)
		}
	}
	late := false
	all := p.shows(k, &late)
	get := func(kind, namespace, name string) runtime.Object {
		late = late || p.unsure(k, kind)
		return cachedAs(p.Cache(kind), namespace, name)
	}
	over := func(owner any) bool {
		for _, others := range w.othersKnown(k) {
			for _, before := range befores {
				for _, at := range [2]time.Duration{k.at, r.At} {
					if j.evaluate(v, &Facts{Owner: objectOf(owner), Dependents: others, Before: objectOf(before),
						After: objectOf(after), Now: sim.Epoch.Add(at), All: all, Get: get}) == "" {
						return false
					}
				}
			}
		}
		return true
	}
	return !slices.ContainsFunc(w.ownersSeen(r), func(owner any) bool { return !over(owner) }) && !late
}

// dependentsChanged reports whether a cache of dependents changed during the reconcile, or the reconcile has listed
// from the server. In both cases it is unknown which dependents the reconcile used.
func (w *Write) dependentsChanged(k *work) bool {
	return k != nil && (k.listed || k.begun > 0 && slices.ContainsFunc(w.Actor.Owns, func(gvk schema.GroupVersionKind) bool {
		return w.process.Cache(gvk.Kind).Changed > k.begun
	}))
}

// othersKnown returns two lists of the owner's other dependents: as deliveries and answers showed them (toldOf), and as
// the actor's caches show them (cached). If k is nil, both lists are empty.
func (w *Write) othersKnown(k *work) [2][]runtime.Object {
	if k == nil {
		return [2][]runtime.Object{}
	}
	return [2][]runtime.Object{w.toldOf(k), w.cached(k)}
}

// toldOf returns the owner's other dependents, as the actor knows them from deliveries and answers.
func (w *Write) toldOf(k *work) (others []runtime.Object) {
	for _, e := range w.process.known.Members(k.owner) {
		if e.UID != w.uid() && e.Value != nil {
			others = append(others, objectOf(e.Value))
		}
	}
	return others
}

// cached returns the owner's other dependents, as the actor's caches show them. An object that the actor has changed in
// this reconcile appears in its changed state. An object that the actor has only adopted appears as cached.
func (w *Write) cached(k *work) (others []runtime.Object) {
	p := w.process
	mine := func(e *view.Sight) bool { return e != nil && e.Made > k.begun }
	for _, gvk := range p.Actor.Owns {
		c := p.Cache(gvk.Kind)
		for i := range c.Entries {
			e := &c.Entries[i]
			uid := e.Meta.GetUID()
			told := p.known.ByUID[uid]
			its := meta.ControlledBy(e.Meta, k.owner) || told != nil && told.Owner == k.owner
			if its && uid != w.uid() && !mine(told) {
				others = append(others, objectOf(e.Value))
			}
		}
	}
	for _, e := range p.known.Members(k.owner) {
		if e.UID != w.uid() && e.Value != nil && mine(e) {
			others = append(others, objectOf(e.Value))
		}
	}
	return others
}
