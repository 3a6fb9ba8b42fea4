package yamldoc_test

import (
	"reflect"
	"testing"

	"github.com/threelaws/threelaws/internal/yamldoc"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []yamldoc.Document
	}{
		{"", []yamldoc.Document{{Line: 1}}},
		{"a: 1\n", []yamldoc.Document{{1, "a: 1\n"}}},
		{"a: 1\n---\nb: 2", []yamldoc.Document{{1, "a: 1\n"}, {3, "b: 2"}}},
		{"---\na: 1\n--- \r\n# c\n", []yamldoc.Document{{1, ""}, {2, "a: 1\n"}, {4, "# c\n"}}},
		{"a: 1\n--- # the other one\nb: 2\n---", []yamldoc.Document{{1, "a: 1\n"}, {3, "b: 2\n"}, {5, ""}}},
		{"a: |\n  ---\n ---\n---b\n---#b\n", []yamldoc.Document{{1, "a: |\n  ---\n ---\n---b\n---#b\n"}}},
	} {
		if got := yamldoc.Split(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Split(%q) = %+v, want %+v", c.text, got, c.want)
		}
	}
}
