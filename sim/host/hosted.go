package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// hosted is the host's state of a process that runs a [Program]: its requests and watches, and the objects that the
// program has received.
type hosted struct {
	process    *Process
	make       func(c *Cluster, process string) Program
	program    Program
	calls      []*Call // requests that wait to be executed or answered, sorted by key and digest
	streams    []*Stream
	held       map[*fakeapi.Kind]bool // kinds whose watches are paused
	known      map[*fakeapi.Kind]*observations
	order      []*observations
	aging      map[*fakeapi.Kind]bool   // kinds that the program has listed at the old revision in from: see aged
	expired    map[*fakeapi.Kind]bool   // kinds whose watch has expired, and that the program will list again
	begun      bool                     // since its start, the program has sent a request other than a list or a watch
	last       int                      // index of the last record that the program can know; -1 for none
	spoken     map[uint64]int           // goroutine that got the last answer -> the field since of the answered call
	reconciles map[int64]*announced     // the reconciles that the program has announced, by number
	later      map[string]later         // name of a controller and key -> when the key is reconciled again without an event
	kindBy     map[string]*fakeapi.Kind // name of a controller of the program -> the kind that it reconciles
	from       uint64                   // the revision of the first lists after the start; 0 for the latest
}

// Hosting returns a controller that hosts a whole program. The parameter make returns the program of a process. Hosting
// ignores as.New, as.Routes, as.Reads and as.Workers. The other fields of as describe the program to the laws.
func Hosting(as Controller, make func(c *Cluster, process string) Program) Controller {
	as.program, as.Routes, as.Reads, as.Workers = true, nil, nil, 0
	as.New = func(*Env) Reconciler { return &hosted{make: make, held: map[*fakeapi.Kind]bool{}} }
	return as
}

// Sync is never called, because a program calls its own reconcile functions.
func (g *hosted) Sync(_ context.Context, key string) error {
	panic("host: a program was to sync " + key)
}

func (g *hosted) start(p *Process) {
	g.process, g.program = p, g.make(p.cluster, p.Name)
	g.calls, g.streams, g.order = nil, nil, nil
	g.known, g.aging, g.expired = map[*fakeapi.Kind]*observations{}, map[*fakeapi.Kind]bool{}, map[*fakeapi.Kind]bool{}
	g.begun, g.last, g.spoken, g.from = false, -1, nil, g.process.from
	g.reconciles, g.later, g.kindBy = map[int64]*announced{}, map[string]later{}, map[string]*fakeapi.Kind{}
	if p, is := g.program.(announcer); is {
		p.SetAnnounced(g)
	}
	if p, is := g.program.(immediate); is {
		p.SetExecute(func(c *Call) {
			g.adopt(c)
			c.aside = true
			c.execute(nil)
		})
	}
	g.program.Start()
}

// kill ends the program. It returns a description of the requests that were pending, or "".
func (g *hosted) kill() (detail string) {
	if g.program == nil { // make has panicked
		return ""
	}
	detail = about(g.calls)
	g.program.Kill()
	g.calls, g.streams = nil, nil
	return detail
}

// Printed returns the last lines that the process's program has printed, or nil if its output is not kept.
func (p *Process) Printed(lines int) []string {
	if g, is := p.engine.(*hosted); is {
		if program, is := g.program.(printer); is {
			return program.Printed(lines)
		}
	}
	return nil
}

// collect takes the program's new requests, and drops canceled requests.
func (g *hosted) collect() {
	if g.process.Down {
		return
	}
	g.calls = slices.DeleteFunc(g.calls, func(c *Call) bool { return c.withdrawn() })
	g.streams = slices.DeleteFunc(g.streams, (*Stream).Closed)
	spoken := g.spoken
	g.spoken = nil
	fresh := slices.DeleteFunc(g.program.Asked(), func(c *Call) bool { return c.withdrawn() })
	g.say(fresh, g.program.Queried())
	if len(fresh) == 0 {
		return
	}
	for _, c := range fresh {
		g.adopt(c)
	}
	distinguish(fresh)
	for _, c := range fresh {
		c.key = unused(c.key, func(key string) bool {
			return slices.ContainsFunc(g.calls, func(d *Call) bool { return d.key == key })
		})
		if since, ok := spoken[c.Thread]; ok {
			c.since = since // the goroutine may continue the same work
		}
		if a := g.reconciles[c.Reconcile]; a != nil {
			c.announced, c.since = a, a.since
		}
		g.begun = g.begun || !c.Watches && c.Request.Verb != fakeapi.List
		g.calls = append(g.calls, c)
	}
	slices.SortFunc(g.calls, func(a, b *Call) int { return strings.Compare(a.key, b.key) })
}

func (g *hosted) adopt(c *Call) {
	now := g.process.cluster.world.History.Len()
	c.of, c.state, c.asked, c.since, c.cause = g, asking, now, now, g.last
	c.key = c.name()
}

// distinguish sorts calls with the same key by their content.
func distinguish(calls []*Call) {
	seen := map[string]*Call{}
	for _, c := range calls {
		if first := seen[c.key]; first != nil {
			first.digest, c.digest = first.content(), c.content()
		}
		seen[c.key] = c
	}
	slices.SortStableFunc(calls, func(a, b *Call) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.digest, b.digest))
	})
}

// unused returns the key, or the key with a number ("key #2") if it is taken. A replay finds actions by their keys, so no
// two actions that are enabled at once may have the same.
func unused(key string, taken func(string) bool) string {
	other := key
	for n := 2; taken(other); n++ {
		other = fmt.Sprintf("%s #%d", key, n)
	}
	return other
}

func (g *hosted) sign(c *Call, r *sim.Record) {
	g.process.stamp(r)
	r.Cause, r.Asked = c.cause, c.asked
	c.announced.stamp(r)
}

func (g *hosted) execute(c *Call, f *FailedRequest) {
	cluster := g.process.cluster
	switch {
	case c.Watches && f != nil:
		c.Response = f.response(c.Request)
	case c.Watches:
		c.Stream, c.Response = g.open(c)
	default:
		var req *fakeapi.Request
		req, c.at = g.aged(c.Request)
		c.Response = cluster.serve(c, req, f)
		if !c.aside {
			g.process.linger(req)
		}
	}
	c.state = answered
}

// exit is the Detail of an action: the program has returned, so its process ends. The program restarts after a delay.
const (
	exit        = "exit"
	backOff     = 10 * time.Second // first restart delay of a container in a kubelet; each restart doubles the delay
	mostBackOff = 5 * time.Minute
	crashLoop   = 5 // after this number of exits in a row without work, there is no restart; see workedSince
)

// offer lists the program's next actions. It orders watch events by age. Otherwise, in the default schedule, constant
// events of one kind would delay the events of another kind without end.
func (g *hosted) offer(into []sim.Action) []sim.Action {
	g.collect()
	name := g.process.Name
	if _, ended := g.program.Ended(); ended {
		return append(into, sim.Action{Class: sim.Work, Actor: name, Detail: exit})
	}
	for i, c := range g.calls {
		class := sim.Execute
		if c.state == answered {
			class = sim.Respond
		}
		into = append(into, sim.Action{Class: class, Actor: name, Detail: c.key, Slot: i})
	}
	calls := len(into)
	for i, s := range g.streams {
		if !g.held[s.Kind] && g.waiting(s) > 0 {
			into = append(into, sim.Action{Class: sim.Deliver, Actor: name, Detail: s.name, Slot: i})
		}
	}
	slices.SortStableFunc(into[calls:], func(a, b sim.Action) int {
		return cmp.Compare(g.streams[a.Slot].queue[0].is.version, g.streams[b.Slot].queue[0].is.version)
	})
	return into
}

func (g *hosted) take(x sim.Action) {
	switch {
	case x.Class == sim.Respond:
		g.answer(x.Slot)
	case x.Class == sim.Execute:
		c := g.calls[x.Slot]
		c.execute(g.process.cluster.fault(g.process.Name, c.Request))
	case x.Class == sim.Deliver:
		g.deliver(g.streams[x.Slot])
	case x.Detail == exit:
		g.exited()
	default:
		panic("host: took " + x.Key() + ", which a program does not offer")
	}
}

func (g *hosted) answer(i int) {
	c := g.calls[i]
	g.calls = slices.Delete(g.calls, i, i+1)
	g.spoken = map[uint64]int{c.Thread: c.since}
	g.last = max(c.cause, g.process.cluster.lastOf(c.asked))
	k := c.Request.Kind
	if c.Request.Verb == fakeapi.List && (fills(c.Request) || g.expired[k]) && c.Response.Err == nil && !c.Watches {
		delete(g.expired, k)
		g.listed(c.Request, c.at)
	}
	if c.Stream != nil {
		c.Stream.name = unused(strings.TrimSpace(k.GVK.Kind+" "+c.Stream.scope), func(name string) bool {
			return slices.ContainsFunc(g.streams, func(s *Stream) bool { return s.name == name })
		})
		g.streams = append(g.streams, c.Stream)
		slices.SortFunc(g.streams, func(a, b *Stream) int { return strings.Compare(a.name, b.name) })
	}
	g.program.Answer(c)
}

// lastOf returns the index of the newest record, or -1 if the history has not grown since it had the length asked.
func (c *Cluster) lastOf(asked int) int {
	if n := c.world.History.Len(); n > asked {
		return n - 1
	}
	return -1
}

// exited ends a process whose program has returned. It sets the timer for the restart, unless the process is in a crash
// loop.
func (g *hosted) exited() {
	p := g.process
	err, _ := g.program.Ended()
	detail, hangs := "the program returned", false
	if p := (*Panic)(nil); errors.As(err, &p) {
		detail, hangs = sim.Panicked+p.Text, p.Hangs
	} else if err != nil {
		detail = "the program returned: " + err.Error()
	}
	if g.workedSince(p.exitedAt) {
		p.exits = 0
	}
	if p.exits++; p.exits == crashLoop && !strings.HasPrefix(detail, sim.Panicked) {
		detail = fmt.Sprintf("%scrash loop: it has exited %d times in a row and written nothing between, except Leases and Events: %s", sim.Panicked,
			p.exits, strings.TrimPrefix(detail, "the program returned: "))
	}
	p.kill()
	p.cluster.fact(p, "crash", detail)
	p.exitedAt = p.cluster.world.History.Len()
	if hangs || p.exits >= crashLoop {
		return // no restart: the program would end in the same way again
	}
	wait := min(backOff<<min(p.exits-1, crashLoop), mostBackOff)
	p.cluster.world.Clock.After(wait, p.Name, restart, func() { p.Restart(0) })
}

// workedSince reports whether a record with this index or a later one is a write of the process. Leases and Events do not
// count: with leader election, even a process that exits at once writes both.
func (g *hosted) workedSince(from int) bool {
	h := &g.process.cluster.world.History
	for i := from; i < h.Len(); i++ {
		if r := h.At(i); r != nil && r.Op == sim.Commit && r.Process == g.process.Name &&
			r.Object.Kind != "Lease" && r.Object.Kind != "Event" {
			return true
		}
	}
	return false
}
