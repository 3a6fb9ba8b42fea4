package explore

import (
	"errors"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// A program that cannot be run ends the exploration with its error. This may show in the run that measures the length,
// in another run, or in a repeated run.
func TestUnfit(t *testing.T) {
	why := errors.New("it never waits")
	for _, double := range []int{-1, 1} {
		for _, good := range []int{0, 1, 2, 9} {
			runs := 0
			program := func(c sim.Choices) *Outcome {
				if runs++; runs > good {
					return &Outcome{Unfit: why}
				}
				return adders(2, 0).run(c)
			}
			r, err := Config{New: func() Runner { return program }, Runs: 50, Workers: 1, Double: double,
				All: true}.Run(t.Context())
			if !errors.Is(err, why) || runs != good+1 || r.Runs > good {
				t.Errorf("after %d good runs, the report has %d of %d runs; error %v", good, r.Runs, runs, err)
			}
		}
	}
}
