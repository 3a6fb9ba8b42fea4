package render

import (
	"strconv"
	"strings"
)

// Cycle finds a fight: the shortest sequence of lines that occurs at least twice in a row at the end of a timeline. It
// returns the numbers of the first and last line of the first round. Without a fight, ok is false. A cycle undoes its
// changes, so it has as many creations as deletions. If it has one or two lines, its rounds must fill six lines, or the
// whole timeline if that is shorter. Generated names count as equal.
func Cycle(lines []Line) (first, last int, ok bool) {
	if len(lines) > cycleWindow {
		if first, last, ok = Cycle(lines[len(lines)-cycleWindow:]); !ok {
			return first, last, ok
		}
		return rewind(lines, last-first+1)
	}
	signs := make([]string, len(lines))
	for i := range lines {
		signs[i] = lines[i].sign()
	}
	n := len(lines)
	for p := 1; 2*p <= n; p++ {
		from := n
		for from-p-1 >= 0 && signs[from-1] == signs[from-1-p] {
			from--
		}
		start := from - p
		if n-start < 2*p || n-start < min(6, n) && p < 3 || !undone(lines[start:start+p]) {
			continue
		}
		return lines[start].N, lines[start+p-1].N, true
	}
	return 0, 0, false
}

// cycleWindow is the number of last lines in which Cycle searches, because the search takes quadratic time.
const cycleWindow = 1000

// rewind returns the first and last line number of the first round, for a cycle of p lines that repeats until the end.
func rewind(lines []Line, p int) (first, last int, ok bool) {
	from := len(lines)
	for from-p-1 >= 0 && lines[from-1].sign() == lines[from-1-p].sign() {
		from--
	}
	return lines[from-p].N, lines[from-1].N, true
}

// sign returns the line's text without generated names and field values.
func (l *Line) sign() string {
	var b strings.Builder
	b.WriteString(l.Who + " " + l.Verb + " " + abstract(l.Object) + " ")
	did := l.shape
	if did == "" {
		did = l.Detail
	}
	for _, w := range strings.Fields(did) {
		b.WriteString(abstract(w) + " ")
	}
	return b.String()
}

// abstract replaces the digits at the end of a generated name, "pod/web-12", by "*". A dash must precede the digits.
func abstract(name string) string {
	cut := strings.TrimRight(name, "0123456789;,")
	if cut != name && strings.HasSuffix(cut, "-") {
		return cut + "*"
	}
	return name
}

// undone reports whether lines contain a write, and equal numbers of creations and deletions.
func undone(lines []Line) bool {
	writes, balance := 0, 0
	for i := range lines {
		if lines[i].Write {
			writes++
		}
		switch lines[i].Verb {
		case "create":
			balance++
		case "delete":
			balance--
		}
	}
	return writes > 0 && balance == 0
}

// Numbers returns the numbers of the first and the last line that contain any of the given records.
func Numbers(lines []Line, records []int) (first, last int, ok bool) {
	in := make(map[int]bool, len(records))
	for _, r := range records {
		in[r] = true
	}
	for i := range lines {
		for _, r := range lines[i].Records {
			if !in[r] {
				continue
			}
			if first == 0 {
				first = lines[i].N
			}
			last = lines[i].N
		}
	}
	return first, last, first > 0
}

// Fight describes which lines a fight repeats, and how many status writes are between them. Without a fight it returns
// "".
func Fight(lines []Line, b Mark) string {
	first, last, ok := Numbers(lines, b.Cycle)
	if !ok {
		return ""
	}
	in := map[int]bool{}
	for i := range lines {
		for _, r := range lines[i].Records {
			in[r] = true
		}
	}
	hidden := 0
	for _, r := range b.Cycle {
		if !in[r] {
			hidden++
		}
	}
	text := "the fight: " + Span(first, last)
	switch {
	case hidden == 1:
		text += " and 1 write of status"
	case hidden > 1:
		text += " and " + strconv.Itoa(hidden) + " writes of status"
	}
	return text + ", for ever"
}
