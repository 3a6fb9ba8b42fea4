package explore

import (
	"fmt"
	"math"

	"github.com/threelaws/threelaws/sim"
)

// Strategy says how the schedules of an exploration are chosen.
type Strategy uint8

// The strategies. Mixed alternates between uniform schedules, which are nearly all distinct, and PCT schedules, which
// find deeper bugs.
const (
	Mixed Strategy = iota
	Random
	Priorities
	numStrategies
)

var strategyNames = [numStrategies]string{"mix", "random", "pct"}

// String returns the name of the strategy in options: mix, random or pct.
func (s Strategy) String() string { return strategyNames[s] }

// ParseStrategy parses the format of [Strategy.String].
func ParseStrategy(name string) (Strategy, error) {
	for i, n := range strategyNames {
		if n == name {
			return Strategy(i), nil
		}
	}
	return 0, fmt.Errorf("strategy %q: there are mix, random and pct", name)
}

// maxDepth is the greatest depth of PCT schedules. The depths of successive runs rotate from 1 to maxDepth.
const maxDepth = 3

// SeedAt returns the seed of the run with an index. base is the seed of the exploration. It is also the seed of run 0,
// so that a single run can be repeated.
func SeedAt(base uint64, index int) uint64 {
	if index == 0 {
		return base
	}
	return sim.Mix(base ^ sim.Mix(uint64(index)))
}

// Plan determines the schedule of every run of an exploration.
type Plan struct {
	Strategy Strategy
	Seed     uint64
	Steps    int // k in PCT: the expected length of a run; if 0, all runs are uniform
}

// At returns the choices of the run with an index, and the name of its strategy. Run 0 is always uniform, because its
// length is the estimate of k.
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

// Bound is PCT's guarantee for the runs of one depth. Suppose that the world has a bug of this depth that shows in runs
// of at most k steps. Then at least one run finds the bug with probability Found or more.
type Bound struct {
	Depth int
	Runs  int     // runs with a bound, which have at most k steps
	Least float64 // the smallest bound of one of these runs
	Found float64 // 1 - the product of all (1 - bound)
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

// String returns the bound in one line.
func (b Bound) String() string {
	return fmt.Sprintf("depth %d: %d runs, each at least %.2g; together %.1f%%", b.Depth, b.Runs, b.Least, 100*b.Found)
}
