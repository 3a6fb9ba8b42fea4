// Package expectations lets a controller sleep until it has seen what it did.
//
// A controller reads a cache that lags behind its own writes. Having created
// three pods it would, asked again before the cache shows them, create three
// more. So before it writes it records how many creations and which deletions
// it expects to see, its event handlers strike them out, and until the record
// is empty, or old, it does not create or delete again (WATCH-2, WATCH-7).
package expectations

import (
	"maps"
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
	// made are the names of those created objects that the creator knows by name
	// and has not seen; early those that were seen before it knew them.
	made, early []string
	// dying are those that were first shown when they were being deleted, before
	// the creator knew them by name.
	dying []string
	open  bool // not all names are known
	// deletions are keys, not a number: a deletion may be seen twice, as the
	// update that sets deletionTimestamp and as the removal, and must count once.
	deletions []string
	adopted   []string // those of them that nobody has shown to be the owner's yet
	since     time.Time
}

// New returns expectations without any record.
func New(now func() time.Time) *Expectations {
	return &Expectations{now: now, records: map[string]*record{}}
}

// ExpectCreations replaces the record of key: n creations by the object with
// uid owner are to be seen.
func (e *Expectations) ExpectCreations(key string, owner types.UID, n int) {
	if n > 0 {
		names := make([]string, 2*n)
		e.records[key] =
			&record{owner: owner, creations: n, made: names[:0:n], early: names[n:n], open: true, since: e.now()}
	}
}

// ExpectDeletions replaces the record of key: the deletions of the objects with
// these keys, by the object with uid owner, are to be seen. Those that it has only
// just adopted may not have been shown to be its own yet. The slices are kept.
func (e *Expectations) ExpectDeletions(key string, owner types.UID, objects []string, adopted ...string) {
	if len(objects) > 0 {
		e.records[key] = &record{owner: owner, deletions: objects, adopted: adopted, since: e.now()}
	}
}

// Expect replaces the record of key by one of both: n creations and the deletions of
// the objects with these keys, by the object with uid owner, are to be seen.
func (e *Expectations) Expect(key string, owner types.UID, n int, objects []string, adopted ...string) {
	e.ExpectCreations(key, owner, n)
	if r := e.records[key]; n > 0 {
		r.deletions, r.adopted = objects, adopted
		return
	}
	e.ExpectDeletions(key, owner, objects, adopted...)
}

// Created strikes out one expected creation of key, because it will not happen.
func (e *Expectations) Created(key string) { e.change(key, (*record).strike) }

// strike strikes out a creation that is known by number only.
func (r *record) strike() { r.creations = max(r.creations-1, 0) }

// Seen strikes out the expected creation of key that an object turns out to be:
// the one known by that name, or else one that is known by number only.
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

// Made says which object one of the expected creations of key has become. From
// then on no other is taken for it: one that was created although the creator was
// told that it had failed will be seen, too. (Upstream's number alone would count
// that as seen which was not; since 1.36 its consistency store makes up for it.)
// A record that was forgotten, with its owner, is not begun again.
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

// Dying says that an object is being deleted, which may be the first that is
// shown of it, after a gap in the watch: of an expected creation that is what was
// waited for; of an object that another made, or an earlier life of the process,
// it is not. (Upstream takes none for seen, and sleeps until the record expires.)
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

// Deleted strikes out the expected deletion of an object, because it was seen
// or because it will not happen. An object that is not expected is no matter.
func (e *Expectations) Deleted(key, object string) {
	e.change(key, func(r *record) { take(&r.deletions, object) })
}

// Sight is how a cache shows an object whose deletion is expected.
type Sight uint8

// The sights.
const (
	Owned Sight = iota // the owner's, and there
	Lost               // nobody's: it has lost its owner, or its adoption is yet to be shown
	Moot               // its deletion will not be shown: it is gone, going, or another's
)

// Recheck compares the expected deletions of key with a cache, and strikes out
// those that will not be shown.
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

// Answered ends a round of creations of key: the names of all that were made are
// known.
func (e *Expectations) Answered(key string) {
	e.change(key, func(r *record) { r.early, r.dying, r.open = nil, nil, false })
}

// take strikes an object off a list; it reports whether it stood there.
func take(list *[]string, object string) bool {
	i := slices.Index(*list, object)
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// change changes the record of key, if there is one, and removes it when it is fulfilled.
// While not all names are known, what was seen by name is still to be compared with them.
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

// Satisfied reports whether the object with key and uid owner may create and
// delete: everything it expected was seen, or the record is older than
// [Timeout]. A record of another object is dropped, and so is one that is too old.
func (e *Expectations) Satisfied(key string, owner types.UID) bool {
	r := e.records[key]
	if r != nil && (r.owner != owner || e.now().Sub(r.since) > Timeout) {
		delete(e.records, key)
		return true
	}
	return r == nil || r.fulfilled()
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

// Digest folds the records in, their ages included: those decide when they
// count as fulfilled.
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
