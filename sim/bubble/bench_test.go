package bubble_test

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// A program on client-go's informers and queue, from its start to rest and its end.
func BenchmarkProgram(b *testing.B) {
	steps := 0
	for i := range b.N {
		w := start(b, sim.NewSeed(uint64(i)), nil)
		steps += w.Settle(trial.Limits{}).Steps
		w.Stop()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}
