package host

import "github.com/threelaws/threelaws/sim"

// fault is a sort of fault of a budget.
type fault struct {
	name string
	// strikes reports whether the fault makes a difference to a process now.
	strikes func(p *Process) bool
	// strike lets it strike, where it makes a difference.
	strike func(p *Process)
	// digest folds the facts that matter only while the fault can still strike; nil for none.
	digest func(c *Cluster, h *sim.Hash)
}

// pick chooses among those that a fault can strike.
func pick[T any](w *sim.World, from []T, strikes func(T) bool, label string) T {
	var those []T
	for _, x := range from {
		if strikes(x) {
			those = append(those, x)
		}
	}
	return those[w.Pick(len(those), label)]
}
