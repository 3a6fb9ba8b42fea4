// Checks of EXACT-9, EXACT-10 and FIN-3: what a dependent needs stays, and what belongs to it goes with it.

package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// restsOnWhatStays checks an invariant at creations, such as EXACT-9: a controller creates no dependent without
// what it needs, and deletes nothing that a dependent needs.
func (j *Judge) restsOnWhatStays(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil {
		return
	}
	switch {
	case w.Before == nil && w.isFor(w.NewOwner):
		if j.lacks(v, r, r.After, nothing) != "" {
			j.Ask()
		}
		j.madeOnNothing(v, r)
	case w.Deletes && w.Mine:
		j.pulledAway(v, r)
	}
}

// lacks checks the invariant of creations for a dependent, in a world with the objects that all returns.
func (j *Judge) lacks(v *Invariant, r *sim.Record, dependent any, all func(kind string) []runtime.Object) string {
	return j.ask(v, &Facts{Owner: objectOf(r.SawFor), After: objectOf(dependent), Now: sim.Epoch.Add(r.At), All: all,
		Get: namedIn(all)})
}

// nothing is a world without objects. A dependent that lacks nothing there needs nothing.
func nothing(string) []runtime.Object { return nil }

// madeOnNothing reports a creation without what it needs. It is Informed if the caches of the actor lack it too, as
// they were when the sync began. The actor may have created what they do not show.
func (j *Judge) madeOnNothing(v *Invariant, r *sim.Record) {
	w := &j.write
	what := j.lacks(v, r, r.After, j.state.values)
	if what == "" {
		return
	}
	s, late := Informed, false
	k := w.process.work(r)
	if j.lacks(v, r, r.After, func(kind string) []runtime.Object {
		all, unsure := w.process.believes(&j.state, kind)
		late = late || unsure || k != nil && k.begun > 0 && w.process.Cache(kind).Changed > k.begun
		return all
	}) == "" || late {
		s = Committed
	}
	j.Report(s, "made though "+what)
}

// believes returns the objects of a kind that a process may take to exist: those in its cache, those from answers,
// and the other stored ones. unsure is set if one of the stored ones is terminating, which the process need not
// know.
func (p *process) believes(s *State, kind string) (all []runtime.Object, unsure bool) {
	c := p.Cache(kind)
	all = append(p.shows(kind), p.createdUnseen.of(kind)...)
	for _, e := range p.known.Ahead {
		if e.Kind == kind && e.Value != nil {
			all = append(all, objectOf(e.Value))
		}
	}
	for _, o := range s.Kind(kind) {
		if e := c.Get(o.Ref.Namespace, o.Ref.Name); e == nil || e.Meta.GetUID() != o.Meta.GetUID() {
			all = append(all, objectOf(o.Value))
			unsure = unsure || meta.Deleting(o.Meta)
		}
	}
	return all, unsure
}

// pulledAway reports the deletion of an object that another dependent of the same owner needs. It is Informed if
// the actor knew that dependent and its need.
func (j *Judge) pulledAway(v *Invariant, r *sim.Record) {
	w := &j.write
	gone := w.Before.GetUID()
	left := func(kind string) []runtime.Object {
		return slices.DeleteFunc(j.state.values(kind), func(v runtime.Object) bool { return meta.Of(v).GetUID() == gone })
	}
	worst, of, what := Committed, (*Object)(nil), ""
	for _, d := range j.state.Dependents(uidOf(r.For)) {
		if meta.Deleting(d.Meta) || d.Meta.GetUID() == gone || !j.state.isActiveOf(w.Actor, uidOf(r.For), d) ||
			j.lacks(v, r, d.Value, j.state.values) != "" {
			continue
		}
		if j.lacks(v, r, d.Value, nothing) != "" {
			j.Ask()
		}
		lacks := j.lacks(v, r, d.Value, left)
		if lacks == "" {
			continue
		}
		if of == nil {
			of, what = d, lacks
		}
		if j.knewToRest(v, r, d.Meta.GetUID(), left) {
			worst, of, what = Informed, d, lacks
			break
		}
	}
	if of != nil {
		j.Report(worst, "deleted from under "+of.Ref.String()+": "+what)
	}
}

// knewToRest reports whether a process knew a dependent before its sync began, or from an answer, and that the
// dependent needs what is deleted.
func (j *Judge) knewToRest(v *Invariant, r *sim.Record, dependent types.UID, left func(kind string) []runtime.Object) bool {
	p := j.write.process
	e, k := p.known.ByUID[dependent], p.work(r)
	return e != nil && e.Value != nil && k != nil && (e.Since < k.begun || e.Ahead) &&
		j.lacks(v, r, e.Value, left) != ""
}

// takenAlong checks an invariant at the deletion of a dependent, such as EXACT-10. It is Informed if the actor's
// caches showed what is left behind, and did so when the sync began. What the actor has done about it since is
// stored.
func (j *Judge) takenAlong(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil || !w.Mine || !w.Deletes {
		return
	}
	j.Ask()
	asked := func(all func(kind string) []runtime.Object) string {
		return j.ask(v, &Facts{Owner: objectOf(r.SawFor), Before: objectOf(r.Before), Now: sim.Epoch.Add(r.At), All: all,
			Get: namedIn(all)})
	}
	what := asked(j.state.values)
	if what == "" {
		return
	}
	s, late := Informed, false
	k := w.process.work(r)
	if asked(func(kind string) []runtime.Object {
		late = late || k != nil && k.begun > 0 && w.process.Cache(kind).Changed > k.begun
		return w.process.shows(kind)
	}) == "" || late {
		s = Committed
	}
	j.Report(s, what)
}

// usedIsKept checks FIN-3. Caches that show no use prove nothing: a use may be too new. It is Committed if the
// actor listed from the server in this sync and found no use, or had read the object as one that nothing uses.
func usedIsKept(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.process.Actor.FinalizerReason == nil || w.Before == nil || !letsGo(&w.process.Actor, w) {
		return
	}
	j.Ask()
	why := w.process.Actor.FinalizerReason(objectOf(r.Before), j.state.values)
	if why == "" {
		return
	}
	s := Informed
	if k := w.process.work(r); k != nil && k.listed && !slices.Contains(k.used, w.Before.GetUID()) ||
		w.Saw != nil && r.Saw != r.Before && w.process.Actor.FinalizerReason(objectOf(r.Saw), j.state.values) == "" {
		s = Committed
	}
	j.Report(s, "let go though "+why)
}

// shows returns the objects of a kind in a process's cache.
func (p *process) shows(kind string) []runtime.Object { return p.Cache(kind).Values() }
