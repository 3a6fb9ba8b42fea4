package upstream_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// ranked lists differences, those that were met most often first.
func ranked(found map[difference]int) []difference {
	var rows []difference
	for d := range found {
		rows = append(rows, d)
	}
	slices.SortFunc(rows, func(a, b difference) int {
		return cmp.Or(cmp.Compare(found[b], found[a]), strings.Compare(a.kind, b.kind),
			strings.Compare(a.field, b.field), strings.Compare(a.what, b.what))
	})
	return rows
}

// mostRows is how many differences the documentation lists.
const mostRows = 120

func table(rows []difference, found map[difference]int, tried, same int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d requests %d are answered alike (%.1f %%). Of what differs, %d things, these were met "+
		"most often:\n\n", tried, same, 100*float64(same)/float64(tried), len(rows))
	b.WriteString("| kind | field | what | met |\n| --- | --- | --- | --- |\n")
	for _, d := range rows[:min(len(rows), mostRows)] {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", d.kind, strings.ReplaceAll(d.field, "|", "\\|"), d.what, found[d])
	}
	return b.String()
}

const fidelity = "../docs/evidence/fidelity.md"

// documentPart writes a part of docs/evidence/fidelity.md with -update. The part stands between two
// comments with its name.
func documentPart(t *testing.T, name, part string) {
	t.Helper()
	if !*update {
		return
	}
	raw, err := os.ReadFile(fidelity)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part %s", fidelity, name)
	}
	if err := os.WriteFile(fidelity, []byte(before+begin+part+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
