package trial

import (
	"slices"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Do performs a user action at once, as a step of its own.
func (t *Trial) Do(label string, f func() error) error {
	var err error
	t.World.Do(label, func() { err = f() })
	return err
}

// Later queues a user action. The schedule decides when it happens. Queued actions keep their order.
func (t *Trial) Later(label string, do func()) {
	t.LaterUntil(label, func() bool { do(); return true })
}

// LaterUntil is [Trial.Later] for an action that is repeated until it succeeds: until the function do returns true. The
// user waits a second before each repetition.
func (t *Trial) LaterUntil(label string, do func() bool) {
	t.user.clock = &t.World.Clock
	t.user.queue = append(t.user.queue, deed{label, do})
}

// Waiting returns the number of the user's queued actions.
func (t *Trial) Waiting() int { return len(t.user.queue) }

// Request executes a request of the user at once, as a step of its own. The error is the server's refusal.
func (t *Trial) Request(req *fakeapi.Request) (fakeapi.Response, error) {
	resp := t.Cluster.As(law.User, req)
	if resp.Err != nil {
		return resp, resp.Err
	}
	return resp, nil
}

// user is the user of the trial: an actor with a queue of actions.
type user struct {
	queue []deed
	clock *sim.Clock
	again time.Duration // when the first queued action is tried again; 0 before its first try
}

type deed struct {
	label string      // the name of the action in the schedule, such as "delete rs/web-a"
	do    func() bool // performs the action; false if it must be repeated
}

func (u *user) Name() string { return law.User }

func (u *user) Offer(into []sim.Action) []sim.Action {
	if len(u.queue) == 0 || u.clock.Elapsed() < u.again {
		return into
	}
	return append(into, sim.Action{Class: sim.User, Actor: law.User, Detail: u.queue[0].label})
}

func (u *user) Take(sim.Action) {
	if !u.queue[0].do() {
		u.again = u.clock.Elapsed() + time.Second
		return
	}
	u.queue, u.again = u.queue[1:], 0
}

// Footprint is global, because a user action may be a fault, a switch of era, or several requests.
func (u *user) Footprint(sim.Action) sim.Footprint { return sim.Footprint{Global: true} }

func (u *user) Digest(h *sim.Hash) {
	h.Word(uint64(len(u.queue)))
	if u.again > 0 {
		h.Word(uint64(max(0, u.again-u.clock.Elapsed())))
	}
}

// Trap crashes a process at its next matching request, before or after the request is executed.
type Trap struct {
	Process string
	After   bool          // true: crash after the request, before its answer; false: before the request
	Verb    fakeapi.Verb  // "" for any write
	Kind    *fakeapi.Kind // nil for any kind
	Name    string        // "" for any name
	Back    bool          // the process restarts by itself
}

// Set adds a trap.
func (t *Trial) Set(x Trap) { t.traps = append(t.traps, &x) }

// spring is called after each step. It crashes each process with a trap that matches its pending or answered request.
func (t *Trial) spring() {
	t.traps = slices.DeleteFunc(t.traps, func(x *Trap) bool {
		p := t.Cluster.Process(x.Process)
		if p == nil || p.Down {
			return false
		}
		req, answered, ok := p.Asking()
		if !ok || answered != x.After || !x.matches(req) {
			return false
		}
		t.World.Do("crash "+x.Process, func() { p.Crash(x.Back) })
		return true
	})
}

func (x *Trap) matches(req *fakeapi.Request) bool {
	if x.Verb == "" && (req.Verb == fakeapi.Get || req.Verb == fakeapi.List) || x.Verb != "" && x.Verb != req.Verb {
		return false
	}
	return (x.Kind == nil || x.Kind.GVK == req.Kind.GVK) && (x.Name == "" || x.Name == req.Name)
}

func (x *Trap) digest(h *sim.Hash) {
	h.String(x.Process)
	h.Bool(x.After)
	h.Bool(x.Back)
	h.String(string(x.Verb))
	if x.Kind != nil {
		h.String(x.Kind.GVK.Kind)
	}
	h.String(x.Name)
}
