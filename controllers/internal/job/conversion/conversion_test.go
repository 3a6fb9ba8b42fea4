package conversion

import (
	"testing"

	"pgregory.net/rapid"
)

// fields are the values that a field can have.
func fields() *rapid.Generator[*bool] {
	return rapid.Ptr(rapid.Bool(), true)
}

func same(a, b *bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// canonical is a field of which it is lost whether it was set to false.
func canonical(f *bool) *bool {
	if f != nil && !*f {
		return nil
	}
	return f
}

// The proposal's table, row by row.
func TestTable(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct{ from, to *bool }{{nil, &yes}, {&no, &yes}, {&yes, nil}} {
		if got := FromOld(Old{c.from}).ManualSelector; !same(got, c.to) {
			t.Errorf("autoSelector %v becomes manualSelector %v, want %v", c.from, got, c.to)
		}
		if got := ToOld(New{c.from}).AutoSelector; !same(got, c.to) {
			t.Errorf("manualSelector %v becomes autoSelector %v, want %v", c.from, got, c.to)
		}
	}
}

// There and back nothing is lost but whether false was said.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fields().Draw(t, "field")
		if got := ToOld(FromOld(Old{f})).AutoSelector; !same(got, canonical(f)) {
			t.Fatalf("autoSelector %v comes back as %v", f, got)
		}
		if got := FromOld(ToOld(New{f})).ManualSelector; !same(got, canonical(f)) {
			t.Fatalf("manualSelector %v comes back as %v", f, got)
		}
	})
}

// Whoever reads a Job in whichever version, its selector is made by the same.
func TestMeaningIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fields().Draw(t, "field")
		if o := (Old{f}); FromOld(o).Generates() != o.Generates() {
			t.Fatalf("autoSelector %v: made by the server in one version only", f)
		}
		if n := (New{f}); ToOld(n).Generates() != n.Generates() {
			t.Fatalf("manualSelector %v: made by the server in one version only", f)
		}
	})
}
