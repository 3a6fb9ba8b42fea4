package explore

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Keys replays a schedule by the keys of its actions. After the schedule's end it makes the default choices.
type Keys struct {
	// Strict ends the run at the first entry that cannot be followed; see [Keys.Err].
	//
	// Without Strict, an entry whose action is not enabled is skipped. For an entry with Default, the default action is
	// taken. A pick without an entry, or with a value that is out of range, returns 0.
	Strict bool

	entries Schedule
	pos     int
	err     *Mismatch
}

// Mismatch reports an entry of the schedule that the run cannot follow.
type Mismatch struct {
	Entry   int      // number of the entry in the schedule, from 1
	Step    int      // step of the run
	Want    string   // the entry in the format of [Entry.String]
	Enabled []string // the enabled actions, or the pick that the program asked for instead
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("entry %d, step %d: %q cannot be taken: the enabled actions are %s",
		m.Entry, m.Step, m.Want, strings.Join(m.Enabled, ", "))
}

// Replay returns choices that follow a schedule exactly.
func Replay(s Schedule) *Keys { return &Keys{Strict: true, entries: s} }

// Follow returns choices that follow a schedule as far as possible.
func Follow(s Schedule) *Keys { return &Keys{entries: s} }

// Err returns the first mismatch of a strict replay, or nil. Entries that the run has not reached count as mismatches.
func (k *Keys) Err() error {
	if k.err != nil {
		return k.err
	}
	if k.Strict && k.pos < len(k.entries) {
		return &Mismatch{Entry: k.pos + 1, Step: k.entries[k.pos].Step,
			Want: k.entries[k.pos].String(), Enabled: []string{"none: the run was over"}}
	}
	return nil
}

// Len returns the number of entries.
func (k *Keys) Len() int { return len(k.entries) }

// Done reports whether all entries were taken or skipped. All later choices are defaults.
func (k *Keys) Done() bool { return k.pos >= len(k.entries) }

// Ended reports whether a mismatch ended the run.
func (k *Keys) Ended() bool { return k.err != nil }

// Pick returns the recorded value if the next entry is for this pick. Otherwise it returns 0.
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

// Next returns the index of the recorded action. At the end of the schedule it returns the default; at a mismatch, -1.
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
