// Checks of WATCH-1 to WATCH-8, and of WRITE-9, which also concerns routing.

package law

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// reportKeys reports a key that the delivery should have enqueued, or a key that it should not have enqueued.
func (j *Judge) reportKeys() {
	if o := &j.route; o.missing != "" {
		j.Report(Informed, o.missing+" was not synced")
	} else if o.extra != "" {
		j.Report(Informed, o.extra+" was synced")
	}
}

func ownerAlone(j *Judge, r *sim.Record) {
	switch o := &j.route; o.event {
	case ofOwned:
		j.Exercise()
		j.reportKeys()
	case ofMoved:
		if o.now == nil {
			return
		}
		j.Exercise()
		if o.nowKey != "" && o.missing == o.nowKey {
			j.Report(Informed, o.missing+" was not synced")
		} else if o.extra != "" {
			j.Report(Informed, o.extra+" was synced")
		}
	}
}

func ownExpectations(j *Judge, r *sim.Record) {
	o := &j.route
	if o.event != ofOwned && o.event != ofMoved && o.event != orphanEdit {
		return
	}
	j.Exercise()
	if o.observed != "" {
		j.Report(Informed, "the expectations of "+o.observed+" were lowered")
	}
}

func tellOldOwner(j *Judge, r *sim.Record) {
	o := &j.route
	if o.event != ofMoved {
		return
	}
	j.Exercise()
	if o.missing != "" && o.missing != o.nowKey {
		j.Report(Informed, o.missing+" was not synced")
	} else if o.now == nil && o.extra != "" {
		j.Report(Informed, o.extra+" was synced")
	}
}

func offerOrphans(j *Judge, _ *sim.Record) { j.ofOrphan(orphanAdd) }

func ignoreLostOrphans(j *Judge, _ *sim.Record) { j.ofOrphan(orphanGone) }

// ofOrphan checks the routing when an orphan appears or disappears: the right keys are enqueued, and no expectations
// are lowered.
func (j *Judge) ofOrphan(e event) {
	o := &j.route
	if o.event != e {
		return
	}
	j.Exercise()
	j.reportKeys()
	if o.observed != "" {
		j.Report(Informed, "the expectations of "+o.observed+" were lowered")
	}
}

func relabelOffers(j *Judge, r *sim.Record) {
	if j.route.event == orphanEdit {
		j.Exercise()
		j.reportKeys()
	}
}

// neverHang checks WATCH-7. A terminating namespace is exempt: the server refuses creates there, and the controller
// waits for the event of a refused create (RULES C41).
func neverHang(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled { // Stuck records come before the Settled record
		j.askEach()
		return
	}
	j.Exercise()
	if ns := j.state.Named("Namespace", "", r.For.Namespace); ns != nil && meta.Deleting(ns.Meta) {
		return
	}
	text := r.Message
	if text == "" {
		text = r.Reason
	}
	j.Report(Informed, "waits for what will not come: "+text)
}

// createdBy is an annotation with the creator of an object. Controllers used it before there was a ControllerRef.
const createdBy = "kubernetes.io/created-by"

// noTieBreak checks WATCH-8. An event may not enqueue an object of another kind than the owner's kind. It may not lower
// the expectations of a controller object that did not create the dependent.
func noTieBreak(j *Judge, r *sim.Record) {
	o := &j.route
	if o.event == noEvent || o.event == resync {
		return
	}
	j.Exercise()
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

func skipResyncs(j *Judge, r *sim.Record) {
	if j.route.event != resync {
		return
	}
	j.Exercise()
	if len(r.Enqueued) > 0 {
		j.Report(Informed, r.Enqueued[0]+" was synced for an object that had not changed")
	}
}

// event is a class of deliveries, for which one routing clause holds.
type event uint8

const (
	noEvent    event = iota // no routing clause applies: see fill
	ofOwned                 // WATCH-1: a new, updated or deleted object with an owner
	ofMoved                 // WATCH-3: the ControllerRef changed
	orphanAdd               // WATCH-4: a new orphan
	orphanGone              // WATCH-5: a deleted orphan
	orphanEdit              // WATCH-6: an updated orphan
	resync                  // WRITE-9: an unchanged object
)

// route compares the keys that one delivery enqueued with the keys that it should have enqueued.
type route struct {
	event    event
	process  *process
	old      *metav1.OwnerReference
	now      *metav1.OwnerReference
	replaced bool   // the object was deleted and recreated
	oldKey   string // key of the owner in old; "" if the process's cache lacks this owner
	nowKey   string // key of the owner in now; "" if the process's cache lacks this owner

	must, may []string // the keys that must be enqueued, and the other keys that may be enqueued
	missing   string   // a key that should have been enqueued; "" for none
	extra     string   // a key that should not have been enqueued; "" for none
	observed  string   // a key whose expectations should not have been lowered; "" for none
}

func (o *route) fill(s *State, r *sim.Record, p *process) {
	*o = route{process: p, must: o.must[:0], may: o.may[:0]}
	if p == nil || p.Actor.Polls || r.Object.Kind == p.Actor.For.Kind || !p.manages(r.Object.Kind) ||
		among(p.Actor.Unwatched, r.Object.Kind) {
		return
	}
	before, after := meta.Of(r.Before), meta.Of(r.After)
	if before != nil && after != nil && before.GetResourceVersion() == after.GetResourceVersion() &&
		before.GetUID() == after.GetUID() {
		o.event = resync
		return
	}
	o.classify(before, after)
	o.expect(s, before, after)
	o.compare(r, after)
}

// classify sets the event. If a deletion and a recreation arrive as one update, they count as a change of owner.
func (o *route) classify(before, after metav1.Object) {
	o.old, o.now = meta.ControllerOf(before), meta.ControllerOf(after)
	o.replaced = before != nil && after != nil && before.GetUID() != after.GetUID()
	switch {
	case after == nil && o.old == nil:
		o.event = orphanGone
	case after == nil:
		o.event, o.now, o.old = ofOwned, o.old, nil
	case before == nil && o.now == nil:
		o.event = orphanAdd
	case before == nil:
		o.event = ofOwned
	case !meta.SameRef(o.old, o.now):
		o.event = ofMoved
	case o.now != nil:
		o.event = ofOwned
	default:
		o.event = orphanEdit
	}
}

func (o *route) expect(s *State, before, after metav1.Object) {
	ns := ""
	if after != nil {
		ns = after.GetNamespace()
	} else {
		ns = before.GetNamespace()
	}
	o.oldKey, o.nowKey = o.process.resolve(o.old, ns), o.process.resolve(o.now, ns)
	if o.oldKey != "" {
		o.must = append(o.must, o.oldKey)
	}
	if o.nowKey != "" {
		o.must = append(o.must, o.nowKey)
	}
	if after == nil || o.now != nil {
		return
	}
	relabelled := o.event != orphanEdit || !meta.SameLabels(before, after)
	if !relabelled && !o.replaced {
		return
	}
	for i := range o.process.Cache(o.process.Actor.For.Kind).Entries {
		e := &o.process.Cache(o.process.Actor.For.Kind).Entries[i]
		if !s.Selects(&o.process.Actor, e.Value, after) {
			continue
		}
		if !relabelled || meta.Deleting(after) || meta.Deleting(e.Meta) || o.process.Actor.Adoptable != nil ||
			o.process.Actor.leaves(e.Value) {
			o.may = append(o.may, e.Text)
		} else {
			o.must = append(o.must, e.Text)
		}
	}
}

func (o *route) compare(r *sim.Record, after metav1.Object) {
	for _, k := range o.must {
		if !slices.Contains(r.Enqueued, k) {
			o.missing = k
			break
		}
	}
	for _, k := range r.Enqueued {
		// a key that names no object of the reconciled kind belongs to another queue
		if !slices.Contains(o.must, k) && !slices.Contains(o.may, k) && o.process.keyed(k) != nil {
			o.extra = k
			break
		}
	}
	for _, k := range r.Observed {
		if k != o.nowKey && (k != o.oldKey || !meta.Deleting(after) && !o.replaced) {
			o.observed = k
			break
		}
	}
}
