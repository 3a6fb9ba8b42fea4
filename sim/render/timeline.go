package render

import (
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Line is one line of a timeline: a write, a refusal or a run of equal
// refusals, a fault, or any other record that broke a law.
type Line struct {
	N       int           `json:"n"` // from 1
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to"` // of the last of equal refusals; From otherwise
	Who     string        `json:"who"`
	Verb    string        `json:"verb"`
	Object  string        `json:"object"`
	Detail  string        `json:"detail,omitempty"`
	Count   int           `json:"count"` // records in the line
	Write   bool          `json:"write"`
	Refused bool          `json:"refused"`
	Stale   bool          `json:"stale,omitempty"` // the actor had an older version of the object
	Breaks  []string      `json:"breaks,omitempty"`

	Records []int `json:"records"` // indices in the history
}

// Options of a timeline.
type Options struct {
	From, To int  // records [From, To); To zero means all
	Verbose  bool // noise too
	Breaches []Breach
	Skip     func(r *sim.Record) bool // records to leave out; nil for none
}

// Timeline makes the lines of a part of a history. Equal refusals are one line
// as long as no write comes between them. Lines are numbered from 1.
func Timeline(h *sim.History, f Facts, o Options) []Line {
	if o.To == 0 || o.To > h.Len() {
		o.To = h.Len()
	}
	broken := map[int][]string{}
	for _, b := range o.Breaches {
		broken[b.Record] = append(broken[b.Record], b.String())
	}
	var lines []Line
	fresh := 0 // lines from here on are refusals since the last write
	for i := o.From; i < o.To; i++ {
		r := h.At(i)
		if r == nil || o.Skip != nil && o.Skip(r) || replaced(h, r, broken[i]) {
			continue
		}
		l, ok := lineOf(r, f, o.Verbose, broken[i])
		if !ok {
			continue
		}
		if l.Refused && merge(lines[fresh:], l) {
			continue
		}
		l.N = len(lines) + 1
		lines = append(lines, l)
		if !l.Refused {
			fresh = len(lines)
		}
	}
	return lines
}

// replaced reports whether the record is the first half of a removal: the
// deletion was asked for and the object removed in one step.
func replaced(h *sim.History, r *sim.Record, breaks []string) bool {
	next := h.At(r.Index + 1)
	return len(breaks) == 0 && next != nil && r.Op == sim.Commit && next.Op == sim.Commit && next.After == nil &&
		next.Step == r.Step && next.Object == r.Object && next.Verb == r.Verb && r.Before != nil
}

// lineOf makes the line of one record, if it deserves one.
func lineOf(r *sim.Record, f Facts, verbose bool, breaks []string) (Line, bool) {
	l := Line{From: r.At, To: r.At, Who: Who(r), Verb: r.Verb, Count: 1, Breaks: breaks, Records: []int{r.Index}}
	if !r.Object.IsZero() {
		l.Object = r.Object.String()
	}
	show := len(breaks) > 0
	switch r.Op {
	case sim.Commit:
		c := f.Change(r)
		l.Verb, l.Detail, l.Write, l.Stale = c.Verb, c.Detail, true, r.Stale()
		if r.Lost {
			l.Detail = join(l.Detail, "response lost")
		}
		show = show || verbose || !c.Noise
	case sim.Refusal:
		l.Refused = true
		l.Detail = f.Refusal(r)
		show = true
	case sim.FaultHit:
		l.Detail = r.Reason
		show = show || !quietFault(r.Verb)
	case sim.Stuck:
		l.Verb, l.Detail, show = "stuck", r.Message, true
	case sim.Mutation:
		l.Verb, l.Detail = "mutates", r.Message
	default:
		l.Detail = r.Message
	}
	return l, show
}

// quietFault: faults that are steps of a script and stand there already.
func quietFault(verb string) bool {
	switch verb {
	case "synced", "hold", "release", "switch", "start", "stop", "duplicate", "downgrade-server":
		return true
	}
	return false
}

// Who says who acted: the object being synced, with the instance's number
// where there is more than one, or else the process.
func Who(r *sim.Record) string {
	if r.For.IsZero() {
		return r.Process
	}
	if _, n, ok := strings.Cut(r.Process, "#"); ok {
		return r.For.String() + "#" + n
	}
	return r.For.String()
}

// merge adds a refusal to an equal one.
func merge(lines []Line, l Line) bool {
	for i := range lines {
		m := &lines[i]
		if m.Refused && m.Who == l.Who && m.Verb == l.Verb && m.Object == l.Object && m.Detail == l.Detail &&
			len(m.Breaks) == 0 && len(l.Breaks) == 0 {
			m.Count++
			m.To = l.From
			m.Records = append(m.Records, l.Records...)
			return true
		}
	}
	return false
}

// Text renders lines as they stand beneath a step.
func Text(lines []Line) string {
	t := Table{Indent: "", Max: []int{4, 24, 28, 16, 34}}
	for i := range lines {
		t.Add(lines[i].cells()...)
	}
	return t.String()
}

func (l *Line) cells() []string {
	return []string{right(l.N, 3), l.time(), l.Who, l.Verb, l.Object, l.what()}
}

// time is the line's time since the start, a range for several records.
func (l *Line) time() string {
	if l.To == l.From {
		return l.From.String()
	}
	return l.From.String() + ".." + l.To.String()
}

// what is the line's last column.
func (l *Line) what() string {
	s := l.Detail
	if l.Refused {
		s = "refused"
		if l.Count > 1 {
			s += " x" + itoa(l.Count)
		}
		if l.Detail != "" {
			s += ": " + l.Detail
		}
	}
	for _, b := range l.Breaks {
		s = join(s, b)
	}
	return s
}

// Counts returns the number of writes and refusals in the lines.
func Counts(lines []Line) (writes, refusals int) {
	for i := range lines {
		switch {
		case lines[i].Write:
			writes += lines[i].Count
		case lines[i].Refused:
			refusals += lines[i].Count
		}
	}
	return writes, refusals
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
