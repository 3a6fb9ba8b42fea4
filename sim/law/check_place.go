// Invariants once all has settled, as KIND-DS, and of writes to what is no dependent, as PODGC-1.

package law

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// oneOnEach asks an invariant once all has settled, as KIND-DS, of each owner. What wakes nobody may wait until its
// controller looks at the owner for another reason.
func (j *Judge) oneOnEach(id string) {
	for i := range j.survey().owners {
		o := &j.census.owners[i]
		v := o.sub.settled(id)
		if v == nil || !j.settled(o) || j.state.forbidden.more(o.Object) {
			continue
		}
		j.Ask()
		var own []runtime.Object
		for _, d := range j.state.Dependents(o.Meta.GetUID()) {
			if ref := meta.ControllerOf(d.Meta); ref != nil && ref.UID == o.Meta.GetUID() {
				own = append(own, objectOf(d.Value))
			}
		}
		what := j.ask(v, &Facts{Owner: objectOf(o.Value), Dependents: own, Now: sim.Epoch.Add(j.now),
			Reconciled: j.actor.looked[view.KeyOf(o.Ref)], Forever: j.record.Reason != CutShort, All: j.state.values,
			Get: j.state.get})
		if what != "" {
			j.Report(Informed, o.Ref.String()+" "+what)
		}
	}
}

// settled is the invariant of that ID that is asked once all has settled; nil for none.
func (s *Actor) settled(id string) *Invariant {
	if s.moments&WhenSettled == 0 {
		return nil
	}
	if v := s.invariant(id); v != nil && v.When&WhenSettled != 0 {
		return v
	}
	return nil
}

// sparing asks an invariant of a write to what is no dependent, as PODGC-1: who writes and removes objects of others by its office leaves
// those alone that it has to spare as things stand. Committed where what it had been
// shown, and had found gone at the server, allowed it, and where it was shown something
// else only after its sync had begun. What has gone a moment ago may be back the next: it
// counts as gone when the subject says so, whoever knows of it.
func (j *Judge) sparing(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.Before == nil {
		return
	}
	j.Ask()
	p, ago := w.process, time.Duration(-1)
	went := func(kind, namespace, name string) runtime.Object {
		o, since := j.state.lately.within(coords{kind, namespace, name}, v.Recent, j.now)
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
	why := j.ask(v, w.facts(r, r.Before, j.state.values, stored))
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
	if j.ask(v, w.facts(r, seen, p.shows, func(kind, namespace, name string) runtime.Object {
		late = late || k != nil && k.begun > 0 && p.Cache(kind).Changed > k.begun
		if e := p.Cache(kind).Get(namespace, name); e != nil {
			return objectOf(e.Value)
		}
		if l, looked := p.lookups[coords{kind, namespace, name}]; looked && l.uid == "" {
			return went(kind, namespace, name)
		}
		return stored(kind, namespace, name)
	})) == "" || late {
		strength = Committed
	}
	j.Report(strength, why)
}

// facts are those of a write to what is no dependent.
func (w *Write) facts(r *sim.Record, before any, all func(kind string) []runtime.Object,
	get func(kind, namespace, name string) runtime.Object) *Facts {
	f := &Facts{Now: sim.Epoch.Add(r.At), Before: objectOf(before), All: all, Get: get}
	if !w.Deletes {
		f.After = objectOf(r.After)
	}
	return f
}

// namedIn finds an object among those of its kind.
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

// cachedAs is the object of a name in a cache; nil for none.
func cachedAs(c *view.Cache, namespace, name string) runtime.Object {
	if e := c.Get(namespace, name); e != nil {
		return objectOf(e.Value)
	}
	return nil
}
