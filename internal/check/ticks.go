package check

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// ticks are the times at which a controller creates something of one kind by the clock, as a CronJob controller does:
// at equal distances, for ever.
type ticks struct {
	kind  schema.GroupVersionKind
	every time.Duration
	third time.Duration // when the third one comes
}

// A world of a controller that creates something at every tick ends a while after the third one, before the next.
// Equal distances are seen only after some more: a rollout that goes on every ten seconds comes to an end.
const (
	enoughTicks = 7
	leastTick   = 10 * time.Second // from one to the next: what comes faster is a loop
	oneTick     = time.Second      // what is created within it belongs to one tick
)

// lasts is how much time a world is given.
func (t *ticks) lasts() time.Duration { return (t.third + 2*t.every/5).Round(time.Second) }

func (t *ticks) String() string {
	return fmt.Sprintf("creates a %s every %s, for ever: a world ends after the third, at %s", t.kind.Kind,
		t.every.Round(time.Second), t.lasts())
}

// ticking looks for ticks among what was created since it was last called.
type ticking struct {
	of    *quiet
	next  int // record
	at    map[schema.GroupVersionKind][]time.Duration
	found *ticks
}

// look reports whether ticks were found.
func (t *ticking) look() bool {
	h := &t.of.World.History
	for ; t.next < h.Len() && t.found == nil; t.next++ {
		rec := h.At(t.next)
		if rec.Op != sim.Commit || rec.Process != t.of.process || rec.Before != nil || rec.After == nil || told(rec.Object) {
			continue
		}
		kind := t.of.kindOf(rec)
		at := t.at[kind]
		if n := len(at); n > 0 && rec.At-at[n-1] < oneTick {
			continue
		}
		t.at[kind] = append(at, rec.At)
		t.found = regular(kind, t.at[kind])
	}
	return t.found != nil
}

// regular finds ticks, nil for none. What is created first may come at another time than the next tick.
func regular(kind schema.GroupVersionKind, at []time.Duration) *ticks {
	if len(at) < enoughTicks {
		return nil
	}
	at = at[len(at)-enoughTicks:]
	every := at[enoughTicks-1] - at[enoughTicks-2]
	if every < leastTick {
		return nil
	}
	for i := 2; i < enoughTicks; i++ {
		if d := at[i] - at[i-1] - every; d < -oneTick || d > oneTick {
			return nil
		}
	}
	return &ticks{kind: kind, every: every, third: at[2]}
}

// told reports whether an object only tells of something, or who leads.
func told(o sim.Ref) bool { return o.Kind == "Event" || o.Kind == "Lease" }
