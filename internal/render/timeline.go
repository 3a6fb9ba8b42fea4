package render

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Line is a line of a timeline. It shows a write, equal refusals, a fault, or another record that violates a law.
type Line struct {
	N       int           `json:"n"` // the number of the line, from 1
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to"` // the time of the last of several refusals, otherwise From
	Who     string        `json:"who"`
	Verb    string        `json:"verb"`
	Object  string        `json:"object"`
	Detail  string        `json:"detail,omitempty"`
	Count   int           `json:"count"` // the number of equal refusals; 1 for other lines
	Write   bool          `json:"write"`
	Refused bool          `json:"refused"`
	// Stale means that the actor used an old version of this object, or of the object that it reconciles.
	Stale  bool     `json:"stale,omitempty"`
	Breaks []string `json:"breaks,omitempty"`

	// Because describes outdated state that the actor used, and the line that triggered this one. [Explain] sets it.
	Because string `json:"because,omitempty"`

	Records []int `json:"records"` // the indexes of the line's records in the history

	more  int    // the number of equal refusals that a short story leaves out
	shape string // Detail without field values; "" if there is none
}

// Options select the records of a timeline.
type Options struct {
	From, To   int  // half-open range of records; if To is 0, to the end
	Verbose    bool // include commits with [Change.Noise]
	Violations []Mark
	Others     bool                     // include other records that violate a law, such as deliveries
	Skip       func(r *sim.Record) bool // if not nil, returns true for a record to leave out
	Also       func(r *sim.Record) bool // if not nil, returns true for a commit to include without Verbose
}

// Timeline returns the lines for a part of a history. Equal refusals without a write between them share a line.
func Timeline(h *sim.History, o Options) []Line {
	if o.To == 0 || o.To > h.Len() {
		o.To = h.Len()
	}
	broken := map[int][]string{}
	for _, b := range o.Violations {
		broken[b.Record] = append(broken[b.Record], b.String())
	}
	who, views := CastOf(h), viewsOf(h, o.To)
	var lines []Line
	var halves []int // records that the next record makes redundant; see [Replaced]
	fresh := 0       // index of the first line after the last write; all later lines are refusals
	for i := o.From; i < o.To; i++ {
		r := h.At(i)
		if r == nil || o.Skip != nil && o.Skip(r) {
			continue
		}
		if Replaced(h, r) {
			halves = append(halves, i)
			continue
		}
		l, ok := lineOf(r, o.Verbose)
		l.Who = who.Actor(r)
		l.Stale = views.stale(h.At(append(halves, i)[0]))
		for _, k := range halves {
			l.Breaks = append(l.Breaks, broken[k]...)
		}
		l.Breaks = unique(append(l.Breaks, broken[i]...))
		l.Records = append(halves, l.Records...)
		halves = nil
		ok = ok || o.Also != nil && r.Op == sim.Commit && o.Also(r)
		if n := len(l.Breaks); !ok && (n == 0 || !o.Others && r.Op != sim.Commit) {
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

func unique(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Replaced reports whether the next record says the same as r, and more. For example, a deletion request is followed by
// the deletion, and a crash by the restart.
func Replaced(h *sim.History, r *sim.Record) bool {
	next := h.At(r.Index + 1)
	if next == nil || next.Op != r.Op || next.Step != r.Step {
		return false
	}
	switch r.Op {
	case sim.Commit:
		return next.After == nil && next.Object == r.Object && next.Verb == r.Verb && r.Before != nil
	case sim.FaultHit:
		return r.Verb == "crash" && next.Process == r.Process
	}
	return false
}

// lineOf returns the line for a record. The second result is false if the record gets no line.
func lineOf(r *sim.Record, verbose bool) (Line, bool) {
	l := Line{From: r.At, To: r.At, Verb: r.Verb, Count: 1, Records: []int{r.Index}}
	if !r.Object.IsZero() {
		l.Object = strings.TrimSuffix(r.Object.String(), "/") // a refused create with generateName has no name
	}
	show := false
	switch r.Op {
	case sim.Commit:
		c := ChangeOf(r)
		l.Verb, l.Detail, l.Write, l.shape = c.Verb, c.Detail, true, c.shape
		if r.Lost {
			l.Detail = join(l.Detail, "response lost")
		}
		show = verbose || !c.Noise && !recorded(r)
	case sim.Refusal:
		l.Refused = true
		if r.Subresource == eviction {
			l.Verb = "evict"
		}
		l.Detail = RefusalOf(r)
		show = true
	case sim.FaultHit:
		l.Detail = r.Reason
		if r.Object.Name == "" {
			l.Object = "" // the line is about the process, or about one of its caches (Detail has the kind)
		}
		show = r.Verb != "synced"
	case sim.Stuck:
		l.Verb, l.Detail = "waits", r.Message
	case sim.Mutation:
		l.Verb, l.Detail = "mutates", r.Message
	case sim.Fighting: // never-fight says what repeats
	default:
		l.Detail = r.Message
	}
	return l, show
}

// recorded reports whether a record is a Normal Event of a program. It needs no line: its cause, a write, has one.
func recorded(r *sim.Record) bool {
	if r.Object.Kind != "Event" || r.Process == "user" || r.After == nil {
		return false
	}
	e := content(r.After)
	return e.Kind() == reflect.Struct && e.FieldByName("Type").String() == "Normal"
}

// merge adds a refusal to the line of an equal refusal, and reports whether it did. It does not merge violations.
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

// Text formats lines as in the output of a step.
func Text(lines []Line) string {
	t := Table{Indent: "", Max: []int{4, 24, 28, 16, 34}}
	for i := range lines {
		t.Add(lines[i].cells()...)
	}
	return t.String()
}

func (l *Line) cells() []string {
	n := right(l.N, 3)
	if l.Stale {
		n = "~" + right(l.N, 2)
	}
	return []string{n, l.time(), l.Who, l.Verb, l.Object, l.what()}
}

func (l *Line) time() string {
	if l.To == l.From {
		return l.From.String()
	}
	return l.From.String() + ".." + l.To.String()
}

func (l *Line) what() string {
	s := l.Did()
	for _, b := range l.Breaks {
		s = join(s, b)
	}
	return s
}

// Did returns the result of the request, without violations.
func (l *Line) Did() string {
	s := l.Detail
	if l.Refused {
		s = "refused"
		if l.Count > 1 {
			s += " x" + strconv.Itoa(l.Count)
		}
		if l.Detail != "" {
			s += ": " + l.Detail
		}
		if l.more > 0 {
			s += " (" + strconv.Itoa(l.more) + " more)"
		}
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

// Cast contains which controllers reconcile which kinds in a run. If several controllers reconcile a kind, lines also
// show the controller's name.
type Cast struct {
	only map[string]string // kind -> the first controller that reconciled an object of the kind
	many map[string]bool   // kinds that several controllers reconcile
}

// CastOf returns the cast of a history. Several instances of a controller count as one.
func CastOf(h *sim.History) *Cast {
	c := &Cast{only: map[string]string{}, many: map[string]bool{}}
	for i := range h.Records {
		r := &h.Records[i]
		if r.For.IsZero() || r.Process == "" {
			continue
		}
		name, _, _ := strings.Cut(r.Process, "#")
		if was, ok := c.only[r.For.Kind]; !ok {
			c.only[r.For.Kind] = name
		} else if was != name {
			c.many[r.For.Kind] = true
		}
	}
	return c
}

// Shared returns the number of kinds that several controllers reconcile. When it grows, actors get other names.
func (c *Cast) Shared() int { return len(c.many) }

// Actor returns the name for the actor of a record: the reconciled object, or the process if there is no such object.
// If the controller has several instances, the number of the instance is appended ("rs/a#2"). If several controllers
// reconcile the kind, the process is put in front ("widget-a: cm/shared").
func (c *Cast) Actor(r *sim.Record) string {
	if r.For.IsZero() {
		return r.Process
	}
	if c.many[r.For.Kind] {
		return r.Process + ": " + r.For.String()
	}
	if _, n, ok := strings.Cut(r.Process, "#"); ok {
		return r.For.String() + "#" + n
	}
	return r.For.String()
}

var opNames = [...]string{
	sim.Commit: "commit", sim.Refusal: "refusal", sim.Read: "read", sim.Delivery: "delivery",
	sim.SyncStart: "syncStart", sim.SyncEnd: "syncEnd", sim.FaultHit: "fault", sim.Mutation: "mutation",
	sim.Stuck: "stuck", sim.Settled: "settled", sim.Fighting: "fighting", sim.Unsettled: "unsettled",
}

// OpName returns the operation of a record as a word, for example "commit" or "delivery".
func OpName(op sim.Op) string { return opNames[op] }
