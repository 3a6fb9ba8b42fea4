package mutate

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The lines of a document between which the table of scores stands.
const (
	tableBegins = "<!-- scores -->\n"
	tableEnds   = "<!-- end of scores -->\n"
)

// Document brings the table of scores in a document up to date: the rows of packages that
// are among the scores are replaced, the others stay.
func Document(name string, scores []Score) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(raw), tableBegins)
	table, after, closed := strings.Cut(rest, tableEnds)
	if !ok || !closed {
		return fmt.Errorf("%s: no table: it stands between %q and %q", name, tableBegins, tableEnds)
	}
	rows := readRows(table)
	for _, s := range scores {
		i := slices.IndexFunc(rows, func(r Score) bool { return r.Package == s.Package })
		if i < 0 {
			rows = append(rows, s)
		} else {
			rows[i] = s
		}
	}
	return os.WriteFile(name, []byte(before+tableBegins+writeRows(rows)+tableEnds+after), 0o644)
}

// readRows reads the rows of a table, but for that of the sum.
func readRows(table string) []Score {
	var rows []Score
	for line := range strings.Lines(table) {
		var s Score
		var living int
		n, _ := fmt.Sscanf(strings.ReplaceAll(line, "|", " "), "%s %d %d %d %d %d", &s.Package, &s.Mutants, &s.Killed,
			&s.Equivalent, &s.Excused, &living)
		if n == 6 && s.Package != sum {
			rows = append(rows, s)
		}
	}
	return rows
}

func writeRows(rows []Score) string {
	rows = slices.DeleteFunc(rows, func(s Score) bool { return s.Package == sum })
	slices.SortFunc(rows, func(a, b Score) int { return strings.Compare(a.Package, b.Package) })
	total := Score{Package: sum}
	var b strings.Builder
	b.WriteString("| package | mutants | killed | equivalent | excused | surviving |" +
		" killed of those not equivalent |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	row := func(s *Score) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.1f %% |\n", s.Package, s.Mutants, s.Killed, s.Equivalent,
			s.Excused, s.Surviving(), s.Percent())
	}
	for i := range rows {
		s := &rows[i]
		total.Mutants += s.Mutants
		total.Killed += s.Killed
		total.Equivalent += s.Equivalent
		total.Excused += s.Excused
		row(s)
	}
	row(&total)
	return b.String()
}
