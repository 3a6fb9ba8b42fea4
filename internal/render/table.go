package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is the default number of columns. Golden text uses it.
const Width = 100

// Narrowest is the minimum width of a page, because columns would be too narrow below it.
const Narrowest = 60

// Table formats rows in columns two spaces apart. The last column takes the rest of the width, and folds at spaces. The
// other columns are as wide as their widest cell.
type Table struct {
	Indent string
	Width  int   // number of columns of text; 0 means [Width]
	Fold   bool  // fold cells that are longer than Max; otherwise they shift the rest of their row
	Max    []int // the maximum width of each column
	rows   [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Note adds a line of text below the last row. It begins in the second column, and is folded.
func (t *Table) Note(text string) { t.rows = append(t.rows, []string{noteMark, text}) }

// noteMark in the first cell marks a row as a note.
const noteMark = "\x00"

// String formats the table. Every row ends in a newline and has no trailing spaces.
func (t *Table) String() string {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		if row[0] == noteMark {
			t.note(&b, row[1], widths)
			continue
		}
		t.write(&b, row, widths)
	}
	return b.String()
}

func (t *Table) width() int {
	if t.Width > 0 {
		return t.Width
	}
	return Width
}

func (t *Table) least() int {
	if t.width() < Width {
		return 12
	}
	return 24
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		if row[0] == noteMark {
			continue
		}
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

func (t *Table) left() int {
	widths := t.widths()
	n := t.width() - utf8.RuneCountInString(t.Indent)
	for _, w := range widths[:len(widths)-1] {
		n -= w + 2
	}
	return n
}

func (t *Table) write(b *strings.Builder, row []string, widths []int) {
	line := t.Indent
	at := utf8.RuneCountInString(t.Indent)
	rest := make([]string, len(row))
	more := false
	for i, cell := range row[:len(row)-1] {
		if t.Fold && i < len(t.Max) && t.Max[i] > 0 {
			cell, rest[i] = fold(cell, widths[i])
			more = more || rest[i] != ""
		}
		line += pad(cell, widths[i]) + "  "
		at += widths[i] + 2
	}
	over := utf8.RuneCountInString(line)
	first, last := fold(row[len(row)-1], max(t.width()-over, t.least()))
	b.WriteString(strings.TrimRight(line+first, " ") + "\n")
	if more {
		rest[len(rest)-1] = last
		t.write(b, rest, widths)
		return
	}
	for last != "" {
		first, last = fold(last, max(t.width()-at-2, t.least()))
		b.WriteString(strings.Repeat(" ", at+2) + first + "\n")
	}
}

func (t *Table) note(b *strings.Builder, text string, widths []int) {
	lead := t.Indent + strings.Repeat(" ", widths[0]+2)
	rest := strings.TrimLeft(text, " ")
	in := text[:len(text)-len(rest)]
	for more := ""; rest != ""; {
		var first string
		first, rest = fold(rest, t.width()-utf8.RuneCountInString(lead+in+more)-4)
		b.WriteString(lead + in + more + first + "\n")
		if in != "" {
			more = "  "
		}
	}
}

// Fold breaks a line of text at [Width]; continuation lines are indented.
func Fold(text string) string { return foldAt(text, Width) }

func foldAt(text string, width int) string {
	first, rest := fold(text, width)
	var b strings.Builder
	b.WriteString(first + "\n")
	for rest != "" {
		first, rest = fold(rest, width-2)
		b.WriteString("  " + first + "\n")
	}
	return b.String()
}

// fold cuts text at the last space so that the first part fits into n columns. A longer word stays whole.
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
	return strings.TrimRight(text[:cut], " "), strings.TrimSpace(text[cut:])
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

// Plain escapes control characters, line breaks and invisible characters as Go does: \n, \x1b, \u202e. Use it for text
// from a cluster, a server or a log.
func Plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.IndexFunc(s, odd) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if odd(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Color adds terminal colours to rendered text: red for a violation, yellow for a race and a stale cache, grey for
// refusals. It changes nothing else. Use it only for terminals, not for golden files.
func Color(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		code := colorOf(body)
		if code == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + body + "\x1b[0m" + line[len(body):])
	}
	return b.String()
}

func colorOf(line string) string {
	head := strings.TrimLeft(line, " ")
	switch {
	case strings.Contains(line, "VIOLATES "), strings.HasPrefix(head, "!  "), strings.HasPrefix(line, "--- FAIL"):
		return "31"
	case strings.Contains(line, "RACES "), strings.HasPrefix(head, "~"):
		return "33"
	case strings.Contains(line, "  refused"):
		return "90"
	}
	return ""
}
