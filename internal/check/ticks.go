package check

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// ticks are the times at which a controller creates something of one kind by the clock, as a CronJob controller does, or
// changes one object, as one that renews a certificate does: at equal distances, for ever.
type ticks struct {
	deed
	every time.Duration
	third time.Duration // when the third one comes
}

// deed is what a controller does again and again.
type deed struct {
	kind schema.GroupVersionKind
	name string // "namespace/name" of the object that it changes; "" where it creates objects
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
	does := "creates"
	if t.name != "" {
		does = "changes"
	}
	return fmt.Sprintf("%s a %s every %s, for ever: a world ends after the third, at %s", does, t.kind.Kind,
		t.every.Round(time.Second), t.lasts())
}

// ticking looks for ticks among what was written since it was last called.
type ticking struct {
	of    *quiet
	next  int // record
	at    map[deed][]time.Duration
	found *ticks
}

// look reports whether ticks were found.
func (t *ticking) look() bool {
	h := &t.of.World.History
	for ; t.next < h.Len() && t.found == nil; t.next++ {
		rec := h.At(t.next)
		if rec.Op != sim.Commit || rec.Process != t.of.process || rec.After == nil || told(rec.Object) ||
			rec.Before != nil && rec.Subresource == "status" { // which heartbeats write
			continue
		}
		does := deed{kind: t.of.kindOf(rec)}
		if rec.Before != nil {
			does.name = rec.Object.Namespace + "/" + rec.Object.Name
		}
		at := t.at[does]
		if n := len(at); n > 0 && rec.At-at[n-1] < oneTick {
			continue
		}
		t.at[does] = append(at, rec.At)
		t.found = regular(does, t.at[does])
	}
	return t.found != nil
}

// regular finds ticks, nil for none. What is created first may come at another time than the next tick.
func regular(does deed, at []time.Duration) *ticks {
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
	return &ticks{deed: does, every: every, third: at[2]}
}

// told reports whether an object only tells of something, or who leads.
func told(o sim.Ref) bool { return o.Kind == "Event" || o.Kind == "Lease" }
