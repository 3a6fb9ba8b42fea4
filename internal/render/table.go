package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is the default number of columns. Golden text uses it.
const Width = 100

// Narrowest is the minimal width of a page in columns.
const Narrowest = 60

// Table formats rows. Columns are two spaces apart and as wide as their widest cell. The last column has the remaining
// width, and its text is wrapped.
type Table struct {
	Indent string
	Width  int   // number of columns of text; 0 means [Width]
	Fold   bool  // wrap cells that are longer than Max; otherwise long cells shift the rest of their row
	Max    []int // the maximal width of each column; 0 means no limit
	rows   [][]string
}

var spaces = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// Add appends a row. Line breaks and tabs in cells, for example in the output of a program, become spaces.
func (t *Table) Add(cells ...string) {
	for i := range cells {
		cells[i] = spaces.Replace(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// Note adds a line of text below the last row. The text begins in the second column and is wrapped.
func (t *Table) Note(text string) { t.rows = append(t.rows, []string{noteMark, text}) }

// noteMark is the first cell of rows that are notes.
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

// Fold wraps a line of text at [Width], and indents the continuation lines.
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

// fold divides text at a space, so that first has at most n characters. A longer word is not divided.
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

// Plain escapes control characters, line breaks and invisible characters in the syntax of Go: \n, \x1b, \u202e. It must
// be used for text from a cluster, a server or a log.
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

// Color adds terminal colours to formatted text: red for violations, yellow for races and stale caches, grey for
// refusals. Use it only for terminals, not for golden files.
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
