// The checks of EXACT-9, EXACT-10 and FIN-3: what something there is made of, or uses, stays,
// and what is to go with it goes.

package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// restsOnWhatStays asks an invariant of creations, as EXACT-9: who says what its dependents rest on makes none for which
// that is not there, and deletes nothing that one of them rests on.
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

// lacks asks an invariant of a dependent that is made, or that is there, as if it were made in a world that has so much.
func (j *Judge) lacks(v *Invariant, r *sim.Record, dependent any, all func(kind string) []runtime.Object) string {
	return j.ask(v, &Facts{Owner: objectOf(r.SawFor), After: objectOf(dependent), Now: sim.Epoch.Add(r.At), All: all,
		Get: namedIn(all)})
}

// nothing is what is there of any kind in a world that is empty: what lacks nothing there
// rests on nothing.
func nothing(string) []runtime.Object { return nil }

// madeOnNothing reports a creation that lacks what it is to rest on. Informed where it does
// so by the actor's caches as well, as they were when the sync began: what they do not
// show it may have made itself.
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

// believes is what a process may take to be there of a kind: what its cache shows, as
// that has it, what it was answered, and what is stored besides, of which it may have been
// told otherwise; unsure is that some of the last is going, which it need not know.
func (p *process) believes(s *State, kind string) (all []runtime.Object, unsure bool) {
	c := p.Cache(kind)
	all = append(p.shows(kind), p.made.of(kind)...)
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

// pulledAway reports the deletion of what a dependent of the same owner rests on that is
// there to stay. Informed where the actor knew of that one, and that it did so.
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

// knewToRest reports whether a process knew of a dependent before its sync began, or by an
// answer, and that it lacks something without what it deletes.
func (j *Judge) knewToRest(v *Invariant, r *sim.Record, dependent types.UID, left func(kind string) []runtime.Object) bool {
	p := j.write.process
	e, k := p.known.ByUID[dependent], p.work(r)
	return e != nil && e.Value != nil && k != nil && (e.Since < k.begun || e.Ahead) &&
		j.lacks(v, r, e.Value, left) != ""
}

// takenAlong asks an invariant of the deletion of a dependent, as EXACT-10. Informed where the caches of the actor show what is left behind,
// and did so when the sync began; what it has done about that since is stored.
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

// usedIsKept is FIN-3. That its caches show no use of it is no proof: something may have
// begun to use it that they do not show. Committed is what nobody could know who looked at the server in
// this sync, and found no use of it: that something has changed since, whether or not its caches have moved on to
// that; or who had read the object itself as one that nothing keeps.
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

// shows is what a process's cache holds of a kind.
func (p *process) shows(kind string) []runtime.Object { return p.Cache(kind).Values() }
