package render

import (
	"regexp"
	"strconv"
)

// Story formats lines with their causes, in width columns, at least [Narrowest]. [Explain] sets the causes.
func Story(lines []Line, width int) string {
	return (&layout{width: max(width, Narrowest), most: len(lines), time: (*Line).time}).text(lines)
}

// layout configures how lines are laid out.
type layout struct {
	indent string
	width  int
	most   int                // lines; a longer story omits lines before the last ones, except violations
	time   func(*Line) string // formats the time
	fold   bool               // put a change with little room beneath its line
}

// leastChange is the least width of a change beside its line.
const leastChange = 32

// text lays out lines with their causes beside them, or beneath them if names are long.
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

// table lays out lines. The column of changes has at most the width change. For 0 the causes are beneath the lines; for
// less, causes and changes are.
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

// step matches the begin of a cause that is only a line number.
var step = regexp.MustCompile(`^because \d+`)

// mark returns the prefix of a line: "!" for a violation, "~" if its actor used a stale cache.
func (l *Line) mark() string {
	switch {
	case len(l.Breaks) > 0:
		return "!"
	case l.Stale:
		return "~"
	}
	return ""
}

// Span formats a range of lines: "step 4", "steps 4-5".
func Span(first, last int) string {
	if first == last {
		return "step " + strconv.Itoa(first)
	}
	return "steps " + strconv.Itoa(first) + "-" + strconv.Itoa(last)
}
