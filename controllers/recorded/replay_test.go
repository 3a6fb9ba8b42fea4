package recorded_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/sim"
)

// TestRecorded replays every case under the default schedule, with a user who waits between two requests, and
// prints the score of each area. A case that passes is replayed with a user who does not wait, and under drawn
// schedules: the state in which the controllers settle does not depend on them.
func TestRecorded(t *testing.T) {
	only := os.Getenv("VECTOR")
	for _, area := range []string{"gc", "controllers"} {
		var passed atomic.Int32
		cases, err := casesOf[area]()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(area, func(t *testing.T) {
			for _, c := range cases {
				if strings.HasPrefix(c.Name(), only) {
					t.Run(c.Case, func(t *testing.T) {
						t.Parallel()
						if replay(t, c) {
							passed.Add(1)
						}
					})
				}
			}
		})
		faulty := 0
		for _, c := range cases {
			if _, with := faults[c.Name()]; with && strings.HasPrefix(c.Name(), only) {
				faulty++
			}
		}
		t.Logf("%-12s %3d of %3d with ours as they are, %d with one that errs as upstream's does", area,
			int(passed.Load())-faulty, len(cases), faulty)
	}
}

// casesOf reads the cases of an area once, however often the test is run.
var casesOf = map[string]func() ([]*recorded.Case, error){
	"gc":          sync.OnceValues(func() ([]*recorded.Case, error) { return readArea("gc") }),
	"controllers": sync.OnceValues(func() ([]*recorded.Case, error) { return readArea("controllers") }),
}

func readArea(name string) ([]*recorded.Case, error) {
	return recorded.ReadArea("../../fakeapi/testdata/vectors/" + name)
}

// replay replays a case, and says whether it passes.
func replay(t *testing.T, c *recorded.Case) bool {
	for _, name := range c.Controllers {
		if ours[name] == "" {
			t.Fatalf("%s ran, and nothing of ours stands for it", name)
		}
	}
	err := play(c, sim.Zero{}, patient)
	switch reason := expected[c.Name()]; {
	case err == nil && reason != "":
		t.Errorf("passes now: take it out of the table (%s)", reason)
	case err != nil && reason == "":
		t.Error(err)
	case err != nil:
		return false
	}
	if err := playOtherwise(c); err != nil {
		t.Error(err)
	}
	return !t.Failed()
}

// schedules is how many drawn schedules a case is replayed under: 10, or 200 with SOAK in the environment.
// SCHEDULES gives another number.
func schedules() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SCHEDULES"), 10, 64); err == nil {
		return n
	}
	if os.Getenv("SOAK") != "" {
		return 200
	}
	return 10
}

// playOtherwise replays a case at other paces and under other schedules. What depends on the schedule upstream,
// too, is not compared: see [listing.sway].
func playOtherwise(c *recorded.Case) error {
	if races[c.Name()] != "" {
		return nil
	}
	swayed := severalEndpoints(c)
	if err := (&player{swayed: swayed}).play(c, sim.Zero{}, hasty); err != nil {
		return fmt.Errorf("in haste: %w", err)
	}
	for seed := range schedules() {
		if err := (&player{swayed: swayed}).play(c, sim.NewSeed(seed), somewhat(20)); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}
