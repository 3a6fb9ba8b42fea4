package host

import "github.com/threelaws/threelaws/sim"

// fault is a sort of fault that a budget can hold.
type fault struct {
	name string
	// strikes reports whether the fault makes a difference to a process now.
	strikes func(p *Process) bool
	// strike lets it strike, where it makes a difference.
	strike func(p *Process)
	// digest folds what a world depends on in which it can still strike; nil for
	// nothing but what it consists of anyway.
	digest func(c *Cluster, h *sim.Hash)
}

// pick chooses one of those that a fault can strike.
func pick[T any](w *sim.World, from []T, strikes func(T) bool, label string) T {
	var those []T
	for _, x := range from {
		if strikes(x) {
			those = append(those, x)
		}
	}
	return those[w.Pick(len(those), label)]
}
