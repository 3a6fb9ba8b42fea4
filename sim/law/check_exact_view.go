// Checks of EXACT-4 and EXACT-5: writes on an old view.

package law

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// sameIncarnation checks EXACT-4: a write lands on another incarnation than the one the actor had read. It is
// always Informed: a UID precondition of a delete or patch, or the resourceVersion of an update, would have
// prevented it. In contrast, no UID precondition prevents the race of LAW-2.
//
// A server-side apply is decided for a name, and the deletion of a collection for a selector. Neither is about an
// incarnation.
//
// ADOPT-8 covers writes to a recreated object with the name of the synced object.
func sameIncarnation(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.Before == nil || w.Saw == nil || r.Guards.Applies || r.Verb == "deletecollection" {
		return
	}
	j.Ask()
	if w.Saw.GetUID() == w.Before.GetUID() {
		return
	}
	if ofFor(r) {
		return
	}
	j.Report(Informed, what(r)+" meant for an earlier "+r.Object.Kind+" of that name")
}

// ofFor reports whether a record is about the object that its actor syncs, or about another one of its name.
func ofFor(r *sim.Record) bool {
	return r.Object.Kind == r.For.Kind && r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace
}

// noOlderView checks EXACT-5. It is Informed if this life of the process had been shown a newer version before the
// sync began. What arrives during a sync does not count. It is Committed if only an earlier life had been shown
// one: the actor could not know, but a write with the version it read would have been refused. Such a conditional
// write is never checked.
//
// Nor is a server-side apply to another object than the synced one: it takes nothing from a view of that object.
func noOlderView(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.Saw == nil || w.Before == nil || r.Guards.ResourceVersion ||
		r.Guards.Applies && !ofFor(r) || !w.process.follows(r.Object.Kind) {
		return
	}
	j.Ask()
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

// byItsCache reports whether the actor deletes by the newest version in its cache, and only answers to its own
// requests were newer. Operators do not keep those. It holds only if the cached object has the same controller as
// the stored one. It never holds for profile Upstream: those controllers have expectations, or read the object
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

// asSeen reports whether an object is as the actor saw it, whatever its version. An object that was adopted,
// released and adopted again is unchanged.
func (w *Write) asSeen(r *sim.Record) bool {
	a, b := w.Saw, w.Before
	return a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) && meta.SameRefsBut(a, b, "") &&
		meta.SameBody(r.Saw, r.Before)
}

// destroys reports whether a write loses something: it deletes an object that has changed since the actor read it,
// scales down, or overwrites or reverts what others have changed since. A status write loses nothing.
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
