// Package expectations lets a controller sleep until it has seen what it did.
//
// A controller reads a cache that lags behind its own writes. Having created
// three pods it would, asked again before the cache shows them, create three
// more. So before it writes it records how many creations and which deletions
// it expects to see, its event handlers strike them out, and until the record
// is empty, or old, it does not create or delete again (WATCH-2, WATCH-7).
package expectations

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Timeout is the age at which a record counts as fulfilled: an event that has
// not come by then was missed.
const Timeout = 5 * time.Minute

// Expectations are one controller's records, by the key of the controller
// object. Events find them by key, so they must be dropped when the object is
// deleted or replaced: see [Expectations.Forget]. A sync of the old object that
// is still going on may write a record after that; so each says which object it
// is of, and one of another object of the same key is void. (Upstream has keys
// only, and the successor waits until the record expires.) The zero value is not
// usable; call [New].
type Expectations struct {
	now     func() time.Time
	records map[string]*record
}

// record is what one controller object still waits for. An empty record is
// removed: it says the same as none.
type record struct {
	owner     types.UID
	creations int
	names     []creation // of those creations whose name is known
	// deletions are keys, not a number: a deletion may be seen twice, as the
	// update that sets deletionTimestamp and as the removal, and must count once.
	deletions []string
	since     time.Time
}

// creation is what is known of one object by name: that it was made, which the
// response to the request says, and that it was shown, alive or being deleted.
// Either may come first.
type creation struct {
	object string
	state  state
}

type state uint8

const (
	made  state = iota // and not shown yet
	alive              // shown, and struck out
	dying              // shown for the first time when it was being deleted
)

// New returns expectations without any record.
func New(now func() time.Time) *Expectations {
	return &Expectations{now: now, records: map[string]*record{}}
}

// ExpectCreations replaces the record of key: n creations by the object with
// uid owner are to be seen.
func (e *Expectations) ExpectCreations(key string, owner types.UID, n int) {
	if n > 0 {
		e.records[key] = &record{owner: owner, creations: n, names: make([]creation, 0, n), since: e.now()}
	}
}

// ExpectDeletions replaces the record of key: the deletions of the objects with
// these keys, by the object with uid owner, are to be seen. The slice is kept.
func (e *Expectations) ExpectDeletions(key string, owner types.UID, objects []string) {
	if len(objects) > 0 {
		e.records[key] = &record{owner: owner, deletions: objects, since: e.now()}
	}
}

// Created strikes out one expected creation of key, because it was seen.
func (e *Expectations) Created(key, object string) {
	if r := e.records[key]; r != nil && r.creations > 0 {
		r.set(object, alive)
		e.NotCreated(key)
	}
}

// NotCreated strikes out one expected creation of key, because it will not
// happen, or did.
func (e *Expectations) NotCreated(key string) {
	if r := e.records[key]; r != nil && r.creations > 0 {
		r.creations--
		e.settle(key, r)
	}
}

// Made says which object one of the expected creations of key is. If it is first
// shown when it is being deleted, after a gap in the watch, that is what was
// waited for; of an object that another made, or an earlier life of the process,
// it is not. (Upstream does not know creations by name, takes none for seen, and
// sleeps until the record expires.)
func (e *Expectations) Made(key, object string) {
	r := e.records[key]
	if r == nil || r.creations == 0 {
		return
	}
	switch i := r.find(object); {
	case i < 0:
		r.set(object, made)
	case r.names[i].state == dying:
		r.names[i].state = alive
		e.NotCreated(key)
	}
}

func (r *record) find(object string) int {
	return slices.IndexFunc(r.names, func(c creation) bool { return c.object == object })
}

func (r *record) set(object string, s state) {
	if i := r.find(object); i >= 0 {
		r.names[i].state = s
		return
	}
	r.names = append(r.names, creation{object, s})
}

// shownDying notes that an object is being deleted, which may be the first that
// is shown of it.
func (e *Expectations) shownDying(key, object string, r *record) {
	switch i := r.find(object); {
	case i < 0:
		r.set(object, dying)
	case r.names[i].state == made:
		r.names[i].state = alive
		e.NotCreated(key)
	}
}

// Deleted strikes out the expected deletion of an object, because it was seen
// or because it will not happen. An object that is not expected is no matter.
func (e *Expectations) Deleted(key, object string) {
	r := e.records[key]
	if r == nil {
		return
	}
	if r.creations > 0 {
		e.shownDying(key, object, r)
		return
	}
	if i := slices.Index(r.deletions, object); i >= 0 {
		r.deletions = slices.Delete(r.deletions, i, i+1)
		e.settle(key, r)
	}
}

// Recheck strikes out the expected deletions of key that moot says will not be
// seen as such.
func (e *Expectations) Recheck(key string, moot func(object string) bool) {
	if r := e.records[key]; r != nil && len(r.deletions) > 0 {
		r.deletions = slices.DeleteFunc(r.deletions, moot)
		e.settle(key, r)
	}
}

func (e *Expectations) settle(key string, r *record) {
	if r.creations == 0 && len(r.deletions) == 0 {
		delete(e.records, key)
	}
}

// Satisfied reports whether the object with key and uid owner may create and
// delete: everything it expected was seen, or the record is older than
// [Timeout]. A record of another object is dropped.
func (e *Expectations) Satisfied(key string, owner types.UID) bool {
	r := e.records[key]
	if r != nil && r.owner != owner {
		delete(e.records, key)
		return true
	}
	return r == nil || e.now().Sub(r.since) > Timeout
}

// Forget drops the record of key.
func (e *Expectations) Forget(key string) { delete(e.records, key) }

// Waiting lists the keys that still expect something, sorted. One whose record
// has passed its [Timeout] is among them: nothing wakes it up but an event.
func (e *Expectations) Waiting() []string {
	if len(e.records) == 0 {
		return nil
	}
	keys := make([]string, 0, len(e.records))
	for key := range e.records {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Digest folds the records in, their ages included: those decide when they
// count as fulfilled.
func (e *Expectations) Digest(h *sim.Hash) {
	for _, key := range e.Waiting() {
		r := e.records[key]
		h.String(key)
		h.String(string(r.owner))
		h.Word(uint64(r.creations))
		h.Word(uint64(e.now().Sub(r.since)))
		var names uint64
		for _, c := range r.names {
			names += sim.Mix(sim.HashString(c.object) + uint64(c.state))
		}
		h.Word(names)
		var deletions uint64
		for _, d := range r.deletions {
			deletions += sim.Mix(sim.HashString(d))
		}
		h.Word(deletions)
	}
}
