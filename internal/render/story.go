package render

import "strconv"

// Story renders lines with their causes, in so many columns, at least [Narrowest].
// [Explain] sets the causes.
func Story(lines []Line, width int) string {
	return story(lines, "", max(width, Narrowest), len(lines))
}

// pageLines is how many lines a page shows of a story. What is left out of a longer one
// is in its middle, but for lines that break a law: it is told how many, and `threelaws show` prints them.
const pageLines = 60

// story lays out lines with their causes beside them, or beneath them where
// names are long.
func story(lines []Line, indent string, width, most int) string {
	for _, change := range []int{44, 24} {
		if t := storyTable(lines, indent, width, most, max(change+(width-Width)/2, 12)); t.left() >= 18 {
			return t.String()
		}
	}
	return storyTable(lines, indent, width, most, 0).String()
}

// storyTable is the table of lines with the column of changes at most so wide,
// or, for 0, with the causes beneath.
func storyTable(lines []Line, indent string, width, most, change int) *Table {
	t := &Table{Indent: indent, Width: width, Max: []int{0, 0, 0, 0, 0, 0, change}, Fold: true}
	head := []string{"", "step", "at", "who", "did", "what", "change", "because"}
	if change == 0 {
		t.Fold, t.Max = false, nil
		head = head[:7]
	}
	t.Add(head...)
	left := 0
	for i := range lines {
		l := &lines[i]
		if len(lines) > most && i >= most/2 && i < len(lines)-most/2 && len(l.Breaks) == 0 {
			left++
			continue
		}
		if left > 0 {
			t.Note("... " + strconv.Itoa(left) + " more")
			left = 0
		}
		row := []string{l.mark(), right(l.N, 4), l.time(), l.Who, l.Verb, l.Object, l.Did()}
		if change != 0 {
			row = append(row, l.Because)
		}
		t.Add(row...)
		if change == 0 && l.Because != "" {
			t.Note("      because " + l.Because)
		}
		for _, broken := range l.Breaks {
			t.Note("      " + broken)
		}
	}
	return t
}

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
