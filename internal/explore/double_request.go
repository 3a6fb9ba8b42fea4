package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// maxFields is the maximal number of fields of a request that are shown.
const maxFields = 5

// differing describes the first difference between the requests of two runs. It returns "" if there is none.
func differing(a, b []sim.Request) (step int, text string) {
	i := 0
	for i < min(len(a), len(b)) && same(a[i], b[i]) {
		i++
	}
	a, b = a[i:], b[i:]
	switch {
	case len(a) == 0 && len(b) == 0:
		return 0, ""
	case len(a) == 0 || len(b) > 0 && b[0].Step < a[0].Step:
		step = b[0].Step
	default:
		step = a[0].Step
	}
	a, b = alone(a, b, step), alone(b, a, step)
	for _, x := range a {
		for _, y := range b {
			if x.Process == y.Process && x.Content.String() == y.Content.String() {
				return step, fields(x, y)
			}
		}
	}
	switch {
	case len(b) == 0:
		return step, fmt.Sprintf("%s: %s: only in the first run", a[0].Process, a[0].Content)
	case len(a) == 0:
		return step, fmt.Sprintf("%s: %s: only in the second run", b[0].Process, b[0].Content)
	}
	return step, fmt.Sprintf("%s: %s, then %s: %s", a[0].Process, a[0].Content, b[0].Process, b[0].Content)
}

func same(a, b sim.Request) bool {
	return a.Step == b.Step && a.Process == b.Process && a.Digest == b.Digest
}

// alone returns the requests of this step that are in a and not in b.
func alone(a, b []sim.Request, step int) (only []sim.Request) {
	rest := slices.Clone(b)
	for _, x := range a {
		if x.Step != step {
			break
		}
		if i := slices.IndexFunc(rest, func(y sim.Request) bool { return same(x, y) }); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			only = append(only, x)
		}
	}
	return only
}

// fields describes the fields in which two requests with the same verb, kind and name differ.
func fields(a, b sim.Request) string {
	all := a.Content.Differences(b.Content)
	if more := len(all) - maxFields; more > 0 {
		all = append(all[:maxFields], fmt.Sprintf("and %d more fields", more))
	}
	return fmt.Sprintf("%s: %s: %s", a.Process, a.Content, strings.Join(all, "; "))
}
