package explore

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Keys replays a schedule by the keys of its actions, then follows the default
// schedule.
type Keys struct {
	// Strict ends the run at the first entry that cannot be followed; see
	// [Keys.Err]. Otherwise an entry whose action is not enabled is skipped,
	// an entry marked Default takes the default, and a pick that is not evaluated
	// for, or is out of range, is 0.
	Strict bool

	entries Schedule
	pos     int
	err     *Mismatch
}

// Mismatch is a place where a run does not follow its schedule.
type Mismatch struct {
	Entry   int      // of the schedule, from 1
	Step    int      // of the run
	Want    string   // the entry
	Enabled []string // what could have been done instead; for a pick, what was asked
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("entry %d, step %d: %q cannot be taken: enabled are %s",
		m.Entry, m.Step, m.Want, strings.Join(m.Enabled, ", "))
}

// Replay follows the schedule exactly.
func Replay(s Schedule) *Keys { return &Keys{Strict: true, entries: s} }

// Follow follows the schedule as far as it goes.
func Follow(s Schedule) *Keys { return &Keys{entries: s} }

// Err is the first mismatch of a strict replay, nil if there was none. After
// the run, entries that were never reached are a mismatch too.
func (k *Keys) Err() error {
	if k.err != nil {
		return k.err
	}
	if k.Strict && k.pos < len(k.entries) {
		return &Mismatch{Entry: k.pos + 1, Step: k.entries[k.pos].Step,
			Want: k.entries[k.pos].String(), Enabled: []string{"nothing: the run was over"}}
	}
	return nil
}

// Len is how many entries there are.
func (k *Keys) Len() int { return len(k.entries) }

// Done reports whether every entry was taken: what follows goes by default.
func (k *Keys) Done() bool { return k.pos >= len(k.entries) }

// Ended reports whether a mismatch ended the run.
func (k *Keys) Ended() bool { return k.err != nil }

// Pick returns the recorded pick if one was recorded here, otherwise 0.
func (k *Keys) Pick(n int, label string) int {
	if k.pos >= len(k.entries) || k.entries[k.pos].Kind != Pick || k.err != nil {
		return 0
	}
	e := k.entries[k.pos]
	if e.Label != label || e.Value >= n {
		if k.Strict {
			k.fail(0, fmt.Sprintf("pick 0..%d %s", n-1, label))
		}
		return 0
	}
	k.pos++
	return e.Value
}

// Next returns the index of the recorded action.
func (k *Keys) Next(w *sim.World, enabled []sim.Action) int {
	for k.err == nil && k.pos < len(k.entries) {
		i, ok := k.find(k.entries[k.pos], enabled)
		if ok {
			k.pos++
			return i
		}
		if k.Strict {
			k.fail(w.Steps()+1, keysOf(enabled)...)
			break
		}
		k.pos++
	}
	if k.err != nil {
		return -1
	}
	return byDefault(enabled)
}

func (k *Keys) find(e Entry, enabled []sim.Action) (int, bool) {
	switch {
	case e.Kind == Pick:
		return 0, false
	case e.Default && !k.Strict:
		return byDefault(enabled), true
	case e.Kind == Leave:
		return -1, onlyFaults(enabled)
	}
	for i, a := range enabled {
		if a.Same(e.Action) {
			return i, true
		}
	}
	return 0, false
}

func (k *Keys) fail(step int, enabled ...string) {
	e := k.entries[k.pos]
	if step == 0 {
		step = e.Step
	}
	k.err = &Mismatch{Entry: k.pos + 1, Step: step, Want: e.String(), Enabled: enabled}
}

func keysOf(enabled []sim.Action) []string {
	keys := make([]string, len(enabled), len(enabled)+1)
	for i, a := range enabled {
		keys[i] = a.Key()
	}
	if onlyFaults(enabled) {
		keys = append(keys, "leave")
	}
	return keys
}
