package deployment

import (
	"strings"
	"testing"
)

// Former revisions are kept as far as there is room, the latest ones.
func TestHistoryHasALimit(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("1234567,", 250), ",") // 1999 characters
	for _, c := range []struct{ history, former, want string }{
		{"", "1", "1"},
		{"1", "3", "1,3"},
		{"1,3", "5", "1,3,5"},
		{long, "12", long[len("1234567,"):] + ",12"},
		{strings.Repeat("9", historyLimit), "7", "7"},
	} {
		a := map[string]string{}
		if c.history != "" {
			a[historyAnnotation] = c.history
		}
		addHistory(a, c.former)
		if got := a[historyAnnotation]; got != c.want {
			t.Errorf("%.20s... and %s: %.40s... (%d), want %d", c.history, c.former, got, len(got), len(c.want))
		}
	}
}
