package words_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/threelaws/threelaws/scenarios/internal/words"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]words.Word{
		"":                   nil,
		"a  b\t":             {{Text: "a"}, {Text: "b"}},
		`'a b'c k="v \" \\"`: {{Text: "a bc", Quoted: true}, {Text: `k=v " \`}},
		`'a \b' ""`:          {{Text: `a \b`, Quoted: true}, {Quoted: true}},
	} {
		got, what := words.Split(line)
		if diff := cmp.Diff(want, got); what != "" || diff != "" {
			t.Errorf("Split(%q): %s (- want, + got)\n%s", line, what, diff)
		}
	}
	if _, what := words.Split(`a 'b c`); what != "a quote is not closed: 'b c" {
		t.Errorf("an open quote: %q", what)
	}
}

// Quoting a word and splitting it again yields the same word.
func TestQuote(t *testing.T) {
	for _, w := range []string{"", "a", "a b", `it's`, `'"\`, "a\tb"} {
		if got, what := words.Split(words.Quote(w)); what != "" || len(got) != 1 || got[0].Text != w {
			t.Errorf("Quote(%q) = %s reads as %+v %s", w, words.Quote(w), got, what)
		}
	}
}
