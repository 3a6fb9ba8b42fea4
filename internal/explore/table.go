package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Table counts outcomes by label. The zero value is an empty table.
type Table struct {
	counts map[string]int
}

// Row is one line of a [Table].
type Row struct {
	Count int    `json:"count"`
	Label string `json:"label"`
}

// Add counts one outcome.
func (t *Table) Add(label string) {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[label]++
}

// TableOf returns a table with these counts. It does not copy the map.
func TableOf(counts map[string]int) Table { return Table{counts} }

// Clone returns a copy of the table.
func (t Table) Clone() Table { return Table{maps.Clone(t.counts)} }

// Len returns the number of distinct labels.
func (t Table) Len() int { return len(t.counts) }

// Rows returns the labels sorted by count, largest first, and then by label.
func (t Table) Rows() []Row {
	rows := make([]Row, 0, len(t.counts))
	for label, n := range t.counts {
		rows = append(rows, Row{n, label})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Label, b.Label))
	})
	return rows
}

// String returns the rows, one per line, with aligned counts.
func (t Table) String() string {
	rows := t.Rows()
	if len(rows) == 0 {
		return ""
	}
	width := len(fmt.Sprint(rows[0].Count))
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%*d  %s\n", width, r.Count, r.Label)
	}
	return b.String()
}
