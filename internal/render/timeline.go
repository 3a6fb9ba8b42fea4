package render

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Line is one line of a timeline: a write, a refusal or several equal refusals, a fault, or any other violating record.
type Line struct {
	N       int           `json:"n"` // from 1
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to"` // time of the last refusal if the line stands for several; otherwise equal to From
	Who     string        `json:"who"`
	Verb    string        `json:"verb"`
	Object  string        `json:"object"`
	Detail  string        `json:"detail,omitempty"`
	Count   int           `json:"count"` // number of records in the line
	Write   bool          `json:"write"`
	Refused bool          `json:"refused"`
	// the actor acted on an old version of this object or of the object that it reconciles
	Stale  bool     `json:"stale,omitempty"`
	Breaks []string `json:"breaks,omitempty"`

	// what the actor had read, and the line that triggered it; [Explain] sets it
	Because string `json:"because,omitempty"`

	Records []int `json:"records"` // indices in the history

	more  int    // number of equal refusals that a short story leaves out
	shape string // Detail without field values; "" if there is none
}

// Options of a timeline.
type Options struct {
	From, To   int  // records [From, To); To zero means all
	Verbose    bool // include noise
	Violations []Mark
	Others     bool                     // include a line for every other violating record, such as a delivery
	Skip       func(r *sim.Record) bool // returns true for records to leave out; nil for none
	Also       func(r *sim.Record) bool // returns true for noise to include; nil for none
}

// Timeline makes the lines for a part of a history. Equal refusals share a line if there is no write between them.
// Lines are numbered from 1.
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
	var halves []int // records that the next record covers
	fresh := 0       // lines from this index on are refusals after the last write
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

// Replaced reports whether the next record covers a record of the same step. The record may be the request of a
// deletion that is done at once, or the crash of a restart or of a switch.
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

// lineOf returns the line of a record, and whether the record gets a line.
func lineOf(r *sim.Record, verbose bool) (Line, bool) {
	l := Line{From: r.At, To: r.At, Verb: r.Verb, Count: 1, Records: []int{r.Index}}
	if !r.Object.IsZero() {
		l.Object = strings.TrimSuffix(r.Object.String(), "/") // the name of a create may be missing because the server generates it
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
		l.Detail = RefusalOf(r)
		show = true
	case sim.FaultHit:
		l.Detail = r.Reason
		if r.Object.Name == "" {
			l.Object = "" // the line is about the process, or about its cache of the kind in the detail
		}
		show = r.Verb != "synced"
	case sim.Stuck:
		l.Verb, l.Detail = "waits", r.Message
	case sim.Mutation:
		l.Verb, l.Detail = "mutates", r.Message
	default:
		l.Detail = r.Message
	}
	return l, show
}

// recorded reports whether a record is a Normal Event of a program. What the Event is about has another line.
func recorded(r *sim.Record) bool {
	if r.Object.Kind != "Event" || r.Process == "user" || r.After == nil {
		return false
	}
	e := content(r.After)
	return e.Kind() == reflect.Struct && e.FieldByName("Type").String() == "Normal"
}

// merge adds a refusal to the line of an equal refusal. It returns false if there is none.
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

// Text formats lines as they stand below a step.
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

// Did returns the result of the request. It does not include violations.
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

// Cast knows which controllers reconcile which kinds in a run. If several controllers reconcile a kind, lines name the
// controller.
type Cast struct {
	only map[string]string // kind -> the only controller that reconciles it
	many map[string]bool   // kinds that several controllers reconcile
}

// CastOf derives the cast from a history. Several instances of a controller count as one.
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

// Shared returns the number of kinds that several controllers reconcile. When this number grows, the names of earlier
// actors change.
func (c *Cast) Shared() int { return len(c.many) }

// Actor returns the name of the actor of a record. It is the reconciled object. If the controller has several
// instances, the instance's number follows ("rs/a#2"). If several controllers reconcile the kind, the process comes
// first ("widget-a: cm/shared"). Without a reconciled object it is the process.
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

// OpName names the operation of a record in one word: "commit", "delivery".
func OpName(op sim.Op) string { return opNames[op] }
