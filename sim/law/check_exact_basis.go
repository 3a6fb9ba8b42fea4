// Checks of EXACT-4 and EXACT-5 (writes on an old view), and of EXACT-9, EXACT-10 and FIN-3 (objects that a dependent
// needs stay, and objects that belong to it are deleted with it).

package law

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// sameIncarnation checks EXACT-4: a write lands on another incarnation of the object than the actor read. The violation
// is always Informed. A UID precondition of a delete or patch, or the resourceVersion of an update, would have
// prevented it. In contrast, no UID precondition prevents the race of LAW-2.
//
// A server-side apply names an object by its name, and the deletion of a collection uses a selector. Neither refers to
// an incarnation.
//
// ADOPT-8 covers writes to a recreated object with the name of the reconciled one.
func sameIncarnation(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.Before == nil || w.Saw == nil || r.Guards.Applies || r.Verb == "deletecollection" {
		return
	}
	j.Exercise()
	if w.Saw.GetUID() == w.Before.GetUID() {
		return
	}
	if ofFor(r) {
		return
	}
	j.Report(Informed, what(r)+" meant for an earlier "+r.Object.Kind+" of that name")
}

// ofFor reports whether a record is about the object that its actor reconciles, or about another object of the same
// name.
func ofFor(r *sim.Record) bool {
	return r.Object.Kind == r.For.Kind && r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace
}

// noOlderView checks EXACT-5. The violation is Informed if this life of the process was shown a newer version before
// the reconcile began. Deliveries during a reconcile do not count. It is Committed if only an earlier life was shown a
// newer version. Then the actor could not know, but a write with the version that it read would have been refused. Such
// conditional writes are never violations.
//
// A server-side apply to another object than the reconciled one is exempt as well, because it does not depend on a view
// of that object.
func noOlderView(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.Saw == nil || w.Before == nil || r.Guards.ResourceVersion ||
		r.Guards.Applies && !ofFor(r) || !w.process.follows(r.Object.Kind) {
		return
	}
	j.Exercise()
	uid := w.Before.GetUID()
	if w.Saw.GetUID() != uid || r.Saw == r.Before {
		return
	}
	saw := meta.Version(w.Saw)
	switch k := w.process.work(r); {
	case saw == 0 || !w.destroys(r):
	case k != nil && k.busy && saw < w.process.known.VersionAt(uid, k.begun) && !w.byItsCache(saw):
		j.Report(Informed, what(r)+" on version "+w.Saw.GetResourceVersion()+" of it, though shown a newer one")
	case saw < w.process.known.Past[uid]:
		j.Report(Committed, what(r)+" on version "+w.Saw.GetResourceVersion()+
			" of it, though shown a newer one before a restart")
	case w.undoes(r):
		j.Report(Committed, what(r)+" puts back what has been changed since it was read")
	}
}

// byItsCache reports whether the actor deletes by the newest version in its cache, and only answers to its own requests
// were newer. Operators do not keep such answers. The result is true only if the cached object has the same controller
// as the stored one. It is always false for profile Upstream: those controllers have expectations, or read the object
// again.
func (w *Write) byItsCache(saw uint64) bool {
	e := w.process.known.ByUID[w.Before.GetUID()]
	if !w.Deletes || w.Actor.Profile >= Upstream || e == nil || !e.Ahead || e.Cached == nil {
		return false
	}
	cached, ok := e.Cached.(metav1.Object)
	return ok && meta.Version(cached) == saw && meta.SameRef(meta.ControllerOf(w.Saw), meta.ControllerOf(w.Before))
}

// undoes reports whether an unconditional update restores what the actor had read, over a change that the actor was
// never shown.
func (w *Write) undoes(r *sim.Record) bool {
	return r.Verb == "update" && r.Subresource == "" && w.After != nil && meta.SameBody(r.Saw, r.After) &&
		!meta.SameBody(r.Saw, r.Before)
}

// asSeen reports whether an object equals what the actor saw, apart from its version. An object that was adopted,
// released and adopted again is unchanged.
func (w *Write) asSeen(r *sim.Record) bool {
	a, b := w.Saw, w.Before
	return a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) && meta.SameRefsBut(a, b, "") &&
		meta.SameBody(r.Saw, r.Before)
}

// destroys reports whether a write loses something: it deletes an object that has changed since the actor read it,
// scales down, or reverts a change by another client. A status write loses nothing.
func (w *Write) destroys(r *sim.Record) bool {
	switch {
	case w.Deletes:
		return !w.asSeen(r)
	case w.After == nil || r.Subresource == "status":
		return false
	}
	if s := w.Actor; s.Replicas != nil && r.Object.Kind == s.For.Kind && s.Replicas(objectOf(r.After)) < s.Replicas(objectOf(r.Before)) {
		return true
	}
	if meta.SameBody(r.Saw, r.Before) {
		return false
	}
	return r.Verb == "update" || meta.SameBody(r.Saw, r.After)
}

// restsOnWhatStays checks an invariant such as EXACT-9 at creations and deletions. A dependent may be created only if the
// objects that it needs exist. An object that a dependent needs may not be deleted.
func (j *Judge) restsOnWhatStays(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil {
		return
	}
	switch {
	case w.Before == nil && w.isFor(w.NewOwner):
		if j.lacks(v, r, r.After, nothing) != "" {
			j.Exercise()
		}
		j.madeOnNothing(v, r)
	case w.Deletes && w.Mine:
		j.pulledAway(v, r)
	}
}

// lacks checks the invariant of creations for a dependent. all returns the objects of the world.
func (j *Judge) lacks(v *Invariant, r *sim.Record, dependent any, all func(kind string) []runtime.Object) string {
	return j.evaluate(v, &Facts{Owner: objectOf(r.SawFor), After: objectOf(dependent), Now: sim.Epoch.Add(r.At), All: all,
		Get: namedIn(all)})
}

// nothing is an empty world. A dependent that lacks nothing in it needs no other object.
func nothing(string) []runtime.Object { return nil }

// madeOnNothing reports a creation although a needed object is missing. It is Informed if that object is also missing
// in the actor's caches, and was when the reconcile began. The actor may have created objects that its caches do not
// show yet.
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

// believes returns the objects of a kind that a process may assume to exist: those in its cache, those from answers,
// and the other stored ones. unsure is set if one of the stored ones is terminating, which the process may not know.
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
			j.Exercise()
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

// knewToRest reports whether a process knew that the dependent exists and needs the deleted object, before its
// reconcile began or from an answer.
func (j *Judge) knewToRest(v *Invariant, r *sim.Record, dependent types.UID, left func(kind string) []runtime.Object) bool {
	p := j.write.process
	e, k := p.known.ByUID[dependent], p.work(r)
	return e != nil && e.Value != nil && k != nil && (e.Since < k.begun || e.Ahead) &&
		j.lacks(v, r, e.Value, left) != ""
}

// takenAlong checks an invariant at the deletion of a dependent, such as EXACT-10. It is Informed if the actor's caches
// showed the object that is left behind, and did so when the reconcile began. The actor's own changes since then are
// stored.
func (j *Judge) takenAlong(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil || !w.Mine || !w.Deletes {
		return
	}
	j.Exercise()
	asked := func(all func(kind string) []runtime.Object) string {
		return j.evaluate(v, &Facts{Owner: objectOf(r.SawFor), Before: objectOf(r.Before), Now: sim.Epoch.Add(r.At), All: all,
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

// usedIsKept checks FIN-3. A cache that shows no use of the object proves nothing, because a use may be too recent. The
// violation is Committed if the actor listed from the server in this reconcile and found no use, or had read the object
// as unused.
func usedIsKept(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.process.Actor.FinalizerReason == nil || w.Before == nil || !letsGo(&w.process.Actor, w) {
		return
	}
	j.Exercise()
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

func (p *process) shows(kind string) []runtime.Object { return p.Cache(kind).Values() }
