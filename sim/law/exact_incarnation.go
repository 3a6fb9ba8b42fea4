package law

import "github.com/threelaws/threelaws/sim"

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
	if w.Process == nil || w.Before == nil || w.Saw == nil || r.Guards.Applies || r.Verb == "deletecollection" {
		return
	}
	j.ask()
	if w.Saw.GetUID() == w.Before.GetUID() {
		return
	}
	if r.Object.Kind == r.For.Kind && r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace {
		return
	}
	j.Report(Informed, what(r)+" meant for an earlier "+r.Object.Kind+" of that name")
}
