package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/sim"
)

// EntryKind is the kind of a decision.
type EntryKind uint8

const (
	Take  EntryKind = iota // take an enabled action
	Leave                  // only faults were enabled, and none was taken
	Pick                   // pick a value, not an action
)

// Entry is one decision of a schedule.
type Entry struct {
	Kind   EntryKind
	Action sim.Action // for Take: the action
	Value  int        // for Pick: the value
	Label  string     // for Pick: the purpose of the value
	Step   int        // the step of the decision; for Leave, the last step before the decision
	// Default means that the decision was the default. [Follow] then takes the default of its own run.
	Default bool
}

// String formats the entry for files: the action's key, "leave", or "pick 2 name".
func (e Entry) String() string {
	switch e.Kind {
	case Leave:
		return "leave"
	case Pick:
		return strings.TrimRight("pick "+strconv.Itoa(e.Value)+" "+e.Label, " ")
	}
	return e.Action.Key()
}

// Fault reports whether the entry takes a fault.
func (e Entry) Fault() bool { return e.Kind == Take && e.Action.Class == sim.Fault }

// ParseEntry parses the format of [Entry.String].
func ParseEntry(s string) (Entry, error) {
	if s == "leave" {
		return Entry{Kind: Leave}, nil
	}
	if rest, ok := strings.CutPrefix(s, "pick "); ok {
		value, label, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return Entry{}, fmt.Errorf("%q: a pick is written \"pick NUMBER LABEL\"", s)
		}
		return Entry{Kind: Pick, Value: n, Label: label}, nil
	}
	a, ok := sim.ParseKey(s)
	if !ok {
		class, _, _ := strings.Cut(s, " ")
		if n := nearest.Word(class, append(classNames(), "leave", "pick")); n != "" && n != class {
			return Entry{}, fmt.Errorf("%q: not an action: unknown class %s; did you mean %s?", s, class, n)
		}
		return Entry{},
			fmt.Errorf("%q: not an action: write \"CLASS ACTOR DETAIL\" with one of the classes %s, or \"leave\", or "+
				"\"pick NUMBER LABEL\"", s, classes())
	}
	return Entry{Action: a}, nil
}

func classes() string { return strings.Join(classNames(), ", ") }

func classNames() []string {
	var names []string
	for c := sim.Respond; c <= sim.Fault; c++ {
		names = append(names, c.String())
	}
	return names
}

// Schedule lists the decisions of a run in order. After its end, decisions are the default.
type Schedule []Entry

// Keys formats the entries for files.
func (s Schedule) Keys() []string {
	keys := make([]string, len(s))
	for i, e := range s {
		keys[i] = e.String()
	}
	return keys
}

// Deviations returns the number of entries that are not the default. In a parsed schedule all entries count, because
// the text does not contain which decisions were the default.
func (s Schedule) Deviations() int {
	n := 0
	for _, e := range s {
		if !e.Default {
			n++
		}
	}
	return n
}

// Faults counts the faults taken.
func (s Schedule) Faults() int {
	n := 0
	for _, e := range s {
		if e.Fault() {
			n++
		}
	}
	return n
}

// Decided returns the schedule up to the last entry that is not the default. The entries after it are not needed.
func (s Schedule) Decided() Schedule {
	n := len(s)
	for n > 0 && s[n-1].Default {
		n--
	}
	return s[:n]
}
