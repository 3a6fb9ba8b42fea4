package audit

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// A log of any length keeps a bounded number of records: those around findings, and the last.
func TestKeptIsBounded(t *testing.T) {
	const most, all, found = 1000, 50_000, 7000
	k := kept{most: most}
	for i := range all {
		if k.add(sim.Record{Index: i}); i == found {
			k.found = append(k.found, i)
		}
		if len(k.records) >= 2*most {
			t.Fatalf("%d records are kept", len(k.records))
		}
	}
	has := func(index int) bool {
		return slices.ContainsFunc(k.records, func(r sim.Record) bool { return r.Index == index })
	}
	for index, want := range map[int]bool{found - keptBefore: true, found: true, found + keptAfter: true,
		found - keptBefore - 1: false, found + keptAfter + 1: false, 0: false, all - 1: true, all - most/4: true} {
		if has(index) != want {
			t.Errorf("record %d is kept: %t, want %t", index, !want, want)
		}
	}
}
