package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

// What explore found is told where the file that replays it cannot be written, and so is
// that it was not.
func TestExploreWhereNothingCanBeWritten(t *testing.T) {
	work(t)
	if err := os.WriteFile("taken", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := cli(t, "explore", "-n", "20", "--era", "selector", "--out", "taken", "testdata/settles.txtar")
	if got.code != scenarios.ExitUsage || got.err == "" || !strings.HasPrefix(got.err, "threelaws: --out: ") {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	if !strings.Contains(got.out, "VIOLATES") || strings.Contains(got.out, "replay: ") {
		t.Errorf("got %s", got.out)
	}
}
