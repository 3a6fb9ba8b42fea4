package render

import (
	"github.com/threelaws/threelaws/sim"
)

// Page describes a failing run: the law with its sentence and source, the timeline with its causes, the errors of its
// processes, owners before and after, how small the run is, and how to run it again.
type Page struct {
	Title  string  `json:"title"` // of the scenario
	Breach Mark    `json:"breach"`
	Lines  []Line  `json:"lines"`
	Errors []Error `json:"errors,omitempty"` // those of keys that had not been synced without one since

	Printed []Printed `json:"printed,omitempty"` // by whole programs, filled in by the caller

	Before string `json:"before"` // ownership trees around the broken law
	After  string `json:"after"`

	// "fails at step 5, found at 61; 2 of 40 choices differ from the default schedule; minimal"
	Small   string `json:"small,omitempty"`
	Replay  string `json:"replay,omitempty"`  // the command that runs it again
	Picture string `json:"picture,omitempty"` // the command that draws it, set by Draw
	HTML    string `json:"html,omitempty"`    // the file that shows it

	history sim.History // when the page was made
	options Options     // of Lines

	broken int             // position in Lines
	about  map[string]bool // the names of the objects that the failure is about
	drawn  bool            // a picture would show an edge
	heads  [2]int          // the lines that Before and After refer to
}

// NewPage makes the page of a violation from its history. Records before from are the initial world and are not shown.
// The caller fills in Title, Small, Replay and Picture.
func NewPage(h *sim.History, b Mark, from int) *Page {
	to := b.Record + 1
	for _, r := range b.Cycle {
		to = max(to, r+1)
	}
	for h.At(to) != nil && h.At(to).Step == h.At(to-1).Step {
		to++ // include the whole step of the violation
	}
	p := &Page{Breach: b, broken: -1, history: *h}
	p.options = Options{From: min(from, b.Record), To: to, Others: true,
		Breaches: []Mark{{Record: b.Record, Law: b.Law, Text: b.Text, Race: b.Race}}, Also: b.about(&p.history)}
	p.Lines = Timeline(h, p.options)
	Explain(h, p.Lines)
	for i := range p.Lines {
		if len(p.Lines[i].Breaks) > 0 {
			p.broken = i
		}
	}
	p.Errors = ErrorsBefore(h, to)
	p.trees(h)
	return p
}

// Object returns the object of the violating line; "" for none, as after a settle.
func (p *Page) Object() string {
	if p.broken < 0 {
		return ""
	}
	return p.Lines[p.broken].Object
}

// Run returns the history of the page, the first shown record, and the timeline up to the history's end, numbered like
// the page's.
func (p *Page) Run() (h *sim.History, first int, lines []Line) {
	o := p.options
	o.To = 0
	lines = Timeline(&p.history, o)
	Explain(&p.history, lines)
	return &p.history, o.From, lines
}
