package generated_test

import (
	"iter"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// stored is an object at some time.
type stored struct {
	metav1.Object
	ref sim.Ref
}

// storedAt lists the objects at the time of a record.
type storedAt []stored

func (w *world) storedAt(record int) storedAt {
	var all storedAt
	for _, r := range w.commits(0, record) {
		if old := object(r.Before); old != nil {
			all = slices.DeleteFunc(all, func(o stored) bool { return o.GetUID() == old.GetUID() })
		}
		if now := object(r.After); now != nil {
			all = append(all, stored{now, r.Object})
		}
	}
	return all
}

func (l storedAt) find(is func(o stored) bool) metav1.Object {
	if i := slices.IndexFunc(l, is); i >= 0 {
		return l[i].Object
	}
	return nil
}

// named returns the object with this printed name.
func (l storedAt) named(text string) metav1.Object {
	return l.find(func(o stored) bool { return o.ref.String() == text })
}

func (l storedAt) at(kind, namespace, name string) metav1.Object {
	return l.find(func(o stored) bool {
		return o.ref.Kind == kind && o.ref.Namespace == namespace && o.ref.Name == name
	})
}

func (l storedAt) with(uid types.UID) metav1.Object {
	return l.find(func(o stored) bool { return o.GetUID() == uid })
}

// about returns the object that a violation in a settled world names first, as of then, or nil.
func (w *world) about(b *law.Violation) metav1.Object {
	all := w.storedAt(b.Record)
	for _, word := range strings.Fields(b.Text) {
		if o := all.named(strings.TrimSuffix(word, ",")); o != nil {
			return o
		}
	}
	return nil
}

// ownerAt returns the owner in a violation: the reconciled object, or the one named in a settled world.
func (w *world) ownerAt(b *law.Violation) types.UID {
	if r := w.record(b.Record); r.For.UID != "" {
		return types.UID(r.For.UID)
	}
	if o := w.about(b); o != nil {
		return o.GetUID()
	}
	return ""
}

func (w *world) record(i int) *sim.Record { return w.World.History.At(i) }

func (w *world) records(from, to int) iter.Seq2[int, *sim.Record] {
	return func(yield func(int, *sim.Record) bool) {
		for i := from; i < to; i++ {
			if !yield(i, w.record(i)) {
				return
			}
		}
	}
}

func (w *world) commits(from, to int) iter.Seq2[int, *sim.Record] {
	return w.such(from, to, func(r *sim.Record) bool { return r.Op == sim.Commit })
}

// shown iterates over the deliveries to the controller under test.
func (w *world) shown(from, to int) iter.Seq2[int, *sim.Record] {
	return w.such(from, to, func(r *sim.Record) bool { return r.Op == sim.Delivery && r.Process == w.subject.name })
}

func (w *world) such(from, to int, is func(r *sim.Record) bool) iter.Seq2[int, *sim.Record] {
	return func(yield func(int, *sim.Record) bool) {
		for i, r := range w.records(from, to) {
			if is(r) && !yield(i, r) {
				return
			}
		}
	}
}

// anyOf reports whether a record matches.
func anyOf(list iter.Seq2[int, *sim.Record], is func(i int, r *sim.Record) bool) bool {
	for i, r := range list {
		if is(i, r) {
			return true
		}
	}
	return false
}

// begun returns the record at which a record's reconcile began.
func (w *world) begun(record int) int {
	r := w.record(record)
	for i := record; i > 0; i-- {
		if s := w.record(i); s.Op == sim.SyncStart && s.Process == r.Process && s.Worker == r.Worker {
			return i
		}
	}
	return 0
}

// object returns the metadata of a stored version, or nil.
func object(version any) metav1.Object {
	m, _ := version.(metav1.Object)
	return m
}

// is reports whether a version belongs to the object with a uid.
func is(version any, uid types.UID) bool {
	m := object(version)
	return m != nil && m.GetUID() == uid
}

// controls reports whether an owner controls a version of an object.
func controls(owner types.UID, version any) bool {
	m := object(version)
	if m == nil {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(m)
	return ref != nil && ref.UID == owner
}

func going(m metav1.Object) bool { return m != nil && m.GetDeletionTimestamp() != nil }
