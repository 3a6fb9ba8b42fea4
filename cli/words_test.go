package cli

import (
	"os"
	"strings"
	"testing"
)

// A command that is printed to be copied means the file that was run, whatever its
// name.
func TestCopiedCommand(t *testing.T) {
	work(t)
	for name, want := range map[string]string{
		"testdata/breaks.txtar": "threelaws replay testdata/breaks.txtar\n",
		"a b.txtar":             "threelaws replay 'a b.txtar'\n",
		"it's $(x).txtar":       `threelaws replay 'it'\''s $(x).txtar'` + "\n",
		"-n.txtar":              "threelaws replay './-n.txtar'\n",
	} {
		if err := os.WriteFile(name, []byte(read(t, "testdata/breaks.txtar")), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := cli(t, "run", "--", name); !strings.Contains(got.out, want) {
			t.Errorf("%s: no %q in\n%s%s", name, want, got.out, got.err)
		}
	}
	if got := argument(titleOf(stdin)); got != stdin {
		t.Errorf("standard input is told of as %s", got)
	}
}
