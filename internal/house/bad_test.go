package house

import "testing"

// The checkers of exports must see what they are there for.
func TestBadExportsAreSeen(t *testing.T) {
	p := check(t, map[string]string{
		"a.go": "// Package p is [Gone] and [A].\npackage p\n\n// A is [A.B], [A.C], [A.Do] and [*A].\ntype A " +
			"struct{ B int }\n\nfunc (a *A) Do() {}\n\nfunc bare() {}\n",
		"b.go": "package p\n\nconst Bare = 1\n\n// Of a group.\nconst (\n\tOne = 1\n\tTwo = 2\n)\n",
	})
	var bare []string
	for _, f := range p.Syntax {
		for _, id := range undocumented(f) {
			bare = append(bare, id.Name)
		}
	}
	if len(bare) != 2 || bare[0] != "Do" || bare[1] != "Bare" {
		t.Errorf("undocumented %v, want Do and Bare", bare)
	}
	for name, want := range map[string]bool{"A": true, "Gone": false, "A.B": true, "A.C": false, "A.Do": true,
		"word": true} {
		if leads(p, p.Syntax[0], name) != want {
			t.Errorf("[%s] leads somewhere: %v, want %v", name, !want, want)
		}
	}
}
