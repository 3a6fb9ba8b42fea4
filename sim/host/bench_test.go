package host

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// BenchmarkToy runs the smallest controller to its end from a cold start: what
// the kernel, the host and the server cost without laws.
func BenchmarkToy(b *testing.B) {
	b.ReportAllocs()
	steps := 0
	for i := 0; b.Loop(); i++ {
		c := newToyCluster(b, sim.NewSeed(uint64(i)), 5)
		c.Start("toy", toyController(false))
		run(b, c.world, 10000)
		steps += c.world.Steps()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}
