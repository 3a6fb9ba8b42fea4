package ref

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Which labels are not validated again: none of them is one that apimachinery finds fault with.
func TestPlain(t *testing.T) {
	word := strings.Repeat("w", longest)
	domain := word + "." + word + "." + word + "." + word[:60] // as long as may be
	for _, c := range []struct {
		key, value string
		plain      bool
	}{
		{"a", "z", true}, {"A", "Z", true}, {"0", "9", true}, {"a", "", true}, {"a-b", "a-b", true}, {word, word, true},
		{"example.com/name", "x", true}, {domain + "/name", "x", true},

		{"", "x", false}, {"/a", "x", false}, {"a/", "x", false}, {"-a", "x", false}, {"a-", "x", false},
		{"a", "-b", false}, {"a", "b-", false}, {"a.b", "x", false}, {"a_b", "x", false}, {word + "w", "x", false},
		{"a", word + "w", false}, {domain + "w/name", "x", false}, {"Example.com/name", "x", false},
		{"a..b/name", "x", false}, {"a-.b/name", "x", false}, {"a/b/c", "x", false}, {"a.b/-", "x", false},
		{"a", "`", false}, {"a", "{", false}, {"a", "@", false}, {"a", "[", false}, {"a", "/", false},
		{"a", ":", false},
	} {
		set := map[string]string{c.key: c.value}
		if got := plain(set); got != c.plain {
			t.Errorf("%q=%q is plain: %v", c.key, c.value, got)
		}
		s := &metav1.LabelSelector{MatchLabels: set}
		got, err := Parse(s)
		want, wrong := metav1.LabelSelectorAsSelector(s)
		if (err == nil) != (wrong == nil) || err == nil && got.String() != want.String() {
			t.Errorf("%q=%q is read as %v, %v, want %v, %v", c.key, c.value, got, err, want, wrong)
		}
		if c.plain && wrong != nil {
			t.Errorf("%q=%q: %v", c.key, c.value, wrong)
		}
	}
}
