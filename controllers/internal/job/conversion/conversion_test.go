package conversion

import "testing"

func same(a, b *bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

var yes, no = true, false

// The rows are copied from the proposal's table.
func TestTable(t *testing.T) {
	for _, c := range []struct{ from, to *bool }{{nil, &yes}, {&no, &yes}, {&yes, nil}} {
		if got := FromOld(Old{c.from}).ManualSelector; !same(got, c.to) {
			t.Errorf("autoSelector %v becomes manualSelector %v, want %v", c.from, got, c.to)
		}
		if got := ToOld(New{c.from}).AutoSelector; !same(got, c.to) {
			t.Errorf("manualSelector %v becomes autoSelector %v, want %v", c.from, got, c.to)
		}
	}
}

// A round trip keeps the meaning, and drops only an explicit false.
func TestRoundTrip(t *testing.T) {
	for _, c := range []struct{ field, back *bool }{{nil, nil}, {&no, nil}, {&yes, &yes}} {
		o, n := Old{c.field}, New{c.field}
		if got := ToOld(FromOld(o)).AutoSelector; !same(got, c.back) {
			t.Errorf("autoSelector %v is converted back to %v", c.field, got)
		}
		if got := FromOld(ToOld(n)).ManualSelector; !same(got, c.back) {
			t.Errorf("manualSelector %v is converted back to %v", c.field, got)
		}
		if FromOld(o).Generates() != o.Generates() || ToOld(n).Generates() != n.Generates() {
			t.Errorf("%v: the server generates the selector in one version only", c.field)
		}
	}
}
