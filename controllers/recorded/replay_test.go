package recorded_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/sim"
)

// TestRecorded replays every case under the default schedule, with a user who
// waits between two requests, and prints the score of each area. A case that
// passes is replayed with a user who does not wait, and under other schedules:
// where the controllers come to rest does not depend on them.
func TestRecorded(t *testing.T) {
	only := os.Getenv("VECTOR")
	for _, area := range []string{"gc", "controllers"} {
		cases, err := recorded.ReadArea("../../fakeapi/testdata/vectors/" + area)
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for _, c := range cases {
			if !strings.HasPrefix(c.Name(), only) {
				continue
			}
			why, reason := play(c, sim.Zero{}, patient), expected[c.Name()]
			switch {
			case why == nil && reason != "":
				t.Errorf("%s passes now: take it out of the table (%s)", c.Name(), reason)
			case why != nil && reason == "":
				t.Errorf("%s: %v", c.Name(), why)
			case why == nil:
				passed++
				if err := playOtherwise(c); err != nil {
					t.Errorf("%s: %v", c.Name(), err)
				}
			}
		}
		t.Logf("%-12s %3d of %3d", area, passed, len(cases))
	}
}

// playOtherwise replays a case at other paces and under other schedules.
func playOtherwise(c *recorded.Case) error {
	if err := play(c, sim.Zero{}, hasty); err != nil {
		return fmt.Errorf("in haste: %w", err)
	}
	for seed := range uint64(10) {
		if err := play(c, sim.NewSeed(seed), somewhat(20)); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}
