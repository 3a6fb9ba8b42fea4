// Checks of WATCH-1 to WATCH-8, and of WRITE-9, which is about routing too.

package law

import (
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// reportKeys reports a key that a delivery should have enqueued, or should not have.
func (j *Judge) reportKeys() {
	if o := &j.route; o.missing != "" {
		j.Report(Informed, o.missing+" was not synced")
	} else if o.extra != "" {
		j.Report(Informed, o.extra+" was synced")
	}
}

// ownerAlone checks WATCH-1.
func ownerAlone(j *Judge, r *sim.Record) {
	switch o := &j.route; o.event {
	case ofOwned:
		j.Ask()
		j.reportKeys()
	case ofMoved:
		if o.now == nil {
			return
		}
		j.Ask()
		if o.nowKey != "" && o.missing == o.nowKey {
			j.Report(Informed, o.missing+" was not synced")
		} else if o.extra != "" {
			j.Report(Informed, o.extra+" was synced")
		}
	}
}

// ownExpectations checks WATCH-2.
func ownExpectations(j *Judge, r *sim.Record) {
	o := &j.route
	if o.event != ofOwned && o.event != ofMoved && o.event != orphanEdit {
		return
	}
	j.Ask()
	if o.observed != "" {
		j.Report(Informed, "the expectations of "+o.observed+" were lowered")
	}
}

// tellOldOwner checks WATCH-3.
func tellOldOwner(j *Judge, r *sim.Record) {
	o := &j.route
	if o.event != ofMoved {
		return
	}
	j.Ask()
	if o.missing != "" && o.missing != o.nowKey {
		j.Report(Informed, o.missing+" was not synced")
	} else if o.now == nil && o.extra != "" {
		j.Report(Informed, o.extra+" was synced")
	}
}

// offerOrphans checks WATCH-4.
func offerOrphans(j *Judge, _ *sim.Record) { j.ofOrphan(orphanAdd) }

// ignoreLostOrphans checks WATCH-5.
func ignoreLostOrphans(j *Judge, _ *sim.Record) { j.ofOrphan(orphanGone) }

// ofOrphan checks the routing of an orphan that appears or disappears: it enqueues the right keys and lowers no
// expectations.
func (j *Judge) ofOrphan(e event) {
	o := &j.route
	if o.event != e {
		return
	}
	j.Ask()
	j.reportKeys()
	if o.observed != "" {
		j.Report(Informed, "the expectations of "+o.observed+" were lowered")
	}
}

// relabelOffers checks WATCH-6.
func relabelOffers(j *Judge, r *sim.Record) {
	if j.route.event == orphanEdit {
		j.Ask()
		j.reportKeys()
	}
}

// neverHang checks WATCH-7. In a terminating namespace nothing can be created: a controller that waits there for
// what it could not create is exempt (RULES C41).
func neverHang(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled { // Stuck records come first
		j.askEach()
		return
	}
	j.Ask()
	if ns := j.state.Named("Namespace", "", r.For.Namespace); ns != nil && meta.Deleting(ns.Meta) {
		return
	}
	text := r.Message
	if text == "" {
		text = r.Reason
	}
	j.Report(Informed, "waits for what will not come: "+text)
}

// createdBy is the annotation in which the selector era recorded the creator of an object.
const createdBy = "kubernetes.io/created-by"

// noTieBreak checks WATCH-8: an event reaches a controller of another kind than the object's owner, or lowers the
// expectations of a controller that did not create the object.
func noTieBreak(j *Judge, r *sim.Record) {
	o := &j.route
	if o.event == noEvent || o.event == resync {
		return
	}
	j.Ask()
	ref := o.now
	if ref == nil {
		ref = o.old
	}
	if ref != nil {
		if ref.Kind != o.process.Actor.For.Kind && o.extra != "" {
			j.Report(Informed, "routed to "+o.extra+", "+ownedBy(ref))
		}
		return
	}
	object := meta.Of(r.After)
	if object == nil {
		object = meta.Of(r.Before)
	}
	maker := object.GetAnnotations()[createdBy]
	if maker == "" {
		return
	}
	for _, key := range r.Observed {
		if e := o.process.keyed(key); e != nil && !strings.Contains(maker, string(e.Meta.GetUID())) {
			j.Report(Informed, "lowered the expectations of "+key+", which did not make it")
			return
		}
	}
}

// skipResyncs checks WRITE-9.
func skipResyncs(j *Judge, r *sim.Record) {
	if j.route.event != resync {
		return
	}
	j.Ask()
	if len(r.Enqueued) > 0 {
		j.Report(Informed, r.Enqueued[0]+" was synced for an object that had not changed")
	}
}
