// Checks of invariants in the settled world, such as one-on-each-node. Checks of invariants at writes to objects that
// are no dependents, such as keep-runnable-pods and not-before-ttl.

package law

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// oneOnEach checks an invariant for each owner when the world has settled. Some changes enqueue no key, so the
// controller reacts to them only in a later reconcile. An invariant about such a change reads Facts.Reconciled.
func (j *Judge) oneOnEach(id string) {
	for i := range j.survey().owners {
		o := &j.settledCounts.owners[i]
		v := o.sub.settled(id)
		if v == nil || !j.settled(o) || j.state.forbidden.more(o.Object) {
			continue
		}
		j.Exercise()
		var own []runtime.Object
		for _, d := range j.state.Dependents(o.Meta.GetUID()) {
			if meta.ControlledBy(d.Meta, o.Meta.GetUID()) {
				own = append(own, objectOf(d.Value))
			}
		}
		what := j.evaluate(v, &Facts{Owner: objectOf(o.Value), Dependents: own, Now: sim.Epoch.Add(j.now),
			Reconciled: j.actor.looked[view.KeyOf(o.Ref)], Forever: j.record.Reason != CutShort, All: j.state.values,
			Get: j.state.get})
		if what != "" {
			j.Report(Informed, o.Ref.String()+" "+what)
		}
	}
}

// settled returns the invariant with this ID if it is checked in the settled world, or nil.
func (s *Actor) settled(id string) *Invariant {
	if s.moments&WhenSettled == 0 {
		return nil
	}
	if v := s.invariant(id); v != nil && v.When&WhenSettled != 0 {
		return v
	}
	return nil
}

// sparing checks an invariant, such as keep-runnable-pods, at a write to an object that is no dependent. The violation
// is Committed if the actor's view allowed the write, or if a cache that the actor used has changed since the reconcile
// began. A deleted cluster-scoped object, such as a Node, may be recreated. It still counts for the time
// [Invariant].Recent.
func (j *Judge) sparing(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.Before == nil {
		return
	}
	j.Exercise()
	p, ago := w.process, time.Duration(-1)
	went := func(kind, namespace, name string) runtime.Object {
		o, since := j.state.recentlyDeleted.within(coords{kind, namespace, name}, v.Recent, j.now)
		if o != nil {
			ago = since
		}
		return objectOf(o)
	}
	stored := func(kind, namespace, name string) runtime.Object {
		if o := j.state.Named(kind, namespace, name); o != nil {
			return objectOf(o.Value)
		}
		return went(kind, namespace, name)
	}
	why := j.evaluate(v, w.facts(r, r.Before, j.state.values, stored))
	if why == "" {
		return
	}
	if ago >= 0 {
		why += ", or was " + ago.String() + " ago"
	}
	strength, late, seen := Informed, false, r.Saw
	if seen == nil {
		seen = r.Before
	}
	k := p.work(r)
	if j.evaluate(v, w.facts(r, seen, p.shows(k, &late), func(kind, namespace, name string) runtime.Object {
		late = late || k != nil && k.begun > 0 && p.Cache(kind).Changed > k.begun
		if e := p.Cache(kind).Get(namespace, name); e != nil {
			return objectOf(e.Value)
		}
		l, looked := p.lookups[coords{kind, namespace, name}]
		if looked && l.uid == "" {
			return went(kind, namespace, name)
		}
		o := stored(kind, namespace, name)
		late = late || o == nil && looked
		return o
	})) == "" || late {
		strength = Committed
	}
	j.Report(strength, why)
}

func (w *Write) facts(r *sim.Record, before any, all func(kind string) []runtime.Object,
	get func(kind, namespace, name string) runtime.Object) *Facts {
	f := &Facts{Now: sim.Epoch.Add(r.At), Before: objectOf(before), All: all, Get: get}
	if !w.Deletes {
		f.After = objectOf(r.After)
	}
	return f
}

func namedIn(all func(kind string) []runtime.Object) func(kind, namespace, name string) runtime.Object {
	return func(kind, namespace, name string) runtime.Object {
		for _, o := range all(kind) {
			if m := meta.Of(o); m != nil && m.GetName() == name && m.GetNamespace() == namespace {
				return o
			}
		}
		return nil
	}
}

func cachedAs(c *view.Cache, namespace, name string) runtime.Object {
	if e := c.Get(namespace, name); e != nil {
		return objectOf(e.Value)
	}
	return nil
}

// inTime checks an invariant, such as not-before-ttl, when an object that is no dependent is deleted. The violation is
// Committed if the invariant allowed the deletion of the version that the actor had read. For example, the time to live
// was extended after that read.
func (j *Judge) inTime(v *Invariant, r *sim.Record) {
	w := &j.write
	if !w.Deletes || r.Before == nil {
		return
	}
	j.Exercise()
	why := j.evaluate(v, w.facts(r, r.Before, j.state.values, j.state.get))
	if why == "" {
		return
	}
	j.Report(committedIf(r.Saw != nil && j.evaluate(v, w.facts(r, r.Saw, j.state.values, j.state.get)) == ""), why)
}

// overdue checks an invariant in the settled world for a controller that reconciles no kind. Facts.All leaves out
// terminating objects, and objects that the server refuses to delete.
func (j *Judge) overdue(id string, r *sim.Record) {
	for _, p := range j.state.processes {
		v := p.Actor.settled(id)
		if v == nil || p.Actor.For.Kind != "" || !p.works() || !j.binds(&p.Actor) {
			continue
		}
		j.actor = p
		if v.When == WhenSettled { // invariants with other moments are exercised at writes
			j.Exercise()
		}
		what := j.evaluate(v, &Facts{Now: sim.Epoch.Add(r.At), Forever: r.Reason != CutShort, Get: j.state.get,
			All: func(kind string) (all []runtime.Object) {
				for _, o := range j.state.Kind(kind) {
					if _, spared := j.state.spared[o.Meta.GetUID()]; !spared && !meta.Deleting(o.Meta) {
						all = append(all, objectOf(o.Value))
					}
				}
				return all
			}})
		if what != "" {
			if v.When != WhenSettled {
				j.Exercise()
			}
			j.Report(Informed, what)
		}
	}
}
