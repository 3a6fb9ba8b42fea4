package render

import (
	"regexp"
	"strconv"

	"github.com/threelaws/threelaws/sim"
)

// Story formats lines with their causes in width columns; the minimum is [Narrowest]. Call [Explain] before.
func Story(lines []Line, width int) string {
	return (&layout{width: max(width, Narrowest), most: len(lines), time: (*Line).time}).text(lines)
}

type layout struct {
	indent string
	width  int
	most   int                // maximal number of lines; a longer story keeps the violations, and first and last lines
	time   func(*Line) string // formats the time of a line
	fold   bool               // if there is little space, a change is written below its line
}

const leastChange = 32

// text formats lines with their causes. If names are long, causes are written below the lines.
func (o *layout) text(lines []Line) string {
	for _, change := range []int{44, 24} {
		if t := o.table(lines, max(change+(o.width-Width)/2, 12)); t.left() >= 18 {
			return t.String()
		}
	}
	t := o.table(lines, 0)
	if o.fold && t.left() < leastChange {
		return o.table(lines, -1).String()
	}
	return t.String()
}

// table formats lines. change is the maximal width of the column of changes. If it is 0, causes are written below the
// lines. If it is negative, changes are written below the lines too.
func (o *layout) table(lines []Line, change int) *Table {
	t := &Table{Indent: o.indent, Width: o.width, Max: []int{0, 0, 0, 0, 0, 0, change}, Fold: true}
	head := []string{"", "step", "at", "who", "did", "what", "change", "because"}
	switch {
	case change < 0:
		head = head[:6]
	case change == 0:
		head = head[:7]
	}
	if change <= 0 {
		t.Fold, t.Max = false, nil
	}
	t.Add(head...)
	first, left := o.most/4, 0
	for i := range lines {
		l := &lines[i]
		if len(lines) > o.most && i >= first && i < len(lines)-(o.most-first) && len(l.Breaks) == 0 {
			left++
			continue
		}
		if left > 0 {
			t.Note("... " + strconv.Itoa(left) + " more")
			left = 0
		}
		row := []string{l.mark(), right(l.N, 4), o.time(l), l.Who, l.Verb, l.Object, l.Did(), l.Because}
		t.Add(row[:len(head)]...)
		did, because := l.Did(), l.Because
		if because != "" {
			because = "because " + because
		}
		for _, why := range []string{because, step.FindString(because)} {
			if both := join(did, why); change < 0 && (why != "" || because == "") && len([]rune(o.indent+both)) <= o.width-14 {
				did, because = both, ""
				break
			}
		}
		if change < 0 && did != "" {
			t.Note("      " + did)
		}
		if change <= 0 && because != "" {
			t.Note("      " + because)
		}
		for _, broken := range l.Breaks {
			t.Note("      " + broken)
		}
	}
	return t
}

// step matches the beginning of a cause that names a line: "because 3".
var step = regexp.MustCompile(`^because \d+`)

// mark returns the mark at the beginning of a line: "!" for a violation, "~" for a request based on a stale cache.
func (l *Line) mark() string {
	switch {
	case len(l.Breaks) > 0:
		return "!"
	case l.Stale:
		return "~"
	}
	return ""
}

// Span formats a range of line numbers: "step 4", "steps 4-5".
func Span(first, last int) string {
	if first == last {
		return "step " + strconv.Itoa(first)
	}
	return "steps " + strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

// views maps each outdated version of an object to the index of the commit that replaced it. The keys are pointers to
// the versions: all records of a version have the same pointer.
type views map[any]int

func viewsOf(h *sim.History, upto int) views {
	v := views{}
	for i := range h.Records {
		r := &h.Records[i]
		if r.Index >= upto {
			break
		}
		if r.Op != sim.Commit || r.Before == nil {
			continue
		}
		if _, ok := v[r.Before]; !ok {
			v[r.Before] = r.Index
		}
	}
	return v
}

// stale reports whether a request was based on an outdated version of its object, or of the object that is reconciled.
func (v views) stale(r *sim.Record) bool {
	if r == nil {
		return false
	}
	_, ok := v.owner(r)
	return r.Stale() || ok
}

// owner returns which commit replaced the outdated version of the reconciled object (r.For) that the actor had. The
// second result is false if this version was the latest or is unknown, or if r.Object is r.For.
func (v views) owner(r *sim.Record) (int, bool) {
	if r.SawFor == nil || r.For == r.Object {
		return 0, false
	}
	k, ok := v[r.SawFor]
	return k, ok && k < r.Index
}

type causes struct {
	h     *sim.History
	lines []Line
	views views
	of    map[int]int // index of a record -> index of its line in lines
}

// Explain sets the cause of each line: the outdated state that its actor used, and the earlier line that triggered it.
func Explain(h *sim.History, lines []Line) {
	c := &causes{h: h, lines: lines, views: viewsOf(h, h.Len()), of: map[int]int{}}
	for i := range lines {
		for _, r := range lines[i].Records {
			c.of[r] = i
		}
	}
	for i := range lines {
		lines[i].Because = c.because(&lines[i])
	}
}

func (c *causes) because(l *Line) string {
	r := c.h.At(l.Records[0])
	if r == nil || r.Process == "user" {
		return ""
	}
	why := c.stale(r)
	if l := c.cause(r); l != nil {
		why = join(why, strconv.Itoa(l.N)+": "+l.summary())
	}
	return why
}

// cause returns the nearest line among the direct and indirect causes of a record, or nil.
func (c *causes) cause(r *sim.Record) *Line {
	self := c.of[r.Index]
	for r != nil && r.Cause >= 0 && r.Cause < r.Index {
		r = c.h.At(r.Cause)
		if r == nil {
			return nil
		}
		if i, ok := c.of[r.Index]; ok && i != self {
			return &c.lines[i]
		}
	}
	return nil
}

func (l *Line) summary() string {
	if l.Refused {
		return l.Verb + " " + l.Object + " refused"
	}
	return l.Verb + " " + l.Object
}

// stale describes the outdated versions that the actor of a record used.
func (c *causes) stale(r *sim.Record) string {
	var why string
	if r.Stale() {
		k, ok := c.views[r.Saw]
		why = "saw " + r.Object.String() + " " + c.before(k, ok && k < r.Index)
	}
	if k, ok := c.views.owner(r); ok {
		why = join(why, "saw "+r.For.String()+" "+c.before(k, true))
	}
	return why
}

// before returns "as it was before N" (N is the commit's line), or "as it was earlier" if the commit has no line.
func (c *causes) before(commit int, known bool) string {
	if i, ok := c.of[commit]; ok && known {
		return "as it was before " + strconv.Itoa(c.lines[i].N)
	}
	return "as it was earlier"
}
