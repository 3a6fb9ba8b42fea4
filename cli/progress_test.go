package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// On a terminal a run tells from its beginning how far it is, and leaves nothing
// of that behind; elsewhere it is silent.
func TestRunTellsHowFarItIs(t *testing.T) {
	work(t)
	var out, err bytes.Buffer
	c := Command{Registry: builtin.Registry(), Bare: true, Library: scenarios.Library(), Out: &out, Err: &err,
		Live: true}
	if code := c.Run(t.Context(), []string{"run", "testdata/settles.txtar", "overlap/adoption-lost"}); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out.String(), err.String())
	}
	for _, want := range []string{"0 of 2 files", "1 of 2 files, 0 failed, ", "2 of 2 files"} {
		if !strings.Contains(err.String(), want) {
			t.Errorf("%q is not told: %q", want, err.String())
		}
	}
	if !strings.HasSuffix(err.String(), "\r\x1b[K") {
		t.Errorf("something is left on the terminal: %q", err.String())
	}
}

// A page is as wide as it is told; what is no terminal is not asked.
func TestWidth(t *testing.T) {
	work(t)
	var b bytes.Buffer
	c := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &b, Err: &b, Width: 72}
	args := "explore -n 20 --era selector --out a-directory-of-some-length testdata/settles.txtar"
	c.Run(t.Context(), strings.Fields(args))
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(line)) - 1; n > 72 && !strings.Contains(line, "threelaws ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	f, err := os.Open("testdata/settles.txtar")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := columns(f, "60"); n != render.Width {
		t.Errorf("a file has %d columns", n)
	}
}
