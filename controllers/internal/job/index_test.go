package job

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Intervals are a set of indexes; the order of additions does not matter.
func TestIntervalsAreASet(t *testing.T) {
	indexes := rapid.SliceOf(rapid.IntRange(0, 12))
	rapid.Check(t, func(t *rapid.T) {
		a, b := indexes.Draw(t, "a"), indexes.Draw(t, "b")
		completions := rapid.IntRange(1, 13).Draw(t, "completions")
		one, two := intervals(nil).with(a...), intervals(nil).with(b...)
		both := one.union(two)
		if got := parseIntervals(both.String(), 13); !slices.Equal(got, both) {
			t.Fatalf("%q is parsed as %v, formatted from %v", both.String(), got, both)
		}
		total, common, below := 0, 0, 0
		var free []int
		for i := range 13 {
			inA, inB := slices.Contains(a, i), slices.Contains(b, i)
			if both.has(i) != (inA || inB) {
				t.Fatalf("has(%d) of %v", i, both)
			}
			switch {
			case inA && inB:
				common, total = common+1, total+1
			case inA || inB:
				total++
			case i < completions:
				free = append(free, i)
			}
			if (inA || inB) && i < completions {
				below++
			}
		}
		if both.total() != total || one.common(two) != common || two.common(one) != common {
			t.Fatalf("%v and %v: total %d, common %d", one, two, both.total(), one.common(two))
		}
		if got := parseIntervals(both.String(), completions).total(); got != below {
			t.Fatalf("%v has %d indexes below %d, want %d", both, got, completions, below)
		}
		n := rapid.IntRange(0, 13).Draw(t, "n")
		if got := both.missing(n, completions); !slices.Equal(got, free[:min(n, len(free))]) {
			t.Fatalf("missing(%d, %d) of %v: %v, want %v", n, completions, both, got, free)
		}
	})
}

func TestIntervalsAreWritten(t *testing.T) {
	for _, c := range []struct {
		text string
		of   []int
	}{{"", nil}, {"3", []int{3}}, {"0,1", []int{1, 0}}, {"0-2,4,6,7", []int{0, 1, 2, 4, 6, 7, 7}}} {
		if got := intervals(nil).with(c.of...).String(); got != c.text {
			t.Errorf("%v: %q, want %q", c.of, got, c.text)
		}
	}
	if got := parseIntervals("1,x,3-y,5-6", 9).String(); got != "1,5,6" {
		t.Errorf("a part that cannot be parsed is not skipped: %q", got)
	}
	if got := parseIntervals("0,3", 3).String(); got != "0" {
		t.Errorf("a part that is no index is not skipped: %q", got)
	}
}
