package rule

import "testing"

func TestRules(t *testing.T) {
	self := map[string]any{"n": int64(3), "s": "abc", "l": []any{int64(1), int64(2)}, "m": map[string]any{"k": "v"}}
	for text, want := range map[string]bool{
		"self.n == 3 && self.s.startsWith('ab')":          true,
		"self.n + 1 > 4 || self.s.size() == 3":            true,
		"self.l.all(x, x > 0) && self.l.exists(y, y==2)":  true,
		"!has(self.q) && has(self.m.k) && 'k' in self.m":  true,
		"self.n in [1, 2, 3] ? size(self.l) == 2 : false": true,
		"self.n * -2 < -7":                                false,
		"self.s.matches('^[a-c]+$') && self.l[1] == 2":    true,
		"self.q == 1 || true":                             true,
		`self.m["k"] != "v"`:                              false,
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, err := r.Holds(self, nil); err != nil || got != want {
			t.Errorf("%s is %v (%v)", text, got, err)
		}
	}
	for _, text := range []string{"self.x(", "duration('1h') > x", "self / 2 == 1", "self.map(x, x)", "'a\\n' == self",
		"", "self.n ==", "@"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s parses", text)
		}
	}
	if r, _ := Parse("self.q.z == 1"); r.value != nil {
		if _, err := r.Holds(self, nil); err == nil || err.Error() != "no such key: q" {
			t.Error(err)
		}
	}
}
