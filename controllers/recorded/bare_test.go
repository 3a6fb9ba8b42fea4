package recorded_test

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/sim"
)

// TestComparisonSees replays the cases with no controller running. Only those
// pass in which nothing is left to do: the comparison is not an empty one.
func TestComparisonSees(t *testing.T) {
	var idle []string
	for _, area := range []string{"gc", "controllers"} {
		cases, err := recorded.ReadArea("../../fakeapi/testdata/vectors/" + area)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			c.Controllers = nil
			if play(c, sim.Zero{}, patient) == nil {
				idle = append(idle, c.Case)
			}
		}
	}
	want := []string{"dryrun-delete", "other-version-of-group", "self-Background", "self-Foreground", "self-default",
		"unknown-kind-missing-owner", "cron-starting-deadline", "cron-suspended"}
	if !slices.Equal(idle, want) {
		t.Errorf("pass without controllers: %q, want %q", idle, want)
	}
}
