package scenarios

import "github.com/threelaws/threelaws/sim"

// user is the person of the script, as an actor: what is left to do, in order.
type user struct {
	queue []deed
}

// deed is one thing the user does.
type deed struct {
	label string // canonical: "delete rs/web-a"
	do    func() // performs it, inside a step
}

// Name is "user".
func (u *user) Name() string { return "user" }

// Offer lists the next deed.
func (u *user) Offer(into []sim.Action) []sim.Action {
	if len(u.queue) == 0 {
		return into
	}
	return append(into, sim.Action{Class: sim.User, Actor: "user", Detail: u.queue[0].label})
}

// Take performs the next deed.
func (u *user) Take(sim.Action) {
	d := u.queue[0]
	u.queue = u.queue[1:]
	d.do()
}

// Footprint says that a deed touches everything: it may be a fault, a switch of
// generation, or several requests.
func (u *user) Footprint(sim.Action) sim.Footprint { return sim.Footprint{Global: true} }

// Digest folds how much is left to do.
func (u *user) Digest(h *sim.Hash) { h.Word(uint64(len(u.queue))) }
