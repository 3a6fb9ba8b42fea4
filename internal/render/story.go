package render

import (
	"regexp"
	"strconv"
)

// Story renders lines with their causes, in so many columns, at least [Narrowest].
// [Explain] sets the causes.
func Story(lines []Line, width int) string {
	return (&layout{width: max(width, Narrowest), most: len(lines), time: (*Line).time}).text(lines)
}

// layout is how lines are laid out.
type layout struct {
	indent string
	width  int
	most   int                // lines; what is left out of more is before their last ones, but for lines that break a law
	time   func(*Line) string // as it is written
	fold   bool               // a change that has few columns stands beneath its line
}

// leastChange is how many columns a change needs beside its line.
const leastChange = 32

// text lays out lines with their causes beside them, or beneath them where names are long.
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

// table is the table of lines with the column of changes at most so wide, or, for 0, with the causes beneath, or, for
// less, with causes and changes beneath.
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

// step begins a cause that is a line alone: its number says which.
var step = regexp.MustCompile(`^because \d+`)

// mark is what stands in front of a line: "!" where it broke a law, "~" where
// its actor went by a stale view.
func (l *Line) mark() string {
	switch {
	case len(l.Breaks) > 0:
		return "!"
	case l.Stale:
		return "~"
	}
	return ""
}

// Span words a range of lines: "step 4", "steps 4-5".
func Span(first, last int) string {
	if first == last {
		return "step " + strconv.Itoa(first)
	}
	return "steps " + strconv.Itoa(first) + "-" + strconv.Itoa(last)
}
