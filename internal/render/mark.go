package render

import (
	"regexp"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Mark is one violation of one law, for display.
type Mark struct {
	Record   int    `json:"record"`           // index of the record that broke it
	Law      string `json:"law"`              // "dont-interfere"
	Sentence string `json:"sentence"`         // what must hold
	Source   string `json:"source,omitempty"` // where that is said
	Text     string `json:"text,omitempty"`   // "owned by rs/web-b"
	Race     bool   `json:"race,omitempty"`   // lawful for what the actor knew, not for the state it landed on
	Cycle    []int  `json:"cycle,omitempty"`  // a fight: the records of its cycle

	Invariant bool `json:"-"` // an invariant is violated, which may be about any field
}

// MarkOf makes a mark from a violation.
func MarkOf(b law.Breach) Mark {
	return Mark{Record: b.Record, Law: b.Law.Name, Sentence: b.Law.Sentence, Source: b.Law.Source,
		Text: WithoutUIDs(b.Text), Race: b.Strength == law.Committed, Cycle: b.Cycle,
		Invariant: b.Law.IsInvariant()}
}

// aboutStatus are the laws that a wrong status violates when the world has settled.
var aboutStatus = []string{"dont-share", "exact-status"}

// concluded matches a status change by which a controller finishes an object, or gives up.
var concluded = regexp.MustCompile(`\b(conditions|phase|state)\b`)

// about returns which otherwise hidden writes the violation is about: those of a wrong status, those that finished an
// owner without its dependents, and those of a fight over status only.
func (b *Mark) about(h *sim.History) func(r *sim.Record) bool {
	silent := !slices.ContainsFunc(b.Cycle, func(i int) bool {
		r := h.At(i)
		return r == nil || r.Op == sim.Commit && !ChangeOf(r).Noise
	})
	return func(r *sim.Record) bool {
		named := strings.Contains(" "+b.Text+" ", " "+r.Object.String()+" ")
		return silent && slices.Contains(b.Cycle, r.Index) ||
			named && (slices.Contains(aboutStatus, b.Law) || b.Invariant) ||
			named && b.Law == "exact-sum" && r.Op == sim.Commit && concluded.MatchString(ChangeOf(r).Detail)
	}
}

// String formats the violation as in a timeline.
func (b Mark) String() string {
	word := "VIOLATES "
	if b.Race {
		word = "RACES "
	}
	if b.Text == "" {
		return word + b.Law
	}
	return word + b.Law + ": " + b.Text
}
