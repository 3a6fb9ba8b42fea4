// Package expectations makes a controller wait until it has seen its own writes.
//
// A controller's cache lags behind its writes. If a controller that has created three pods runs again before the cache
// shows them, it creates three more. Therefore it records the expected creations and deletions before it writes. Its
// event handlers remove what they see from the record. Until the record is empty or expires, the controller does not
// create or delete again (WATCH-2, WATCH-7).
package expectations

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

// Timeout is the age at which a record expires. The missing event is then assumed to be lost.
const Timeout = 5 * time.Minute

// Expectations holds one controller's records, by the key of the controller object. When an object is deleted or
// replaced, call [Expectations.Forget]. A reconcile of the old object may still write a record after that. Therefore
// each record has the uid of its object, and does not apply to a recreated object. (Upstream has only keys, so the new
// object waits until the record expires.) Use [New] to make one.
type Expectations struct {
	now     func() time.Time
	records map[string]*record
}

// record holds the creations and deletions for which one controller object waits.
type record struct {
	owner     types.UID
	creations int
	// made holds the names of created objects that no event has shown. early holds the names of objects that were shown
	// before their creation was answered.
	made, early []string
	// dying holds the names of objects that were first shown while terminating, before their creation was answered.
	dying []string
	open  bool // some creations are not answered yet
	// deletions are keys, not a number. A deletion may be shown twice, as the update that sets deletionTimestamp and as
	// the removal, and must count once.
	deletions []string
	adopted   []string // the objects in deletions whose adoption no event has shown yet
	since     time.Time
}

func New(now func() time.Time) *Expectations {
	return &Expectations{now: now, records: map[string]*record{}}
}

// ExpectCreations records that the object with this key and uid owner expects n creations. It replaces the earlier
// record of key, unless n is 0.
func (e *Expectations) ExpectCreations(key string, owner types.UID, n int) {
	if n > 0 {
		names := make([]string, 2*n)
		e.records[key] =
			&record{owner: owner, creations: n, made: names[:0:n], early: names[n:n], open: true, since: e.now()}
	}
}

// ExpectDeletions records that the object with key and uid owner expects the deletions of objects (keys). It replaces
// the earlier record, unless objects is empty. The adoption of the objects in adopted may not be shown yet. The caller
// must not change the slices later.
func (e *Expectations) ExpectDeletions(key string, owner types.UID, objects []string, adopted ...string) {
	if len(objects) > 0 {
		e.records[key] = &record{owner: owner, deletions: objects, adopted: adopted, since: e.now()}
	}
}

// Expect replaces the record of key: the object with uid owner expects n creations, and the deletions of objects
// (keys). adopted is as in [Expectations.ExpectDeletions].
func (e *Expectations) Expect(key string, owner types.UID, n int, objects []string, adopted ...string) {
	e.ExpectCreations(key, owner, n)
	if r := e.records[key]; n > 0 {
		r.deletions, r.adopted = objects, adopted
		return
	}
	e.ExpectDeletions(key, owner, objects, adopted...)
}

// Created removes one expected creation of key that will not happen.
func (e *Expectations) Created(key string) { e.change(key, (*record).strike) }

// strike removes one creation whose name is unknown.
func (r *record) strike() { r.creations = max(r.creations-1, 0) }

// Seen records that an event shows a created object of key. It removes the expected creation with this name. If there
// is none, it removes one whose name is unknown.
func (e *Expectations) Seen(key, object string) {
	e.change(key, func(r *record) {
		if take(&r.made, object) {
			return
		}
		if r.open {
			r.early = append(r.early, object)
		}
		r.strike()
	})
}

// Made records the name of an object that key's owner has created. From then on only this object fulfils the expected
// creation. An object whose create request seemed to fail does not. (Upstream counts any object. Since 1.36 its
// consistency store prevents mistakes.) If the record was dropped, Made does nothing.
func (e *Expectations) Made(key, object string) {
	e.change(key, func(r *record) {
		if take(&r.early, object) {
			return
		}
		r.strike()
		if !take(&r.dying, object) {
			r.made = append(r.made, object)
		}
	})
}

// Dying records that an event shows an object as terminating. After a gap in the watch, this may be the first event for
// the object. It fulfils the expected creation of that object. (In upstream the creation stays expected until it
// expires.)
func (e *Expectations) Dying(key, object string) {
	e.change(key, func(r *record) {
		if take(&r.made, object) {
			return
		}
		if r.open && !slices.Contains(r.early, object) && !slices.Contains(r.dying, object) {
			r.dying = append(r.dying, object)
		}
	})
}

// Deleted removes the expected deletion of an object. Call it if an event has shown the deletion, or if the deletion
// will not happen. An unexpected object is ignored.
func (e *Expectations) Deleted(key, object string) {
	e.change(key, func(r *record) { take(&r.deletions, object) })
}

// Sight describes the cached state of an object whose deletion is expected.
type Sight uint8

const (
	Owned Sight = iota // the object exists and belongs to the owner
	Lost               // the object has no owner, or its adoption is not shown yet
	Moot               // no event will show its deletion: it is gone, terminating, or belongs to another owner
)

// Recheck compares the expected deletions of key with a cache, and removes the deletions that no event will show.
func (e *Expectations) Recheck(key string, look func(object string) Sight) {
	e.change(key, func(r *record) {
		r.deletions = slices.DeleteFunc(r.deletions, func(object string) bool {
			switch look(object) {
			case Owned:
				r.adopted = slices.DeleteFunc(r.adopted, func(o string) bool { return o == object })
				return false
			case Lost:
				return !slices.Contains(r.adopted, object)
			}
			return true
		})
	})
}

// Look returns a function for [Expectations.Recheck]. The function looks up objects of the owner with this uid in a
// cache.
func Look(objects cache.Indexer, owner types.UID) func(object string) Sight {
	return func(object string) Sight {
		obj, exists, _ := objects.GetByKey(object)
		if !exists {
			return Moot
		}
		m := obj.(metav1.Object)
		switch controller := metav1.GetControllerOfNoCopy(m); {
		case controller == nil:
			return Lost
		case controller.UID != owner, m.GetDeletionTimestamp() != nil:
			return Moot
		}
		return Owned
	}
}

// Answered records that all creations of key have been answered. The names of all created objects are then known, so
// names kept for late responses are dropped.
func (e *Expectations) Answered(key string) {
	e.change(key, func(r *record) { r.early, r.dying, r.open = nil, nil, false })
}

func take(list *[]string, object string) bool {
	i := slices.Index(*list, object)
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// change applies how to the record of key, if any, and removes a fulfilled record. A record with names in early or
// dying stays, because Made needs these names.
func (e *Expectations) change(key string, how func(r *record)) {
	r := e.records[key]
	if r == nil {
		return
	}
	if how(r); r.fulfilled() && len(r.early)+len(r.dying) == 0 {
		delete(e.records, key)
	}
}

func (r *record) fulfilled() bool {
	return r.creations == 0 && len(r.made) == 0 && len(r.deletions) == 0
}

// Satisfied reports whether the object with key and uid owner may create and delete. It may if everything that it
// expected was shown, or if the record is older than [Timeout]. Old records, and records of other objects, are dropped.
func (e *Expectations) Satisfied(key string, owner types.UID) bool {
	r := e.records[key]
	if r != nil && (r.owner != owner || e.now().Sub(r.since) > Timeout) {
		delete(e.records, key)
		return true
	}
	return r == nil || r.fulfilled()
}

func (e *Expectations) Forget(key string) { delete(e.records, key) }

// Waiting lists the keys with unfulfilled records, sorted. Expired records are included: only an event enqueues their
// keys.
func (e *Expectations) Waiting() []string {
	if len(e.records) == 0 {
		return nil
	}
	keys := make([]string, 0, len(e.records))
	for key, r := range e.records { //detcheck:ordered sorted below
		if !r.fulfilled() {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	return keys
}

// Digest hashes the records with their ages, because a record's age decides when it expires.
func (e *Expectations) Digest(h *sim.Hash) {
	for _, key := range slices.Sorted(maps.Keys(e.records)) {
		r := e.records[key]
		h.String(key)
		h.Bool(r.open)
		h.String(string(r.owner))
		h.Word(uint64(r.creations))
		h.Word(uint64(e.now().Sub(r.since)))
		for _, names := range [...][]string{r.made, r.early, r.dying, r.deletions, r.adopted} {
			var sum uint64
			for _, name := range names {
				sum += sim.Mix(sim.HashString(name))
			}
			h.Word(sum)
		}
	}
}
