package agent

import (
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/overlay/wire"
	"github.com/threelaws/threelaws/internal/quiet"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// life is one run of a program. After each crash a new life begins.
type life struct {
	room   *room
	binary *Binary
	name   string // the name of the process in the world
	pod    *pod
	pool   pool

	process *process      // nil before the start and after the end
	next    time.Duration // when the next timer is due; 0 for none
	late    time.Duration // when the first timer is due that is late ([wire.Late]); 0 for none
	came    time.Duration // the time that the process's clock shows
	locked  bool          // a goroutine waits for a mutex
	calls   map[int64]*call
	asked   []*host.Call
	queries []host.Query // answered requests without objects, such as discovery
	open    map[*host.Call]*call
	streams map[*host.Stream]*call
	over    bool

	execute   func(*host.Call)
	announced host.Announced
	passing   bool             // the process is advancing its clock
	asking    bool             // the process waits for the answer of a request that is executed at once
	answering int              // the number of the process's webhooks that are being called
	called    int64            // the number of the last call to a webhook
	inner     []*call          // requests that were made while a webhook is being called
	projected []string         // the resourceVersion of each object of Binary.Projections when its files were written
	buffer    []byte           // for encoding an event
	threads   map[int64]uint64 // goroutines, numbered in the order of their first requests
	err       error
}

// orders is the number of iteration orders of maps and selects. A schedule chooses one of them for each life, as a
// seed. Each earlier life of the world adds 64 to the seed. So replicas have different random values and different
// identities in leader elections.
const orders = 64

// Start begins a life. It takes a process from the pool.
func (l *life) Start() {
	l.process = l.pool.take(l.room.begun)
	l.process.all = &l.pod.printed
	l.over, l.err, l.asked, l.queries, l.next, l.late = false, nil, nil, nil, 0, 0
	l.calls, l.open, l.streams = map[int64]*call{}, map[*host.Call]*call{}, map[*host.Stream]*call{}
	l.answering, l.inner, l.asking = 0, nil, false
	l.projected, l.threads = make([]string, len(l.binary.Projections)), map[int64]uint64{}
	l.room.lives = append(l.room.lives, l)
	m := wire.Command(wire.Open, l.room.now())
	m.Num(int64(l.room.place.World().Pick(orders, "order of maps and selects") + orders*l.room.begun))
	l.room.begun++
	m.Text(l.pod.Pod)
	m.Texts(l.pod.Env)
	m.Texts(l.pod.Args)
	l.tell(m)
	l.room.quiet.Stir()
}

func (l *life) Kill() {
	if l.process == nil {
		l.over = false
		return
	}
	l.leave()
	l.room.quiet.Stir()
}

// leave ends the program. The pool uses the process for another life if possible.
func (l *life) leave() {
	p, now := l.process, l.room.now()
	l.gone()
	l.pool.give(p, now)
}

// end kills the process and removes its pending requests.
func (l *life) end() {
	l.process.kill()
	l.gone()
}

// gone removes the life from the world's running lives, and drops its pending requests.
func (l *life) gone() {
	l.process = nil
	l.room.leave(l)
	for _, c := range l.calls {
		c.drop()
	}
	l.calls, l.next = nil, 0
}

// tell sends a command to the process and handles its report. It returns false if the process has ended.
func (l *life) tell(m wire.Message) bool {
	if l.process == nil {
		return false
	}
	if l.process.broken == nil {
		l.project()
	}
	report, err := l.process.tell(m, l.ask, l.announce)
	if err != nil {
		l.gone()
		l.over, l.err = true, err
		return false
	}
	if text := l.process.recovered; text != "" {
		l.end()
		l.over, l.err = true, &host.Panic{Text: text}
		return false
	}
	l.came = time.Duration(report.TakeNum() - sim.Epoch.UnixNano())
	l.next, l.late = due(report.TakeNum()), due(report.TakeNum())
	l.locked = report.TakeFlag()
	for n := report.TakeNum(); n > 0; n-- {
		if id := report.TakeNum(); l.calls[id] != nil {
			l.calls[id].drop()
			delete(l.calls, id)
		}
	}
	return true
}

// due returns the time of a timer, or 0 for none.
func due(timer int64) time.Duration {
	if timer == 0 {
		return 0
	}
	return max(0, time.Duration(timer-sim.Epoch.UnixNano()))
}

// pass advances the clock of the process to the given time. It stops earlier if the program makes a request or ends.
// works is false if it only reports Events.
func (l *life) pass(until time.Duration) (came time.Duration, acted, works bool) {
	asked := len(l.asked)
	l.passing = true
	alive := l.tell(wire.Command(wire.Pass, sim.Epoch.Add(until).UnixNano()))
	if l.passing = false; !alive {
		return until, true, true
	}
	fresh := l.asked[asked:]
	return l.came, len(fresh) > 0, slices.ContainsFunc(fresh, func(c *host.Call) bool { return !l.open[c].reports })
}

func (l *life) SetAnnounced(to host.Announced) { l.announced = to }

// announce passes an announcement of the program on.
func (l *life) announce(op int64, m wire.Message) {
	number := m.TakeNum()
	switch op {
	case wire.Begin:
		controller := m.TakeText()
		l.announced.Begin(number, controller, m.TakeText())
	case wire.Saw:
		kind := schema.GroupKind{Group: m.TakeText()}
		kind.Kind = m.TakeText()
		objects := make([]host.Cached, m.TakeNum())
		for i := range objects {
			o := &objects[i]
			o.Namespace, o.Name, o.Version = m.TakeText(), m.TakeText(), m.TakeText()
		}
		l.announced.Saw(number, kind, objects)
	case wire.End:
		l.announced.End(number, m.TakeFlag(), time.Duration(m.TakeNum()))
	}
}

func (l *life) SetExecute(execute func(*host.Call)) { l.execute = execute }

// renews reports whether a call renews a leader election lock, and the program does nothing else. An elected program
// makes such calls for ever. They are not steps of the world, because the world would never settle.
func (l *life) renews(c *host.Call) bool {
	r := c.Request
	if !l.passing || c.Watches || r.Verb != fakeapi.Get && r.Verb != fakeapi.Update {
		return false
	}
	return r.Kind.GVK.GroupKind() == lease || quiet.IsLock(l.room.place.Server().Lookup(r.Kind, r.Namespace, r.Name))
}

var lease = schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}

func (l *life) Printed(lines int) []string { return l.pod.printed.last(lines) }

func (l *life) Asked() []*host.Call {
	l.room.quiet.Wake()
	asked := l.asked
	l.asked = nil
	return asked
}

func (l *life) Queried() []host.Query {
	queries := l.queries
	l.queries = nil
	return queries
}

func (l *life) Ended() (error, bool) { return l.err, l.over }

func (l *life) Answer(h *host.Call) {
	c := l.open[h]
	delete(l.open, h)
	if h.Stream != nil {
		h.Stream.SetClosed(c.isGone)
		l.streams[h.Stream] = c
	}
	if h.Stream == nil {
		delete(l.calls, c.id)
	}
	l.tell(c.reply(l.room.now()))
	if !c.reports {
		l.room.quiet.Stir()
	}
}

// Send delivers a watch event in the encoding that the client requested.
func (l *life) Send(s *host.Stream, e watch.Event) {
	c := l.streams[s]
	if err := c.feed.Send(e); err != nil {
		panic("agent: an event of " + s.Kind.GVK.Kind + " does not encode: " + err.Error())
	}
	m := wire.Command(wire.Chunk, l.room.now())
	m.Num(c.id)
	m.Flag(e.Type == watch.Error)
	m.Bytes(l.read(c.resp.Body))
	if e.Type == watch.Error {
		c.feed.End()
		delete(l.streams, s)
	}
	l.tell(m)
	if !quiet.IsLock(e.Object) { // a renewal for each two seconds would never let the world settle
		l.room.quiet.Stir()
	}
}

// read returns the available bytes of a feed, valid until the next call. It stops when a read does not fill the buffer.
func (l *life) read(from io.Reader) []byte {
	for used := 0; ; {
		if used == len(l.buffer) {
			l.buffer = append(l.buffer, make([]byte, max(used, 1<<12))...)
		}
		n, err := from.Read(l.buffer[used:])
		if err != nil {
			panic("agent: a feed cannot be read: " + err.Error())
		}
		if used += n; used < len(l.buffer) {
			return l.buffer[:used]
		}
	}
}
