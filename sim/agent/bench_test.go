package agent_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// A kubebuilder main from its start until it has settled, with a new process for each life: one world at a time, and
// two beside each other.
func BenchmarkManager(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(map[int]string{1: "one", 2: "two"}[n], func(b *testing.B) {
			c := program(b, "manager").Controller(keeper)
			run(b, c, sim.Zero{}, nil).Stop() // builds it
			b.ResetTimer()
			var seed atomic.Uint64
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					for s := seed.Add(1); s <= uint64(b.N); s = seed.Add(1) {
						run(b, c, sim.NewSeed(s), manyFaults).Stop()
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
		})
	}
}
