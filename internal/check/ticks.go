package check

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// ticks describes writes at equal intervals: creations of objects of a kind, or changes of one object. Examples are a
// CronJob's Jobs, and the renewal of a certificate.
type ticks struct {
	deed
	every time.Duration
	third time.Duration // the time of the third tick
}

type deed struct {
	kind schema.GroupVersionKind
	name string // "namespace/name" of the changed object; "" if objects are created
}

// Seven writes at equal intervals count as ticks. Fewer may be a rollout, which can write every ten seconds, but ends.
// A world with ticks runs until the third tick.
const (
	enoughTicks = 7
	leastTick   = 10 * time.Second // the shortest interval of ticks; a shorter interval is a loop
	oneTick     = time.Second      // objects created within this time belong to one tick

	longestRetry = 1000 * time.Second // the longest delay after an error in client-go's queues
)

// lasts returns how long a world with these ticks runs.
func (t *ticks) lasts() time.Duration { return (t.third + 2*t.every/5).Round(time.Second) }

func (t *ticks) String() string {
	does := "creates"
	if t.name != "" {
		does = "changes"
	}
	text := fmt.Sprintf("%s a %s every %s, for ever: a world ends after the third, at %s", does, t.kind.Kind,
		t.every.Round(time.Second), t.lasts())
	if d := t.every - longestRetry; -oneTick < d && d < oneTick {
		text += "; this is client-go's longest retry delay: it retries after an error, see its log (-v)"
	}
	return text
}

// ticking searches the records of a quiet run for writes at equal intervals (see ticks).
type ticking struct {
	of    *quiet
	next  int // index of the next record to search
	at    map[deed][]time.Duration
	found *ticks
}

func (t *ticking) look() bool {
	h := &t.of.World.History
	for ; t.next < h.Len() && t.found == nil; t.next++ {
		rec := h.At(t.next)
		if rec.Op != sim.Commit || rec.Process != t.of.process || rec.After == nil || told(rec.Object) ||
			rec.Before != nil && rec.Subresource == "status" { // heartbeats also update a status
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

// regular returns ticks if the last seven times have equal intervals; otherwise nil. The first interval may differ.
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
