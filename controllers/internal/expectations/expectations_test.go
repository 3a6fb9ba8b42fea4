package expectations_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/sim"
)

// script executes steps on the expectations of key k and owner me. "+N" expects N creations, and "-a,b" expects these
// deletions. "?owned", "?lost" and "?moot" recheck with that state of ns/a. "wait" lets the timeout pass.
func script(e *expectations.Expectations, now *time.Time, steps string) {
	sights := map[string]expectations.Sight{"?owned": expectations.Owned, "?lost": expectations.Lost, "?moot": expectations.Moot}
	for step := range strings.FieldsSeq(steps) {
		what, name, _ := strings.Cut(step, ":")
		switch what {
		case "created":
			e.Created("k")
		case "made":
			e.Made("k", name)
		case "seen":
			e.Seen("k", name)
		case "dying":
			e.Dying("k", name)
		case "deleted":
			e.Deleted("k", name)
		case "adopting":
			e.ExpectDeletions("k", "me", []string{name}, name)
		case "wait":
			*now = now.Add(expectations.Timeout)
		case "tick":
			*now = now.Add(1)
		case "forget":
			e.Forget("k")
		case "?owned", "?lost", "?moot":
			e.Recheck("k", func(object string) expectations.Sight {
				if object == "a" {
					return sights[what]
				}
				return expectations.Owned
			})
		default:
			if n, err := strconv.Atoi(step); err == nil && n > 0 {
				e.ExpectCreations("k", "me", n)
			} else {
				e.ExpectDeletions("k", "me", strings.Split(step[1:], ","))
			}
		}
	}
}

func TestExpectations(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		satisfied   bool
	}{
		{"nothing expected", "", true},
		{"creations", "+2 created", false},
		{"creations, all seen", "+2 created created", true},
		{"more seen than expected, before the next", "+1 created created +1", false},
		{"seen by name", "+1 made:a seen:a", true},
		{"seen before its name was known", "+2 seen:a made:a created", true},
		{"another object is seen before its name was known", "+1 seen:b made:a", false},
		{"another object is seen", "+1 made:a seen:b", false},
		{"one creation failed and took effect", "+2 made:a created seen:b", false},
		{"adopted, and not shown yet", "adopting:a ?lost", false},
		{"adopted, shown, and lost", "adopting:a ?owned ?lost", true},
		{"made, and first seen terminating", "+1 made:a dying:a", true},
		{"first seen terminating, and made when the response arrives", "+1 dying:a made:a", true},
		{"seen running, then terminating, counts once", "+2 seen:a made:a dying:a", false},
		{"an object of another owner is first seen terminating", "+1 made:a dying:z", false},
		{"a deletion seen twice counts once", "-a,b deleted:a deleted:a", false},
		{"deletions, all seen", "-a,b deleted:b deleted:a", true},
		{"an unexpected deletion", "-a deleted:z", false},
		{"a deletion is no creation", "-a created", false},
		{"moot deletion", "-a,b ?moot deleted:b", true},
		{"one moot deletion", "-a,b ?moot", false},
		{"forgotten", "+1 forget", true},
		{"just before the timeout", "+1 wait", false},
		{"after the timeout", "+1 wait tick", true},
		{"an event does not prolong it", "+2 wait created tick", true},
	} {
		now := sim.Epoch
		e := expectations.New(func() time.Time { return now })
		if script(e, &now, c.steps); e.Satisfied("k", "me") != c.satisfied {
			t.Errorf("%s: satisfied = %v, want %v", c.name, !c.satisfied, c.satisfied)
		}
	}
	e := expectations.New(func() time.Time { return sim.Epoch })
	e.ExpectCreations("k", "other", 1)
	if !e.Satisfied("k", "me") {
		t.Error("a recreated object waits for the creations of the object before it")
	}
	e.ExpectCreations("k", "me", 1)
	if e.Created("other"); e.Satisfied("k", "me") {
		t.Error("the creation of another key counts")
	}
}

func TestWaiting(t *testing.T) {
	now := sim.Epoch
	e := expectations.New(func() time.Time { return now })
	e.ExpectDeletions("b", "me", []string{"x"})
	e.ExpectCreations("a", "me", 1)
	e.ExpectCreations("c", "me", 0)
	now = now.Add(time.Hour) // the record is expired, but only an event enqueues the key
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
	digest := func(f func(e *expectations.Expectations)) sim.Hash {
		e := expectations.New(func() time.Time { return now })
		f(e)
		var h sim.Hash
		e.Digest(&h)
		return h
	}
	a := digest(func(e *expectations.Expectations) { e.ExpectDeletions("k", "me", []string{"x", "y"}) })
	b := digest(func(e *expectations.Expectations) { e.ExpectDeletions("k", "me", []string{"y", "x"}) })
	c := digest(func(e *expectations.Expectations) { e.ExpectDeletions("k", "me", []string{"x"}) })
	d := digest(func(e *expectations.Expectations) { e.ExpectCreations("k", "me", 1); e.Created("k") })
	empty := digest(func(*expectations.Expectations) {})
	if a != b {
		t.Error("the digest depends on the order of expected deletions")
	}
	if a == c || c == empty {
		t.Error("different records have equal digests")
	}
	if d != empty {
		t.Error("the digest contains a fulfilled record")
	}
}

// Everything that affects a later reconcile is part of the digest, so all these digests differ.
func TestDigestTellsRecordsApart(t *testing.T) {
	now := sim.Epoch
	seen := map[sim.Hash]string{}
	for name, do := range map[string]func(e *expectations.Expectations){
		"one creation":     func(e *expectations.Expectations) { script(e, &now, "+1") },
		"two":              func(e *expectations.Expectations) { script(e, &now, "+2") },
		"of another key":   func(e *expectations.Expectations) { e.ExpectCreations("l", "me", 1) },
		"by another owner": func(e *expectations.Expectations) { e.ExpectCreations("k", "you", 1) },
		"all names known":  func(e *expectations.Expectations) { script(e, &now, "+1"); e.Answered("k") },
		"known by name":    func(e *expectations.Expectations) { script(e, &now, "+1 made:a") },
		"seen early":       func(e *expectations.Expectations) { script(e, &now, "+2 seen:a") },
		"seen terminating": func(e *expectations.Expectations) { script(e, &now, "+1 dying:a") },
		"earlier":          func(e *expectations.Expectations) { script(e, &now, "+1 tick") },
	} {
		now = sim.Epoch
		e := expectations.New(func() time.Time { return now })
		do(e)
		var h sim.Hash
		e.Digest(&h)
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have equal digests", name, other)
		}
		seen[h] = name
	}
}

// Recheck looks up only objects whose deletion is expected. A record that is expired, or of another object, is dropped.
func TestNothingToRecheck(t *testing.T) {
	now := sim.Epoch
	e := expectations.New(func() time.Time { return now })
	e.Recheck("k", func(string) expectations.Sight {
		t.Error("Recheck without a record looked up an object")
		return expectations.Moot
	})
	e.ExpectCreations("k", "me", 1)
	e.Recheck("k", func(string) expectations.Sight {
		t.Error("Recheck looked up an unexpected object")
		return expectations.Moot
	})
	if !e.Satisfied("k", "successor") || len(e.Waiting()) != 0 {
		t.Error("the record of a replaced object is kept")
	}
}

// The cached state of an object decides whether its deletion is still expected.
func TestLook(t *testing.T) {
	objects := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	yes := true
	for name, c := range map[string]struct {
		owner types.UID
		going bool
		want  expectations.Sight
	}{
		"owned": {"me", false, expectations.Owned}, "terminating": {"me", true, expectations.Moot}, "others": {"you", false, expectations.Moot},
		"released": {"", false, expectations.Lost},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		if c.owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{UID: c.owner, Controller: &yes}}
		}
		if c.going {
			p.DeletionTimestamp = &metav1.Time{Time: sim.Epoch}
		}
		if err := objects.Add(p); err != nil {
			t.Fatal(err)
		}
		if got := expectations.Look(objects, "me")("ns/" + name); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := expectations.Look(objects, "me")("ns/gone"); got != expectations.Moot {
		t.Errorf("gone: %v", got)
	}
}
