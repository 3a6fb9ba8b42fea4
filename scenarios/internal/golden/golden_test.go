package golden_test

import (
	"testing"

	"github.com/threelaws/threelaws/scenarios/internal/golden"
)

func TestText(t *testing.T) {
	for output, want := range map[string]string{
		"": "(none)\n", " \n\n": "(none)\n", "a \r\n\n  b": "a\n  b\n",
	} {
		if got := golden.Text(output); got != want {
			t.Errorf("Text(%q) = %q, want %q", output, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	want := "    a\n  - b\n  + c\n    d\n    ...\n    f\n  + g\n"
	if got := golden.Diff("a\nb\nd\ne\nf\n", "a\nc\nd\ne\nf\ng\n"); got != want {
		t.Errorf("Diff:\n%s", got)
	}
}
