package kept_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/threelaws/threelaws/internal/kept"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// A kept file does not fit if its schedule does not fit, or if it needs an expectation that the case no longer has. It
// does not matter whether the output differs too. Other mistakes in the file are errors.
func TestReplayOfAFileThatDoesNotFit(t *testing.T) {
	const (
		settled  = "settled at 0s after 0 writes\n\n"
		schedule = "\n-- s --\nthreelaws schedule 1\ndeliver replicaset Pod\n"
		world    = "apply w\nsettle\n\n-- w --\n{apiVersion: v1, kind: Pod, metadata: {name: a}, " +
			"spec: {containers: [{name: c, image: i}]}}" + schedule
		first = "schedule s\ncontrollers replicaset\nsettle\n----\n"
	)
	for _, c := range []struct {
		name, text string
		unfit      bool
	}{
		{"schedule", first + settled + world, true},
		{"schedule and output", first + "settled at 1h after 9 writes\n\n" + world, true},
		{"expectation", "settle\nensure settled\n", true},
		{"verb", "setle\n", false},
		{"verb and schedule", "schedule s\nsetle\n" + schedule, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.txtar")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			r := kept.Replay(builtin.Registry(), path)
			if r.Page != nil || r.Unfit != c.unfit || (len(r.Errors) > 0) == c.unfit {
				t.Errorf("unfit: %t, errors: %v", r.Unfit, r.Errors)
			}
		})
	}
}
