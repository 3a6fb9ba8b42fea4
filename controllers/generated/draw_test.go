package generated_test

import "github.com/threelaws/threelaws/sim"

// draw is the stream of numbers that decides what a world is like.
type draw struct{ seed *sim.Seed }

// n is a number below n.
func (d draw) n(n int) int { return d.seed.Pick(n, "") }

// in is true once in n times.
func (d draw) in(n int) bool { return d.n(n) == 0 }

// drawer is what draws.
type drawer interface{ n(n int) int }

// one is one of several values.
func one[T any](d drawer, list ...T) T { return list[d.n(len(list))] }

// some is one of several values, or, as often as each of them, none.
func some[T any](d drawer, list ...T) *T {
	i := d.n(len(list) + 1)
	if i == len(list) {
		return nil
	}
	v := list[i]
	return &v
}
