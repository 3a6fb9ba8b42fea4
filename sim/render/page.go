package render

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Page is what a failing run shows: the law, its sentence and source, the
// timeline with its causes, owners before and after, how small the run is, and
// how to run it again.
type Page struct {
	Title  string `json:"title"` // of the scenario
	Breach Breach `json:"breach"`
	Lines  []Line `json:"lines"`
	Why    []Row  `json:"why"` // one for each line

	Before string `json:"before"` // ownership trees around the broken law
	After  string `json:"after"`

	Small   string `json:"small,omitempty"`   // "5 of 61 steps kept; 2 of 140 choices differ from the default schedule"
	Replay  string `json:"replay,omitempty"`  // the command that runs it again
	Picture string `json:"picture,omitempty"` // the command that draws it

	broken int // position in Lines
}

// Row is what the page says of a line beyond the timeline.
type Row struct {
	Mark    string `json:"mark"` // "!" broke the law, "~" acted on a stale view, ""
	Because string `json:"because"`
}

// NewPage makes the page of a breach from the history that holds it. Records
// before from are the initial world and are not shown. The caller fills in
// Title, Small, Replay and Picture.
func NewPage(h *sim.History, b Breach, from int) *Page {
	to := b.Record + 1
	for _, r := range b.Cycle {
		to = max(to, r+1)
	}
	for h.At(to) != nil && h.At(to).Step == h.At(to-1).Step {
		to++ // the whole of the step that broke it
	}
	p := &Page{Breach: b, broken: -1}
	p.Lines = Timeline(h, Options{From: min(from, b.Record), To: to, Others: true, Breaches: []Breach{{Record: b.Record, Law: b.Law, Text: b.Text, Race: b.Race}}})
	c := newCauses(h, p.Lines)
	p.Why = make([]Row, len(p.Lines))
	for i := range p.Lines {
		l := &p.Lines[i]
		p.Why[i].Because = c.because(l)
		switch {
		case len(l.Breaks) > 0:
			p.Why[i].Mark, p.broken = "!", i
		case c.acted(l):
			p.Why[i].Mark = "~"
		}
	}
	p.trees(h)
	return p
}

// trees draws the objects related to the broken law before and after the last
// write up to it.
func (p *Page) trees(h *sim.History) {
	r := h.At(p.Breach.Record)
	if r == nil {
		return
	}
	refs := []sim.Ref{r.Object, r.For}
	first := r.Index
	for _, i := range p.Breach.Cycle {
		if c := h.At(i); c != nil {
			refs = append(refs, c.Object, c.For)
			first = min(first, i)
		}
	}
	last := r.Index + 1
	for h.At(last) != nil && h.At(last).Step == r.Step {
		last++
	}
	before, after := Objects(h, first), Objects(h, last)
	refs = append(refs, ownersAmong(before, refs)...)
	refs = append(refs, ownersAmong(after, refs)...)
	p.Before, p.After = Tree(Related(before, refs...)), Tree(Related(after, refs...))
}

// ownersAmong lists what owns the given objects, so that both trees show it.
func ownersAmong(objs []Object, refs []sim.Ref) []sim.Ref {
	var owners []sim.Ref
	for _, o := range objs {
		for _, r := range refs {
			if o.Ref != r {
				continue
			}
			for _, w := range o.Owners {
				owners = append(owners, w.Ref)
			}
		}
	}
	return owners
}

// Text renders the page.
func (p *Page) Text() string {
	var b strings.Builder
	if p.Title != "" {
		b.WriteString("--- FAIL: " + p.Title + "\n")
	}
	n := p.Step()
	word := "broken"
	if p.Breach.Race {
		word = "lost to a race"
	}
	fmt.Fprintf(&b, "    %s %s at step %d\n", p.Breach.Law, word, n)
	p.sentence(&b)
	b.WriteByte('\n')
	p.timeline(&b)
	if cycle := p.cycle(); cycle != "" {
		b.WriteString("\n    " + cycle + "\n")
	}
	if p.Before != "" {
		b.WriteByte('\n')
		first := n
		if k, _, ok := Numbers(p.Lines, p.Breach.Cycle); ok {
			first = k
		}
		heads := [2]string{fmt.Sprintf("owners before step %d", first), fmt.Sprintf("owners after step %d", n)}
		b.WriteString(indent(Beside(heads[0], indent(p.Before, "  "), heads[1], indent(p.After, "  ")), "    "))
	}
	b.WriteByte('\n')
	for _, line := range []string{p.Small, label("replay: ", p.Replay), label("picture: ", p.Picture)} {
		if line != "" {
			b.WriteString("    " + line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Step is the number of the line that broke the law, 0 when there is none.
func (p *Page) Step() int {
	if p.broken < 0 || p.broken >= len(p.Lines) {
		return 0
	}
	return p.Lines[p.broken].N
}

// Short renders the timeline alone, without causes.
func (p *Page) Short() string { return Text(p.Lines) }

func label(name, text string) string {
	if text == "" {
		return ""
	}
	return name + text
}

func (p *Page) sentence(b *strings.Builder) {
	text := p.Breach.Sentence
	if p.Breach.Source != "" {
		text += " (" + p.Breach.Source + ")"
	}
	for rest := text; rest != ""; {
		var first string
		first, rest = fold(rest, Width-4)
		b.WriteString("    " + first + "\n")
	}
}

// timeline lays out the lines with their causes beside them, or beneath them
// where names are long.
func (p *Page) timeline(b *strings.Builder) {
	for _, change := range []int{44, 24} {
		if t := p.table(true, change); t.left() >= 18 {
			b.WriteString(t.String())
			return
		}
	}
	b.WriteString(p.table(false, 0).String())
}

// table is the timeline with the column of changes at most so wide.
func (p *Page) table(beside bool, change int) *Table {
	t := &Table{Indent: "    ", Max: []int{0, 0, 0, 0, 0, 0, change}, Fold: true}
	head := []string{"", "step", "at", "who", "did", "what", "change", "because"}
	if !beside {
		t.Fold, t.Max = false, nil
		head = head[:7]
	}
	t.Add(head...)
	for i := range p.Lines {
		l, why := &p.Lines[i], p.Why[i]
		row := []string{why.Mark, right(l.N, 4), l.time(), l.Who, l.Verb, l.Object, l.did()}
		if beside {
			row = append(row, why.Because)
		}
		t.Add(row...)
		if !beside && why.Because != "" {
			t.Note("      because " + why.Because)
		}
		for _, broken := range l.Breaks {
			t.Note("      " + broken)
		}
	}
	return t
}

// cycle says which lines repeat, for a fight.
func (p *Page) cycle() string {
	if len(p.Breach.Cycle) == 0 {
		return ""
	}
	first, last, ok := Numbers(p.Lines, p.Breach.Cycle)
	if !ok {
		return ""
	}
	return "the fight: " + Span(first, last) + ", for ever"
}

// Span words a range of lines: "step 4", "steps 4-5".
func Span(first, last int) string {
	if first == last {
		return "step " + itoa(first)
	}
	return "steps " + itoa(first) + "-" + itoa(last)
}
