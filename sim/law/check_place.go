// The checks of KIND-DS and PODGC-1: what depends on nodes.

package law

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// oneOnEach is KIND-DS: at rest an owner has the dependents that it should have by
// what the nodes are like. What wakes nobody may wait until somebody looks at the owner for
// another reason.
func oneOnEach(j *Judge, _ *sim.Record) {
	for i := range j.survey().owners {
		o := &j.census.owners[i]
		if o.sub.Amiss == nil || !j.settled(o) || j.state.forbidden.more(o.Object) {
			continue
		}
		j.Ask()
		var own []runtime.Object
		for _, d := range j.state.Dependents(o.Meta.GetUID()) {
			if ref := meta.ControllerOf(d.Meta); ref != nil && ref.UID == o.Meta.GetUID() {
				own = append(own, objectOf(d.Value))
			}
		}
		what := o.sub.Amiss(objectOf(o.Value), own, j.state.values)
		if what == "" && o.sub.Neglects != nil && j.actor.looked[view.KeyOf(o.Ref)] {
			if what = o.sub.Neglects(objectOf(o.Value), own, j.state.values); what != "" {
				what += ", and was looked at since"
			}
		}
		if what != "" {
			j.Report(Informed, o.Ref.String()+" has "+what)
		}
	}
}

// sparing is PODGC-1: who writes and removes objects of others by its office leaves
// those alone that it has to spare as things stand. Committed where what it had been
// shown, and had found gone at the server, allowed it, and where it was shown something
// else only after its sync had begun. What has gone a moment ago may be back the next: it
// counts as gone when the subject says so, whoever knows of it.
func sparing(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.process.Actor.Spares == nil || r.Before == nil {
		return
	}
	j.Ask()
	p, ago := w.process, time.Duration(-1)
	went := func(kind, namespace, name string) runtime.Object {
		v, since := j.state.lately.within(coords{kind, namespace, name}, p.Actor.Quarantine, j.now)
		if v != nil {
			ago = since
		}
		return objectOf(v)
	}
	stored := func(kind, namespace, name string) runtime.Object {
		if o := j.state.Named(kind, namespace, name); o != nil {
			return objectOf(o.Value)
		}
		return went(kind, namespace, name)
	}
	why := p.Actor.Spares(objectOf(r.Before), w.Deletes, stored)
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
	if p.Actor.Spares(objectOf(seen), w.Deletes, func(kind, namespace, name string) runtime.Object {
		late = late || k != nil && k.begun > 0 && p.Cache(kind).Changed > k.begun
		if e := p.Cache(kind).Get(namespace, name); e != nil {
			return objectOf(e.Value)
		}
		if l, looked := p.lookups[coords{kind, namespace, name}]; looked && l.uid == "" {
			return went(kind, namespace, name)
		}
		return stored(kind, namespace, name)
	}) == "" || late {
		strength = Committed
	}
	j.Report(strength, why)
}
