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
}

// MarkOf makes what a law found fit to be shown.
func MarkOf(b law.Breach) Mark {
	return Mark{Record: b.Record, Law: b.Law.Name, Sentence: b.Law.Sentence, Source: b.Law.Source,
		Text: WithoutUIDs(b.Text), Race: b.Strength == law.Committed, Cycle: b.Cycle}
}

// aboutStatus are the laws that at rest are broken by what a status says.
var aboutStatus = []string{"dont-share", "exact-status"}

// concluded matches a change of a status by which a controller says that it has done with an object, or gives up.
var concluded = regexp.MustCompile(`\b(conditions|phase|state)\b`)

// about tells which writes the breach is about, though they are not of those that
// a story is made of otherwise: those of a status that is wrong or may be, those by which an owner
// that lacks dependents was done with, and those of a fight in which nothing but status is written.
func (b *Mark) about(h *sim.History) func(r *sim.Record) bool {
	silent := !slices.ContainsFunc(b.Cycle, func(i int) bool {
		r := h.At(i)
		return r == nil || r.Op == sim.Commit && !ChangeOf(r).Noise
	})
	return func(r *sim.Record) bool {
		named := strings.Contains(" "+b.Text+" ", " "+r.Object.String()+" ")
		return silent && slices.Contains(b.Cycle, r.Index) ||
			named && (slices.Contains(aboutStatus, b.Law) || b.Source == "an invariant") ||
			named && b.Law == "exact-sum" && r.Op == sim.Commit && concluded.MatchString(ChangeOf(r).Detail)
	}
}

// String renders the breach as it stands in a timeline.
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
