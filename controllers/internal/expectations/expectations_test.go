package expectations

import (
	"slices"
	"testing"
	"time"

	"github.com/threelaws/threelaws/sim"
)

func TestExpectations(t *testing.T) {
	for _, c := range []struct {
		name      string
		do        func(e *Expectations, clock *time.Time)
		satisfied bool
	}{
		{"nothing expected", func(*Expectations, *time.Time) {}, true},
		{"creations", func(e *Expectations, _ *time.Time) { e.ExpectCreations("k", "me", 2); e.Created("k") }, false},
		{"creations, all seen", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 2)
			e.Created("k")
			e.Created("k")
		}, true},
		{"more seen than expected, before the next", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Created("k")
			e.Created("k")
			e.ExpectCreations("k", "me", 1)
		}, false},
		{"seen by name", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Made("k", "ns/a")
			e.Seen("k", "ns/a")
		}, true},
		{"seen before its name was known", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 2)
			e.Seen("k", "ns/a")
			e.Made("k", "ns/a")
			e.Created("k")
		}, true},
		{"another is seen before its name was known", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Seen("k", "ns/b")
			e.Made("k", "ns/a")
		}, false},
		{"another is seen", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Made("k", "ns/a")
			e.Seen("k", "ns/b")
		}, false},
		{"one failed and was made all the same", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 2)
			e.Made("k", "ns/a")
			e.Created("k")
			e.Seen("k", "ns/b")
		}, false},
		{"adopted, and not shown to be so yet", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a"}, "ns/a")
			e.Recheck("k", func(string) Sight { return Lost })
		}, false},
		{"adopted, shown to be so, and lost", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a"}, "ns/a")
			e.Recheck("k", func(string) Sight { return Owned })
			e.Recheck("k", func(string) Sight { return Lost })
		}, true},
		{"another key's creation",
			func(e *Expectations, _ *time.Time) { e.ExpectCreations("k", "me", 1); e.Created("other") }, false},
		{"made, and first seen dying", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Made("k", "ns/a")
			e.Dying("k", "ns/a")
		}, true},
		{"first seen dying, and made by the time of the response", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Dying("k", "ns/a")
			e.Made("k", "ns/a")
		}, true},
		{"seen alive, and dying, counts once", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 2)
			e.Seen("k", "ns/a")
			e.Made("k", "ns/a")
			e.Dying("k", "ns/a")
		}, false},
		{"another's object is first seen dying", func(e *Expectations, _ *time.Time) {
			e.ExpectCreations("k", "me", 1)
			e.Made("k", "ns/a")
			e.Dying("k", "ns/z")
		}, false},
		{"a deletion seen twice counts once", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a", "ns/b"})
			e.Deleted("k", "ns/a")
			e.Deleted("k", "ns/a")
		}, false},
		{"deletions, all seen", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a", "ns/b"})
			e.Deleted("k", "ns/b")
			e.Deleted("k", "ns/a")
		}, true},
		{"a deletion nobody expects", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a"})
			e.Deleted("k", "ns/z")
		}, false},
		{"a deletion is no creation", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a"})
			e.Created("k")
		}, false},
		{"of a namesake", func(e *Expectations, _ *time.Time) { e.ExpectCreations("k", "other", 1) }, true},
		{"moot deletion", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a", "ns/b"})
			e.Recheck("k", func(object string) Sight {
				if object == "ns/a" {
					return Moot
				}
				return Owned
			})
			e.Deleted("k", "ns/b")
		}, true},
		{"one moot deletion", func(e *Expectations, _ *time.Time) {
			e.ExpectDeletions("k", "me", []string{"ns/a", "ns/b"})
			e.Recheck("k", func(object string) Sight {
				if object == "ns/a" {
					return Moot
				}
				return Owned
			})
		}, false},
		{"forgotten", func(e *Expectations, _ *time.Time) { e.ExpectCreations("k", "me", 1); e.Forget("k") }, true},
		{"just before the timeout",
			func(e *Expectations, now *time.Time) { e.ExpectCreations("k", "me", 1); *now = now.Add(Timeout) }, false},
		{"after the timeout",
			func(e *Expectations, now *time.Time) { e.ExpectCreations("k", "me", 1); *now = now.Add(Timeout + 1) },
			true},
		{"an event does not prolong it", func(e *Expectations, now *time.Time) {
			e.ExpectCreations("k", "me", 2)
			*now = now.Add(Timeout)
			e.Created("k")
			*now = now.Add(1)
		}, true},
	} {
		now := sim.Epoch
		e := New(func() time.Time { return now })
		c.do(e, &now)
		if got := e.Satisfied("k", "me"); got != c.satisfied {
			t.Errorf("%s: satisfied = %v, want %v", c.name, got, c.satisfied)
		}
	}
}

func TestWaiting(t *testing.T) {
	now := sim.Epoch
	e := New(func() time.Time { return now })
	e.ExpectDeletions("b", "me", []string{"x"})
	e.ExpectCreations("a", "me", 1)
	e.ExpectCreations("c", "me", 0)
	now = now.Add(time.Hour) // it will act at the next event, but there may be none
	if got, want := e.Waiting(), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("waiting = %v, want %v", got, want)
	}
	e.Created("a")
	e.Deleted("b", "x")
	if got := e.Waiting(); got != nil {
		t.Errorf("waiting = %v, want nothing", got)
	}
}

func TestDigest(t *testing.T) {
	now := sim.Epoch
	digest := func(f func(e *Expectations)) sim.Hash {
		e := New(func() time.Time { return now })
		f(e)
		var h sim.Hash
		e.Digest(&h)
		return h
	}
	a := digest(func(e *Expectations) { e.ExpectDeletions("k", "me", []string{"x", "y"}) })
	b := digest(func(e *Expectations) { e.ExpectDeletions("k", "me", []string{"y", "x"}) })
	c := digest(func(e *Expectations) { e.ExpectDeletions("k", "me", []string{"x"}) })
	d := digest(func(e *Expectations) { e.ExpectCreations("k", "me", 1); e.Created("k") })
	empty := digest(func(*Expectations) {})
	if a != b {
		t.Error("the order of expected deletions shows")
	}
	if a == c || c == empty {
		t.Error("different records have equal digests")
	}
	if d != empty {
		t.Error("a fulfilled record shows")
	}
}

// Everything that affects a later reconcile is part of the state: these digests are all different.
func TestDigestTellsRecordsApart(t *testing.T) {
	now := sim.Epoch
	seen := map[sim.Hash]string{}
	for _, c := range []struct {
		name string
		do   func(e *Expectations)
	}{
		{"one creation", func(e *Expectations) { e.ExpectCreations("k", "me", 1) }},
		{"two", func(e *Expectations) { e.ExpectCreations("k", "me", 2) }},
		{"of another key", func(e *Expectations) { e.ExpectCreations("l", "me", 1) }},
		{"by another owner", func(e *Expectations) { e.ExpectCreations("k", "you", 1) }},
		{"all names known", func(e *Expectations) { e.ExpectCreations("k", "me", 1); e.Answered("k") }},
		{"known by name", func(e *Expectations) { e.ExpectCreations("k", "me", 1); e.Made("k", "a") }},
		{"seen early", func(e *Expectations) { e.ExpectCreations("k", "me", 2); e.Seen("k", "a") }},
		{"seen dying", func(e *Expectations) { e.ExpectCreations("k", "me", 1); e.Dying("k", "a") }},
		{"a second ago", func(e *Expectations) {
			e.ExpectCreations("k", "me", 1)
			now = now.Add(time.Second)
		}},
	} {
		e := New(func() time.Time { return now })
		c.do(e)
		var h sim.Hash
		e.Digest(&h)
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have equal digests", c.name, other)
		}
		seen[h] = c.name
	}
}

// A dropped record stays dropped: that of another object, or an expired one.
func TestNothingToRecheck(t *testing.T) {
	now := sim.Epoch
	e := New(func() time.Time { return now })
	e.Recheck("k", func(string) Sight { t.Error("looked for nothing"); return Moot })
	e.ExpectCreations("k", "me", 1)
	e.Recheck("k", func(string) Sight { t.Error("looked for what is not deleted"); return Moot })
	if !e.Satisfied("k", "successor") || len(e.Waiting()) != 0 {
		t.Error("the record of one that was replaced is kept")
	}
}
