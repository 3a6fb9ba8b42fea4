// Package render formats histories as text: the timeline of a scenario, the page of a failing run, the cycle of a
// fight, and ownership as a tree or in DOT. By default, text fits into 100 columns. It contains no UIDs and resource
// versions, so that a schedule has the same text in every run.
//
// The package knows only the metadata of objects, mainly the owners ([Owners]). It shows other changes as differences
// between two versions of an object.
package render

import (
	"regexp"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Page describes a failing run: the violated law, the timeline with causes, the errors of the processes, and the owners
// before and after the violation. It also has the size of the run, and the command that replays the run.
type Page struct {
	Title     string  `json:"title"` // the title of the scenario
	Violation Mark    `json:"violation"`
	Lines     []Line  `json:"lines"`
	Errors    []Error `json:"errors,omitempty"` // errors of reconciles whose keys did not succeed later

	Printed []Printed `json:"printed,omitempty"` // the last output of hosted programs; set by the caller

	Before string `json:"before"` // ownership trees before and after the violation
	After  string `json:"after"`

	// The size of the minimized failure: "2 of 40 choices differ from the default schedule; minimal".
	Small   string `json:"small,omitempty"`
	Replay  string `json:"replay,omitempty"`  // the command that replays the run
	Picture string `json:"picture,omitempty"` // the command that draws the run; set by Draw
	HTML    string `json:"html,omitempty"`    // the file that shows the run

	history sim.History // the history that the page shows
	options Options     // the options for Lines

	broken int             // index of the violating line in Lines; -1 for none
	about  map[string]bool // names of the objects that the failure concerns
	drawn  bool            // a picture would have at least one edge
	heads  [2]int          // the line numbers in the headings of the two trees
}

// NewPage returns the page of a violation. Records before the index from are the initial world, which is not shown. The
// caller sets Title, Printed, Small, Replay and HTML, and calls [Page.Draw].
func NewPage(h *sim.History, b Mark, from int) *Page {
	to := b.Record + 1
	for _, r := range b.Cycle {
		to = max(to, r+1)
	}
	for h.At(to) != nil && h.At(to).Step == h.At(to-1).Step {
		to++ // include the whole step
	}
	p := &Page{Violation: b, broken: -1, history: *h}
	p.options = Options{From: min(from, b.Record), To: to, Others: true,
		Violations: []Mark{{Record: b.Record, Law: b.Law, Text: b.Text, Race: b.Race}}, Also: b.about(&p.history)}
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

// Object returns the object in the violating line. Without such a line, for example for a settled world, it returns "".
func (p *Page) Object() string {
	if p.broken < 0 {
		return ""
	}
	return p.Lines[p.broken].Object
}

// Run returns the page's history, the index of the first shown record, and the timeline until the history's end. The
// lines have the same numbers as on the page.
func (p *Page) Run() (h *sim.History, first int, lines []Line) {
	o := p.options
	o.To = 0
	lines = Timeline(&p.history, o)
	Explain(&p.history, lines)
	return &p.history, o.From, lines
}

// Mark is a violation of a law, for display.
type Mark struct {
	Record   int    `json:"record"`           // index of the violating record
	Law      string `json:"law"`              // the law's name: "dont-interfere"
	Sentence string `json:"sentence"`         // the law's sentence
	Source   string `json:"source,omitempty"` // the source of the law
	Text     string `json:"text,omitempty"`   // what happened: "owned by rs/web-b"
	Race     bool   `json:"race,omitempty"`   // a lost race: the write was right for the old state that the actor had read
	Cycle    []int  `json:"cycle,omitempty"`  // for a fight: the indexes of the records in its cycle

	Invariant bool `json:"-"` // the law is an invariant of a user; it may concern any field
}

// MarkOf converts a violation.
func MarkOf(b law.Violation) Mark {
	return Mark{Record: b.Record, Law: b.Law.Name, Sentence: b.Law.Sentence, Source: b.Law.Source,
		Text: WithoutUIDs(b.Text), Race: b.Strength == law.Committed, Cycle: b.Cycle,
		Invariant: b.Law.IsInvariant()}
}

// aboutStatus lists the laws that a settled world with a wrong status violates.
var aboutStatus = []string{"dont-share", "exact-status"}

// concluded matches the text of a status change with which a controller completes an object or gives up.
var concluded = regexp.MustCompile(`\b(conditions|phase|state)\b`)

// about returns a function that reports whether to show a write that timelines usually hide: a write of a wrong status,
// the completion of an owner that lacks dependents, or a write of a fight that has only status writes.
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

// span returns the range of records between the two trees. first is the index of the first record of the violation or
// its cycle. last is the index after the violation's step.
func (p *Page) span(h *sim.History) (first, last int) {
	r := h.At(p.Violation.Record)
	first = r.Index
	for _, i := range p.Violation.Cycle {
		if h.At(i) != nil {
			first = min(first, i)
		}
	}
	if w := p.lastWrite(); r.Op == sim.Settled && w != nil {
		first = min(first, w.Records[0]) // in a settled world, the tree shows the state before the last write
	}
	last = r.Index + 1
	for h.At(last) != nil && h.At(last).Step == r.Step {
		last++
	}
	return first, last
}

func (p *Page) lastWrite() *Line {
	for i := len(p.Lines) - 1; i >= 0; i-- {
		if p.Lines[i].Write {
			return &p.Lines[i]
		}
	}
	return nil
}

// trees formats the objects related to the violation, as they were before it and after it.
func (p *Page) trees(h *sim.History) {
	r := h.At(p.Violation.Record)
	if r == nil {
		return
	}
	first, last := p.span(h)
	before, after := Objects(h, first), Objects(h, last)
	refs := p.concerned(h, r, append(slices.Clone(before), after...))
	p.concern(h, refs)
	x, y := Related(before, refs...), Related(after, refs...)
	if len(x)+len(y) == 0 {
		x, y = before, after
	}
	if len(x)+len(y) == 0 {
		return // the world is empty
	}
	p.Before, p.After = pane(x, "(not created yet)"), pane(y, "(gone)")
	p.heads = [2]int{p.Step(), p.Step()}
	for i := range p.Lines {
		if rs := p.Lines[i].Records; rs[len(rs)-1] >= first {
			p.heads[0] = min(p.heads[0], p.Lines[i].N)
			break
		}
	}
	p.drawn = len(p.Violation.Cycle) > 0 ||
		slices.ContainsFunc(Objects(h, h.Len()), func(o Object) bool { return len(o.Owners) > 0 })
}

func pane(objs []Object, none string) string {
	if len(objs) == 0 {
		return none + "\n"
	}
	return Tree(objs)
}

// concerned lists the objects in the violation's records and text, and the owners of these objects.
func (p *Page) concerned(h *sim.History, r *sim.Record, objs []Object) []sim.Ref {
	refs := []sim.Ref{r.Object, r.For}
	for _, i := range p.Violation.Cycle {
		if c := h.At(i); c != nil {
			refs = append(refs, c.Object, c.For)
		}
	}
	refs = slices.DeleteFunc(refs, sim.Ref.IsZero)
	words := strings.FieldsFunc(p.Violation.Text, func(c rune) bool { return strings.ContainsRune(" ,;:()", c) })
	for _, o := range objs {
		if slices.Contains(words, o.Ref.String()) {
			refs = append(refs, o.Ref)
		}
	}
	for i, ref := range refs { // the reference in a refused request may have no UID
		for _, o := range objs {
			if ref.UID == "" && o.Ref.Kind == ref.Kind && o.Ref.Key() == ref.Key() {
				refs[i] = o.Ref
			}
		}
	}
	return append(refs, ownersAmong(objs, refs)...)
}

// ownersAmong returns the owners of the objects in refs, so that both trees show them.
func ownersAmong(objs []Object, refs []sim.Ref) []sim.Ref {
	var owners []sim.Ref
	for _, o := range objs {
		if !slices.Contains(refs, o.Ref) {
			continue
		}
		for _, w := range o.Owners {
			owners = append(owners, w.Ref)
		}
	}
	return owners
}
