// Checks of EXACT-4 and EXACT-5: writes based on an old read. Checks of needed-objects-exist and FIN-3: an object that
// another needs must stay. Checks of tie-before-deleting: an object is deleted together with its dependent.

package law

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// sameIncarnation checks EXACT-4: an actor may not write to a recreated object after it read the earlier object. A
// violation is always Informed, because a UID precondition (delete, patch) or a resourceVersion (update) would have
// prevented it. Server-side applies and deletecollections are exempt: an apply only names its object, and a
// deletecollection uses a selector. ADOPT-8 checks writes to an object with the name of the reconciled object.
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

// ofFor reports whether a record is about the reconciled object of its actor, or a recreated object with that name.
func ofFor(r *sim.Record) bool {
	return r.Object.Kind == r.For.Kind && r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace
}

// noOlderView checks EXACT-5 at writes that lose something (see destroys). A write with a resourceVersion is never a
// violation. The violation is Informed if the process had received a newer version before the reconcile began (for an
// exception, see byItsCache). It is Committed if only an earlier incarnation had received a newer version, or if the
// write reverts another client's change. Then the actor could not know the newer version, but a resourceVersion would
// have prevented the write.
//
// A server-side apply is checked only if it writes the reconciled object: it does not depend on the version that was
// read.
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
	case k != nil && k.busy && saw < w.process.known.VersionAt(uid, k.begun) && !w.byItsCache(k, saw):
		j.Report(Informed, what(r)+" on version "+w.Saw.GetResourceVersion()+" of it, though shown a newer one")
	case saw < w.process.known.Past[uid]:
		j.Report(Committed, what(r)+" on version "+w.Saw.GetResourceVersion()+
			" of it, though shown a newer one before a restart")
	case w.undoes(r):
		j.Report(Committed, what(r)+" puts back what has been changed since it was read")
	}
}

// byItsCache reports whether the actor deletes an object based on a version that its cache showed during the reconcile,
// although an answer has shown a newer one. This is no violation, because operators do not keep answers. The cache may
// show the newer version later in the reconcile, after the actor has read. It is a violation if the object's controller
// is not the one in the cache. It is a violation for profile Upstream too, because these controllers have expectations,
// or read again.
func (w *Write) byItsCache(k *work, saw uint64) bool {
	return w.Deletes && w.Actor.Profile < Upstream && w.process.known.CachedSince(w.Before.GetUID(), k.begun, saw) &&
		meta.SameRef(meta.ControllerOf(w.Saw), meta.ControllerOf(w.Before))
}

// undoes reports whether an unconditional update writes back what the actor had read, and so reverts a change of
// another client.
func (w *Write) undoes(r *sim.Record) bool {
	return r.Verb == "update" && r.Subresource == "" && w.After != nil && meta.SameBody(r.Saw, r.After) &&
		!meta.SameBody(r.Saw, r.Before)
}

// asSeen reports whether an object equals what the actor read, apart from its version. An object that was released
// and adopted again by the same owner still counts as equal.
func (w *Write) asSeen(r *sim.Record) bool {
	a, b := w.Saw, w.Before
	return a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) && meta.SameRefsBut(a, b, "") &&
		meta.SameBody(r.Saw, r.Before)
}

// destroys reports whether a write loses something. Three kinds of writes do: deleting an object that has changed since
// the actor read it, scaling an owner down, and reverting another client's change. A status write loses nothing.
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

// restsOnWhatStays checks an invariant such as needed-objects-exist, when an object is created or deleted. A dependent
// may be created only if the objects that it needs exist. An object that a dependent needs may not be deleted.
func (j *Judge) restsOnWhatStays(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil {
		return
	}
	switch {
	case w.Before == nil && w.isFor(w.NewOwner):
		j.madeOnNothing(v, r)
	case w.Deletes && w.Mine:
		j.pulledAway(v, r)
	}
}

// lacks returns which needed object is missing for a dependent, or "". It evaluates the invariant as if the dependent
// were created now, beside the dependents in others. Only objects that the function all returns exist. The result is ""
// if nothing is missing for one of the owner's versions in owners.
func (j *Judge) lacks(v *Invariant, r *sim.Record, owners []any, dependent any, others []runtime.Object,
	all func(kind string) []runtime.Object) (what string) {
	for _, owner := range owners {
		if what = j.evaluate(v, &Facts{Owner: objectOf(owner), Dependents: others, After: objectOf(dependent),
			Now: sim.Epoch.Add(r.At), All: all, Get: namedIn(all)}); what == "" {
			return ""
		}
	}
	return what
}

// ownerStored returns the stored version of the reconciled owner. If the owner is gone, it returns the version that the
// reconcile saw.
func (j *Judge) ownerStored(r *sim.Record) []any {
	if o := j.state.Object(uidOf(r.For)); o != nil {
		return []any{o.Value}
	}
	return []any{r.SawFor}
}

// ownersSeen returns the versions of the reconciled owner that the reconcile may have used.
func (w *Write) ownersSeen(r *sim.Record) []any {
	seen := []any{r.SawFor}
	if k := w.process.work(r); k != nil {
		w.process.owners(k, func(owner any) { seen = append(seen, owner) })
	}
	return seen
}

// nothing lists no objects, as in an empty world. A dependent that lacks no object there needs no other object.
func nothing(string) []runtime.Object { return nil }

// madeOnNothing reports that a dependent was created although an object that it needs is missing. The violation is
// Informed if the object was also missing in the actor's view when the reconcile began. Otherwise it is Committed.
func (j *Judge) madeOnNothing(v *Invariant, r *sim.Record) {
	w := &j.write
	others := j.others(r)
	stored := j.ownerStored(r)
	if len(others) > 0 || j.lacks(v, r, stored, r.After, nil, nothing) != "" {
		j.Exercise()
	}
	what := j.lacks(v, r, stored, r.After, others, j.state.values)
	if what == "" {
		return
	}
	s, k := Informed, w.process.work(r)
	late := w.dependentsChanged(k)
	believed := func(kind string) []runtime.Object {
		all, unsure := w.process.believes(&j.state, kind)
		late = late || unsure || w.process.unsure(k, kind)
		return all
	}
	for _, known := range w.othersKnown(w.counting(r)) {
		if j.lacks(v, r, w.ownersSeen(r), r.After, known, believed) == "" || late {
			s = Committed
		}
	}
	j.Report(s, what)
}

// believes returns the objects of a kind that a process may assume to exist: objects in its cache, objects in answers,
// and stored objects that its cache lacks. If one of the latter is terminating, the process may not know this, and the
// result unsure is true.
func (p *process) believes(s *State, kind string) (all []runtime.Object, unsure bool) {
	c := p.Cache(kind)
	all = append(c.Values(), p.createdUnseen.of(kind)...)
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

// pulledAway reports the deletion of an object that another dependent of the same owner needs. The violation is
// Informed if the actor knew this dependent, and knew that it needs the object.
func (j *Judge) pulledAway(v *Invariant, r *sim.Record) {
	w := &j.write
	gone := w.Before.GetUID()
	left := func(kind string) []runtime.Object {
		return slices.DeleteFunc(j.state.values(kind), func(v runtime.Object) bool { return meta.Of(v).GetUID() == gone })
	}
	worst, of, what, stored := Committed, (*Object)(nil), "", j.ownerStored(r)
	for _, d := range j.state.Dependents(uidOf(r.For)) {
		if meta.Deleting(d.Meta) || d.Meta.GetUID() == gone || !j.state.isActiveOf(w.Actor, uidOf(r.For), d) ||
			j.lacks(v, r, stored, d.Value, nil, j.state.values) != "" {
			continue
		}
		if j.lacks(v, r, stored, d.Value, nil, nothing) != "" {
			j.Exercise()
		}
		lacks := j.lacks(v, r, stored, d.Value, nil, left)
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
		j.Report(worst, of.Ref.String()+" remains: "+what)
	}
}

// knewToRest reports whether a process knew that the dependent exists and needs the deleted object. The process must
// have known this before its reconcile began, or from an answer.
func (j *Judge) knewToRest(v *Invariant, r *sim.Record, dependent types.UID, left func(kind string) []runtime.Object) bool {
	p := j.write.process
	e, k := p.known.ByUID[dependent], p.work(r)
	return e != nil && e.Value != nil && k != nil && (e.Since < k.begun || e.Ahead) &&
		j.lacks(v, r, j.write.ownersSeen(r), e.Value, nil, left) != ""
}

// takenAlong checks an invariant such as tie-before-deleting at the deletion of a dependent: another object must be
// deleted with it. The violation is Informed if the actor's caches also violate the invariant, and have not changed
// since the reconcile began.
func (j *Judge) takenAlong(v *Invariant, r *sim.Record) {
	w := &j.write
	if r.SawFor == nil || !w.Mine || !w.Deletes {
		return
	}
	j.Exercise()
	asked := func(owner any, others []runtime.Object, all func(kind string) []runtime.Object) string {
		return j.evaluate(v, &Facts{Owner: objectOf(owner), Dependents: others, Before: objectOf(r.Before),
			Now: sim.Epoch.Add(r.At), All: all, Get: namedIn(all)})
	}
	what := asked(j.ownerStored(r)[0], j.others(r), j.state.values)
	if what == "" {
		return
	}
	s, k := Informed, w.process.work(r)
	late := w.dependentsChanged(k)
	for _, known := range w.othersKnown(w.counting(r)) {
		for _, owner := range w.ownersSeen(r) {
			if asked(owner, known, w.process.shows(k, &late)) == "" || late {
				s = Committed
			}
		}
	}
	j.Report(s, what)
}

// shows returns a function that lists the objects of a kind in the cache. The function sets *late if the reconcile may
// have seen other objects.
func (p *process) shows(k *work, late *bool) func(kind string) []runtime.Object {
	return func(kind string) []runtime.Object {
		*late = *late || p.unsure(k, kind)
		return p.Cache(kind).Values()
	}
}

// unsure reports whether the cache of a kind may differ from what the reconcile has seen. Either the cache changed
// during the reconcile. Or it has never received an event, and the process reads the kind from the server.
func (p *process) unsure(k *work, kind string) bool {
	c := p.Cache(kind)
	return k != nil && k.begun > 0 && c.Changed > k.begun || c.Live && c.Changed == 0
}

// usedIsKept checks FIN-3 at the removal of a finalizer from an object in use. A cache may lack recent uses of the
// object, so the actor must list from the server. The violation is Committed if a list in this reconcile showed no use,
// or if the version that the actor read was not in use. Otherwise it is Informed, even if the cache shows no use.
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
	j.Report(s, "finalizer removed although "+why)
}
