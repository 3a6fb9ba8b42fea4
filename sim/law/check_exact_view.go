// The checks of EXACT-4 and EXACT-5: what is done on a view of another time.

package law

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// sameIncarnation is EXACT-4: a write that lands on another incarnation than the
// one the actor had read. It is always Informed, although the actor cannot have
// known of the other one: every write can carry what keeps it from landing there
// (a uid among a delete's preconditions or in a patch, the resourceVersion of an
// update), so it takes that chance by what it leaves out. Compare LAW-2, whose
// race no precondition on the uid closes.
//
// A server-side apply is decided for a name, and the deletion of a collection for
// a selector: neither is about an incarnation.
//
// What the actor does to a namesake of the very object it syncs is ADOPT-8's.
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

// ofFor reports whether a record is about the object that its actor syncs, or another of its name.
func ofFor(r *sim.Record) bool {
	return r.Object.Kind == r.For.Kind && r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace
}

// noOlderView is EXACT-5. Informed where this life of the process had been shown
// a newer version before the sync began: caches move on during a sync, and nobody
// must look twice. Committed where only an earlier life had: the actor could not
// know, but could have made its write conditional on the version it read, and the
// server would have refused it. A write that is conditional never gets here.
//
// A server-side apply to another object than the one that is synced says what that one wants. Nothing of it is taken
// from a view of the object that it lands on.
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

// byItsCache reports whether the actor deletes by the newest that its cache had of an
// object, and knew better from the answers to its own requests alone. Operators do not
// keep those, and destroy nothing but what they wrote themselves, as long as they have
// the same owner in it that the object has; upstream's own controllers have expectations,
// or claim anew.
func (w *Write) byItsCache(saw uint64) bool {
	e := w.process.known.ByUID[w.Before.GetUID()]
	if !w.Deletes || w.Actor.Profile >= Upstream || e == nil || !e.Ahead || e.Cached == nil {
		return false
	}
	cached, ok := e.Cached.(metav1.Object)
	return ok && meta.Version(cached) == saw && meta.SameRef(meta.ControllerOf(w.Saw), meta.ControllerOf(w.Before))
}

// undoes reports whether an update that is not conditional takes back to what the
// actor had read a part that is another's by now: it lands in place of a change
// that the actor was never shown, and that change is no more.
func (w *Write) undoes(r *sim.Record) bool {
	return r.Verb == "update" && r.Subresource == "" && w.After != nil && meta.SameBody(r.Saw, r.After) &&
		!meta.SameBody(r.Saw, r.Before)
}

// asSeen reports whether an object stands as the actor saw it, by whatever
// versions: what was adopted, let go and adopted again is what it was.
func (w *Write) asSeen(r *sim.Record) bool {
	a, b := w.Saw, w.Before
	return a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) && meta.SameRefsBut(a, b, "") &&
		meta.SameBody(r.Saw, r.Before)
}

// destroys reports whether a write takes something away: it deletes what has
// changed since the actor read it, scales down, replaces what others have changed since the actor read it, or puts it
// back to that. A status is a report; writing it anew destroys nothing.
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
