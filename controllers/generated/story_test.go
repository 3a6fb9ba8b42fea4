package generated_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/threelaws/threelaws/sim"
)

// story is what has happened in a world: all of it in a few numbers, and, where it is to be
// told in full, in words.
type story struct {
	full  bool
	text  strings.Builder
	parts []uint16 // a number for each act
	sum   uint64
	at    int // records so far

	writes int // of the controller that the world is for
}

// mix adds something to the numbers.
func (s *story) mix(b []byte) {
	h := fnv.New64a()
	_, _ = h.Write(b)
	s.sum = sim.Mix(s.sum*31 + h.Sum64())
}

// say adds words, which are not in the numbers.
func (s *story) say(format string, args ...any) {
	if s.full {
		fmt.Fprintf(&s.text, format+"\n", args...)
	}
}

// chapter begins with what is done next.
func (s *story) chapter() {
	s.parts = append(s.parts, uint16(s.sum))
	s.say("\n== %d", len(s.parts))
}

// write takes in what has happened since.
func (s *story) write(w *world) {
	h := &w.World.History
	for ; s.at < h.Len(); s.at++ {
		r := h.At(s.at)
		line := ""
		switch r.Op {
		case sim.Commit:
			line = fmt.Sprintf("%v %s %s %s %s", r.At, r.Process, r.Verb, r.Subresource, r.Object)
			raw := encode(r.After)
			if r.Process == w.subject.name {
				s.writes++
			}
			s.mix(raw)
			if s.full {
				s.say("%s %s", line, change(encode(r.Before), raw))
			}
		case sim.Refusal:
			line = fmt.Sprintf("%v %s %s %s %s is refused: %s", r.At, r.Process, r.Verb, r.Subresource, r.Object,
				r.Message)
			s.say("%s", line)
		case sim.SyncEnd:
			if r.Message == "" {
				continue
			}
			line = fmt.Sprintf("%v %s fails at %s: %s", r.At, r.Process, r.For, r.Message)
			s.say("%s", line)
		case sim.FaultHit, sim.Mutation, sim.Unsettled, sim.Fighting, sim.Stuck:
			line = fmt.Sprintf("%v %s: %s %s %s %s", r.At, r.Process, r.Verb, r.Object, r.Reason, r.Message)
			s.say("%s", line)
		}
		s.mix([]byte(line))
	}
	s.mix(fmt.Append(nil, w.World.StateHash(), w.World.Steps()))
}

// rest takes in what is declared at rest.
func (s *story) rest(w *world, d time.Duration) {
	s.say("-- %v, %v", d, w.World.Clock.Elapsed())
	for _, line := range declared(w) {
		s.mix([]byte(line))
		s.say("   %s", line)
	}
}

func encode(obj any) []byte {
	if obj == nil {
		return []byte("{}")
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		panic("generated: " + err.Error())
	}
	return raw
}

var (
	uids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}`)
	numbers = regexp.MustCompile(`"(resourceVersion|uid)":"[^"]*",?`)
)

// change is what a write has changed, as a merge patch.
func change(before, after []byte) string {
	if string(after) == "{}" {
		return "is gone"
	}
	raw, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		panic("generated: " + err.Error())
	}
	return uids.ReplaceAllString(numbers.ReplaceAllString(string(raw), ""), "")
}
