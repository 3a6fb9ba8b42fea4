package explore

import (
	"fmt"
	"math"

	"github.com/threelaws/threelaws/sim"
)

// Strategy says how the schedules of one exploration are drawn.
type Strategy uint8

// The strategies. Mixed alternates between uniform schedules, of which nearly
// all are distinct, and PCT's, which go deeper.
const (
	Mixed Strategy = iota
	Random
	Priorities
	numStrategies
)

var strategyNames = [numStrategies]string{"mix", "random", "pct"}

// String returns the name as it is typed: mix, random, pct.
func (s Strategy) String() string { return strategyNames[s] }

// ParseStrategy is the inverse of [Strategy.String].
func ParseStrategy(name string) (Strategy, error) {
	for i, n := range strategyNames {
		if n == name {
			return Strategy(i), nil
		}
	}
	return 0, fmt.Errorf("strategy %q: there are mix, random and pct", name)
}

// maxDepth is the deepest kind of bug PCT is asked for; depths rotate from 1.
const maxDepth = 3

// SeedAt is the seed of the run with that index in an exploration from base.
// The first run has the base itself, so that one run can be repeated alone.
func SeedAt(base uint64, index int) uint64 {
	if index == 0 {
		return base
	}
	return sim.Mix(base ^ sim.Mix(uint64(index)))
}

// Plan fixes the schedule of every run of an exploration.
type Plan struct {
	Strategy Strategy
	Seed     uint64
	Steps    int // the k of PCT: how long runs are; at 0, every run is uniform
}

// At returns the choices of the run with that index, and what to call them. The
// first run is uniform in every strategy: its length is the estimate of k.
func (p Plan) At(index int) (c sim.Chooser, name string) {
	seed := SeedAt(p.Seed, index)
	turn := index - 1
	if p.Strategy == Mixed {
		turn = index / 2
	}
	uniform := p.Strategy == Random || p.Strategy == Mixed && index%2 == 0
	if uniform || index == 0 || p.Steps <= 0 {
		return NewUniform(seed), "random"
	}
	d := 1 + turn%maxDepth
	return NewPCT(seed, d, p.Steps), pctNames[d]
}

var pctNames = [maxDepth + 1]string{"", "pct 1", "pct 2", "pct 3"}

// Bound sums up what PCT promises for the runs of one depth: had the world a bug
// of that depth, showing in runs as long as these, some run would have met it
// with the probability Found or more.
type Bound struct {
	Depth int
	Runs  int     // runs to which a bound applies: no longer than k steps
	Least float64 // the smallest bound of one of them
	Found float64 // 1 - the product of (1 - bound)
}

func (b *Bound) add(run float64) {
	if run <= 0 {
		return
	}
	if b.Runs == 0 || run < b.Least {
		b.Least = run
	}
	b.Runs++
	b.Found = 1 - (1-b.Found)*(1-math.Min(run, 1))
}

// String renders the bound in one line.
func (b Bound) String() string {
	return fmt.Sprintf("depth %d: %d runs, each at least %.2g; together %.1f%%", b.Depth, b.Runs, b.Least, 100*b.Found)
}
