package agent

import (
	"slices"
	"sync"
	"time"

	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// Controller returns a controller that runs the program. as has its other properties, such as name and Contract.
func (b *Binary) Controller(as host.Controller) host.Controller {
	return b.hosted(as, b)
}

// hosted is like [Binary.Controller], but takes the processes from the given pool.
func (b *Binary) hosted(as host.Controller, from pool) host.Controller {
	as.Announces = b.Announces
	return host.Hosting(as, func(c *host.Cluster, name string) host.Program {
		r := roomOf(c)
		if r.pods[name] == nil {
			r.pods[name] = &pod{Replica: b.replica(r.replicas(b)), of: b}
		}
		return &life{room: r, binary: b, name: name, pod: r.pods[name], pool: from}
	})
}

// room is the state that all processes of one world share.
type room struct {
	place   host.Place
	clock   *sim.Clock
	handler *httpapi.Handler
	lives   []*life         // the running lives, in the order of their start
	pods    map[string]*pod // process name -> pod
	begun   int             // the number of lives so far
	quiet   *quiet.Quiet
}

// pod is the state that the lives of one replica share.
type pod struct {
	Replica
	of      *Binary
	printed log
}

var (
	roomsMu sync.Mutex
	rooms   = map[host.Place]*room{}
)

// roomOf returns the room of a world, and makes it at the first call.
func roomOf(c host.Place) *room {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	r := rooms[c]
	if r == nil {
		clock := &c.World().Clock
		r = &room{place: c, clock: clock, handler: httpapi.New(c.Server(), clock.Now), quiet: quiet.New(c.World()),
			pods: map[string]*pod{}}
		r.quiet.Next, r.quiet.Late, r.quiet.Polls, r.quiet.Settled = r.next, r.late, r.polls, r.settled
		clock.Beside = r.beside
		r.handler.CallWebhooksVia(r.webhooks)
		rooms[c] = r
		c.AtStop(r.close)
	}
	return r
}

func (r *room) replicas(b *Binary) (n int) {
	for _, p := range r.pods { //detcheck:ordered they are counted
		if p.of == b {
			n++
		}
	}
	return n
}

// now returns the world's time in the unit of the protocol: nanoseconds since 1970.
func (r *room) now() int64 { return sim.Epoch.Add(r.clock.Elapsed()).UnixNano() }

// next returns the time until the earliest timer of all programs.
func (r *room) next() (time.Duration, bool) {
	return r.least(func(l *life) time.Duration { return l.next })
}

// late returns the time until the earliest late timer of all programs.
func (r *room) late() (time.Duration, bool) {
	return r.least(func(l *life) time.Duration { return l.late })
}

// polls returns the longest interval at which the programs reconcile keys: see [host.Process.Polls]. known is also false if
// no program does.
func (r *room) polls() (longest time.Duration, known bool) {
	for _, l := range r.lives {
		each, known := l.announced.Polls()
		if !known {
			return 0, false
		}
		longest = max(longest, each)
	}
	return longest, longest > 0
}

func (r *room) least(due func(*life) time.Duration) (least time.Duration, any bool) {
	for _, l := range r.lives {
		if at := due(l); at != 0 && (!any || at-r.clock.Elapsed() < least) {
			least, any = max(0, at-r.clock.Elapsed()), true
		}
	}
	return least, any
}

// beside advances the clocks of all programs to the given time. It stops earlier if a program makes a request or ends.
// It returns the time that was reached.
func (r *room) beside(to time.Duration) time.Duration {
	for {
		first := r.first(to)
		if first == nil {
			return to
		}
		until := to
		for _, l := range r.lives {
			if l != first && l.next != 0 && l.next < until {
				until = l.next
			}
		}
		if came, acted, works := first.pass(until); acted {
			if works {
				r.quiet.Asked(came)
			}
			return came
		}
	}
}

// first returns the life whose timer is the earliest, or nil if no timer is due by the given time.
func (r *room) first(to time.Duration) (first *life) {
	for _, l := range r.lives {
		if l.next != 0 && l.next <= to && (first == nil || l.next < first.next) {
			first = l
		}
	}
	return first
}

// looksAtWaits is the number of lives of a process after which its goroutines' waits are checked again. A check takes a
// tenth of the time of a life.
const looksAtWaits = 16

// settled is called when the world has settled. It looks for deadlocks in each process in which a goroutine waits for a
// mutex. In one of 16 lives of a process, it also records what the goroutines wait for. A schedule may let time pass before
// it answers a request. Then the world has not settled.
func (r *room) settled() {
	for _, l := range r.lives {
		for _, c := range l.open { //detcheck:ordered one is enough
			if !c.gone {
				return
			}
		}
	}
	for _, l := range slices.Clone(r.lives) {
		look := l.process.served%looksAtWaits == 0
		if !look && !l.locked {
			continue
		}
		m := wire.Command(wire.Stacks, r.now())
		m.Flag(look)
		if !l.tell(m) {
			continue
		}
		l.binary.wait(l.process.waits)
		if text := l.process.deadlock; text != "" {
			l.end()
			l.over, l.err = true, &host.Panic{Text: text, Hangs: true}
		}
	}
}

func (r *room) leave(l *life) {
	r.lives = slices.DeleteFunc(r.lives, func(x *life) bool { return x == l })
}

func (r *room) close() {
	roomsMu.Lock()
	delete(rooms, r.place)
	roomsMu.Unlock()
	for _, l := range slices.Clone(r.lives) {
		l.leave()
	}
}
