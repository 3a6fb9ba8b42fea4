package agent_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/agent/testdata/copier"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// settles runs a program from its start until it has settled.
func settles(b *testing.B, c host.Controller, seed int) {
	run(b, c, sim.NewSeed(uint64(seed)), nil).Stop()
}

// medians runs functions in turn, since other work of the machine comes and goes, and returns their median times in
// seconds.
func medians(b *testing.B, all ...func(i int)) (seconds []float64) {
	took := make([][]time.Duration, len(all))
	b.ResetTimer()
	for i := range b.N {
		for j, do := range all {
			began := time.Now()
			do(i)
			took[j] = append(took[j], time.Since(began))
		}
	}
	for _, t := range took {
		slices.Sort(t)
		seconds = append(seconds, t[len(t)/2].Seconds())
	}
	return seconds
}

// One program in a bubble of this process, and as a function in a process that serves one world after the other. Run it
// on one processor: taskset -c 0 go test -bench Function$ -cpu 1.
func BenchmarkFunction(b *testing.B) {
	f := function(b)
	if why := f.Reuse(rehearsal(b)); why != "" {
		b.Fatal(why)
	}
	inProcess := bubble.Controller(keeper, func(ctx context.Context, cfg *rest.Config) error { return copier.Run(ctx, cfg) })
	settles(b, inProcess, 0) // what is done once
	m := medians(b, func(i int) { settles(b, inProcess, i) }, func(i int) { settles(b, f.Controller(keeper), i) })
	b.ReportMetric(1/m[1], "schedules/s")
	b.ReportMetric(m[0]/m[1], "of-bubble")
}
