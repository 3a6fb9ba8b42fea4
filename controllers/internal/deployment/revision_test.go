package deployment

import (
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// The new annotations of the current ReplicaSet.
func TestAnnotations(t *testing.T) {
	type m map[string]string
	for _, c := range []struct {
		name          string
		has, of, want m
	}{
		{"a new one", nil, m{"a": "1", revisionAnnotation: "9"}, m{"a": "1", revisionAnnotation: "4"}},
		{"come back to", m{revisionAnnotation: "2"}, m{"a": "1"},
			m{"a": "1", revisionAnnotation: "4", historyAnnotation: "2"}},
		{"the highest", m{revisionAnnotation: "7", "a": "1", "b": "2"}, m{"a": "3"},
			m{revisionAnnotation: "7", "a": "3", "b": "2"}},
		{"no number", m{revisionAnnotation: "x", "b": "2"}, m{"a": "1"}, m{revisionAnnotation: "x", "b": "2"}},
	} {
		rs := &appsv1.ReplicaSet{}
		rs.Annotations = c.has
		u := &rollout{d: &appsv1.Deployment{}}
		u.d.Annotations = c.of
		if got := u.annotations(rs, 4); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Earlier revisions are kept up to the limit, the latest ones.
func TestHistoryHasALimit(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("1234567,", 250), ",") // 1999 characters
	for _, c := range []struct{ history, former, want string }{
		{"", "1", "1"},
		{"1", "3", "1,3"},
		{"1,3", "5", "1,3,5"},
		{long, "12", long[len("1234567,"):] + ",12"},
		{strings.Repeat("9", historyLimit), "7", "7"},
		{long[2:], "12", long[2:] + ",12"},
		{"", strings.Repeat("9", historyLimit), strings.Repeat("9", historyLimit)},
		{"", strings.Repeat("9", historyLimit+1), ""},
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
