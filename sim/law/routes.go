package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// event is the routing clause that an event falls under.
type event uint8

const (
	noEvent    event = iota // not judged: another kind, or a process that polls
	ofOwned                 // WATCH-1
	ofMoved                 // WATCH-3: the ControllerRef changed
	orphanAdd               // WATCH-4
	orphanGone              // WATCH-5
	orphanEdit              // WATCH-6
	resync                  // WRITE-9
)

// route compares what one delivery enqueued with what it should have.
type route struct {
	event    event
	process  *process
	old      *metav1.OwnerReference
	now      *metav1.OwnerReference
	replaced bool   // by a recreated object
	oldKey   string // of the previous owner, as the cache resolves it; "" for none
	nowKey   string

	must, may []string
	missing   string // a key that should have been enqueued; "" for none
	extra     string // a key that should not have been
	observed  string // a key whose expectations should not have been lowered
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

// classify sets the clause. A deletion and a creation under one name that arrive as one update are a change of
// owner.
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

// expect collects the keys that must be enqueued, and those that may be.
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
		// A key without an object of the kind belongs to other work.
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
