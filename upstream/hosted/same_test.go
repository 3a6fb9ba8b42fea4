package hosted_test

import (
	"fmt"
	"testing"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
)

// twofold are worlds in which upstream's garbage collector tells of an owner in a namespace where
// it cannot be, by an event, while it lists and watches everything there is.
var twofold = []string{
	"bugs/d25-cluster-scoped-object-of-a-namespaced-owner",
	"orphan/cluster-scoped-object-is-known-from-its-dependent",
	"orphan/cluster-scoped-object-names-a-namespaced-owner",
}

// Schedules that are run twice are one run, faults and all: of each world 40 of them, and 300 by
// either way of drawing them in a long run.
func TestCollectorsScheduleIsOneRun(t *testing.T) {
	runs, strategies := 40, []explore.Strategy{explore.Random}
	if long() {
		runs, strategies = enough, append(strategies, explore.Mixed)
	}
	all, _ := worlds(t)
	seen := 0
	for _, name := range twofold {
		for _, w := range all {
			if w.name != name {
				continue
			}
			seen++
			for _, s := range strategies {
				if err := w.twice(t, s, runs); err != nil {
					t.Errorf("%s: %v", w.name, err)
				}
			}
		}
	}
	if seen != len(twofold) {
		t.Errorf("of the %d worlds %d are there", len(twofold), seen)
	}
}

// twice runs so many schedules of a world twice.
func (w *world) twice(t *testing.T, by explore.Strategy, runs int) error {
	p := &scenarios.Script{File: w.file, Registry: inTheirPlace(), Until: w.until, Faults: w.options(t).Faults}
	r, err := explore.Config{New: func() explore.Program { return p.Run }, Runs: runs, Seed: 1, Strategy: by,
		Workers: 1, All: true, Double: 1}.Run(t.Context())
	if err == nil && r.Doubled != runs {
		err = fmt.Errorf("of %d schedules %d were run twice", runs, r.Doubled)
	}
	return err
}
