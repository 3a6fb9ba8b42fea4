package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/agent/testdata/copier"
	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var built sync.Map // keys are directory and package, values are func() string

// program builds a module in testdata with the overlay, only once.
func program(t testing.TB, module string, args ...string) *agent.Binary {
	t.Helper()
	return mainIn(t, filepath.Join("testdata", module), ".", args...)
}

type buildOf struct {
	dir       string
	announces bool
}

// mainIn builds a main package in any module with the overlay, only once.
func mainIn(t testing.TB, in, pkg string, args ...string) *agent.Binary {
	t.Helper()
	build := sync.OnceValue(func() buildOf {
		dir, err := os.MkdirTemp("", "agent")
		must(t, err)
		temporary = append(temporary, dir)
		cache, err := os.UserCacheDir()
		must(t, err)
		b := overlay.Build{Dir: in, Package: pkg, Out: filepath.Join(dir, "main"),
			Cache: filepath.Join(cache, "threelaws"), Flags: []string{"-tags", "overlaid"}}
		done, err := b.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return buildOf{dir, done.Announces}
	})
	once, _ := built.LoadOrStore(in+" "+pkg, build)
	done := once.(func() buildOf)()
	b := &agent.Binary{Path: filepath.Join(done.dir, "main"), Args: args, Announces: done.announces}
	t.Cleanup(b.Close)
	return b
}

var temporary []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range temporary {
		_ = os.RemoveAll(dir) // if this fails, a temporary directory stays
	}
	os.Exit(code)
}

// BenchmarkManager measures a kubebuilder main from its start until it has settled, with a new process for each life.
// It runs one world at a time, and two worlds concurrently.
func BenchmarkManager(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(map[int]string{1: "one", 2: "two"}[n], func(b *testing.B) {
			c := program(b, "manager").Controller(keeper)
			run(b, c, sim.Zero{}, nil).Stop() // builds the program
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

// BenchmarkFirstRequest measures the time from the start of a small program to its first request. Each life has a new
// process.
func BenchmarkFirstRequest(b *testing.B) {
	c := program(b, "bare").Controller(keeper)
	run(b, c, sim.Zero{}, nil).Stop() // builds the program
	m := medians(b, func(int) {
		w := trial.New(trial.Options{Choices: sim.Zero{}})
		defer w.Stop()
		w.Start("keeper", c)
		for w.World.History.Len() == 0 {
			w.Settle(trial.Limits{Steps: 1})
		}
	})
	b.ReportMetric(1000*m[0], "ms")
}

// settles runs a program from its start until it has settled.
func settles(b *testing.B, c host.Controller, seed int) {
	run(b, c, sim.NewSeed(uint64(seed)), nil).Stop()
}

// medians returns the median times of functions in seconds. It calls them alternately, because the machine's load
// varies.
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

// BenchmarkFunction compares a program in a synctest bubble of this process with the same program in a process that
// serves many worlds. Run it on one CPU: taskset -c 0 go test -bench Function$ -cpu 1.
func BenchmarkFunction(b *testing.B) {
	f := function(b)
	if why := f.Reuse(rehearsal(b)); why != "" {
		b.Fatal(why)
	}
	inProcess := bubble.Controller(keeper, func(ctx context.Context, cfg *rest.Config) error { return copier.Run(ctx, cfg) })
	settles(b, inProcess, 0) // not measured: the first run fills caches
	m := medians(b, func(i int) { settles(b, inProcess, i) }, func(i int) { settles(b, f.Controller(keeper), i) })
	b.ReportMetric(1/m[1], "schedules/s")
	b.ReportMetric(m[0]/m[1], "of-bubble")
}
