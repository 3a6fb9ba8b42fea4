package explore

import "github.com/threelaws/threelaws/sim"

// Fork follows a schedule to its end, and then chooses uniformly.
func Fork(s Schedule, seed uint64) sim.Chooser { return &fork{Follow(s), NewUniform(seed)} }

type fork struct {
	before *Keys
	after  *Uniform
}

func (f *fork) Pick(n int, label string) int {
	if f.before.Done() {
		return f.after.Pick(n, label)
	}
	return f.before.Pick(n, label)
}

func (f *fork) Next(w *sim.World, enabled []sim.Action) int {
	if f.before.Done() {
		return f.after.Next(w, enabled)
	}
	return f.before.Next(w, enabled)
}
