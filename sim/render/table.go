package render

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table lays out rows in columns two spaces apart. The last column takes what
// is left of [Width] and is folded at spaces; the others are as wide as their
// widest cell.
type Table struct {
	Indent string
	Max    []int // the most a column is widened to; cells that are longer push their row
	rows   [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// String renders the table; every row ends in a newline and has no trailing
// spaces.
func (t *Table) String() string {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		t.write(&b, row, widths)
	}
	return b.String()
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			n := utf8.RuneCountInString(cell)
			if i < len(t.Max) && t.Max[i] > 0 {
				n = min(n, t.Max[i])
			}
			widths[i] = max(widths[i], n)
		}
	}
	return widths
}

func (t *Table) write(b *strings.Builder, row []string, widths []int) {
	line := t.Indent
	at := utf8.RuneCountInString(t.Indent)
	for i, cell := range row[:len(row)-1] {
		line += pad(cell, widths[i]) + "  "
		at += widths[i] + 2
	}
	over := utf8.RuneCountInString(line)
	first, rest := fold(row[len(row)-1], max(Width-over, 24))
	b.WriteString(strings.TrimRight(line+first, " "))
	b.WriteByte('\n')
	for rest != "" {
		first, rest = fold(rest, max(Width-at-2, 24))
		b.WriteString(strings.Repeat(" ", at+2) + first + "\n")
	}
}

// fold cuts text at the last space at which it fits into n columns; a word
// that is longer stays whole.
func fold(text string, n int) (first, rest string) {
	if utf8.RuneCountInString(text) <= n {
		return text, ""
	}
	cut, column := 0, 0
	for i, r := range text {
		if r == ' ' {
			if column > n && cut > 0 {
				break
			}
			cut = i
		}
		column++
	}
	if cut == 0 {
		return text, ""
	}
	return text[:cut], strings.TrimLeft(text[cut:], " ")
}

func pad(s string, n int) string {
	if k := n - utf8.RuneCountInString(s); k > 0 {
		return s + strings.Repeat(" ", k)
	}
	return s
}

func right(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat(" ", max(width-len(s), 0)) + s
}

func itoa(n int) string { return strconv.Itoa(n) }
