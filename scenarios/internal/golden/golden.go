// Package golden formats the expected output of steps, and compares output with it.
package golden

import (
	"fmt"
	"strings"
)

// None is the golden text of empty output.
const None = "(none)"

// Text formats output for a file. It removes blank lines, and spaces at the ends of lines. For empty output it returns
// [None].
func Text(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	if b.Len() == 0 {
		return None + "\n"
	}
	return b.String()
}

// Diff returns the lines that differ between two texts, each with one line of context.
func Diff(want, got string) string {
	a, b := strings.Split(strings.TrimSuffix(want, "\n"), "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	edits := align(a, b)
	var out strings.Builder
	skipped := false
	for i, e := range edits {
		near := e.op != ' ' || i > 0 && edits[i-1].op != ' ' || i+1 < len(edits) && edits[i+1].op != ' '
		if !near {
			skipped = true
			continue
		}
		if skipped {
			out.WriteString("    ...\n")
			skipped = false
		}
		fmt.Fprintf(&out, "  %c %s\n", e.op, e.line)
	}
	return out.String()
}

type edit struct {
	op   byte // ' ' for an equal line, '-' for a deleted one, '+' for an added one
	line string
}

// align returns a shortest edit script, from a longest common subsequence. If a text has more than 400 lines, this
// would take too long, so align returns only the first 20 lines of each text, as deleted and added.
func align(a, b []string) []edit {
	var out []edit
	if len(a) > 400 || len(b) > 400 {
		return replaced(a, b)
	}
	n, m := len(a), len(b)
	table := make([][]int, n+1)
	for i := range table {
		table[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i++
			j++
		case i < n && (j == m || table[i+1][j] >= table[i][j+1]):
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	return out
}

func replaced(a, b []string) []edit {
	var out []edit
	for _, l := range a[:min(len(a), 20)] {
		out = append(out, edit{'-', l})
	}
	for _, l := range b[:min(len(b), 20)] {
		out = append(out, edit{'+', l})
	}
	return out
}
