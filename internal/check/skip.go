package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// Names are those of the cases of every controller, in their order.
var Names = []string{"one-owner", "faults", "two-owners", "two-instances", "new-owner", "edit", "removed", "scale", "orphan",
	"somebody-elses",
	"rival-for-an-orphan", "terminating-orphan", "dependent-deleted", "dependent-unseen", "relabelled", "released-and-gone", "reference-taken-away",
	"name-taken", "replaced", "deleted/background", "deleted/foreground", "deleted/orphan", "deleted/early",
	"deleted/unseen", "recreated/background", "recreated/foreground", "recreated/orphan", "held", "terminating", "restored"}

// ending are the laws that end a run in any case: they cannot be skipped.
var ending = []string{law.ComeToRest, "NOFIGHT-1", "EXACT-7b"}

// CheckSkip looks at what is to be skipped; own are the IDs of invariants. The error is a [Mistake] of the field Skip.
func CheckSkip(skip map[string]string, own ...string) error {
	var laws []string
	for _, l := range law.All() {
		laws = append(laws, l.Name)
	}
	laws = append(append(laws, own...), differentValues)
	for _, name := range slices.Sorted(maps.Keys(skip)) {
		l := slices.IndexFunc(law.All(), func(l *law.Law) bool { return l.Name == name })
		switch {
		case !slices.Contains(Names, name) && !slices.Contains(laws, name):
			text := "there is no case and no law " + name
			if n := nearest.Word(name, slices.Concat(Names, laws)); n != "" {
				text += "; did you mean " + n + "?"
			} else {
				text += "; the cases are " + strings.Join(Names, ", ")
			}
			return mistake("Skip", "%s", text)
		case l >= 0 && slices.Contains(ending, law.All()[l].ID):
			return mistake("Skip", "%s ends a run in any case: accept what is known of it", name)
		case strings.TrimSpace(skip[name]) == "":
			return mistake("Skip", "%s is skipped without a reason", name)
		}
	}
	return nil
}

// Accept is a known finding: it is printed, and fails nothing.
type Accept struct {
	Law    string `yaml:"law" json:"law"`
	Case   string `yaml:"case" json:"case,omitempty"`     // "" for each
	Object string `yaml:"object" json:"object,omitempty"` // part of what is said of it, as "svc/web"; "" for any
	Reason string `yaml:"reason" json:"reason"`
}

// Check looks at what an entry says; own are the IDs of invariants. The error is a mistake in it, in one line.
func (a *Accept) Check(own ...string) error {
	var laws []string
	for _, l := range law.All() {
		laws = append(laws, l.Name)
	}
	laws = append(append(laws, own...), differentValues)
	for _, w := range []struct {
		what, word string
		valid      []string
	}{{"law", a.Law, laws}, {"case", a.Case, append([]string{""}, Names...)}} {
		if slices.Contains(w.valid, w.word) {
			continue
		}
		if n := nearest.Word(w.word, w.valid); n != "" {
			return mistake("", "unknown %s %s; did you mean %s?", w.what, w.word, n)
		}
		return mistake("", "unknown %s %s", w.what, w.word)
	}
	if strings.TrimSpace(a.Reason) == "" {
		return mistake("", "%s is accepted without a reason", a.Law)
	}
	return nil
}

// Is reports whether a violation in a case is the known one.
func (a *Accept) Is(in string, f *scenarios.Counterexample) bool {
	return a.Law == f.Law && (a.Case == "" || a.Case == in) && strings.Contains(f.Said(), a.Object)
}
