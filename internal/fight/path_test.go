package fight

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// A circle is what took part in it, and no more: detours are taken out, and what is further
// back than a path is long is forgotten.
func TestPath(t *testing.T) {
	far := ""
	for i := range 30 {
		far += " x" + strconv.Itoa(i)
	}
	for _, c := range []struct{ name, states, circles string }{
		{"there and back", "a b a b a", "b,a b,a"},
		{"the same again is no step", "a a b b a", "b,a"},
		{"a detour is no part of it", "a b c b a", "c,b b,a"},
		{"too long ago", "a" + far + " a", ""},
	} {
		var p Path[string]
		var got []string
		for i, s := range strings.Fields(c.states) {
			var words []string
			at := time.Unix(int64(i), 0)
			if i == 0 {
				p.Begin(sum(s), at)
				continue
			}
			for _, v := range p.Visit(Visit[string]{State: sum(s), By: "me", At: at, Words: s}) {
				words = append(words, v.Words)
			}
			if words != nil {
				got = append(got, strings.Join(words, ","))
			}
		}
		if strings.Join(got, " ") != c.circles {
			t.Errorf("%s: circles %q, want %q", c.name, got, c.circles)
		}
	}
}

func sum(s string) (n uint64) {
	for _, b := range []byte(s) {
		n = n*251 + uint64(b)
	}
	return n
}
