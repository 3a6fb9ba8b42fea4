package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/render"
)

// machine is everything one run of a script moves: the world, the cluster in
// it, its user and its judge.
type machine struct {
	world   *sim.World
	server  *fakeapi.Server
	cluster *host.Cluster
	judge   *law.Judge
	user    *user
	traps   []*trap
	marks   map[string]uint64 // name -> revision of the server

	writes  int // commits that are not of status, since ever
	settles int // barriers so far
	from    int // record from which the next settle's timeline starts
	since   int // record from which "laws since=switch" counts

	detector law.Detector
	threads  map[[2]string]string
	deed     stepped
	rounds   int   // recurrences since the user or a fault last had a hand in it
	cycle    []int // a fight that was found and not yet recorded
}

// trap crashes a process at a point of its next matching request.
type trap struct {
	process string
	after   bool         // after the server executed it, before the answer arrives
	verb    fakeapi.Verb // "" for any write
	kind    *fakeapi.Kind
	name    string // "" for any
	back    bool   // it comes up again by itself
}

// newMachine makes an empty cluster under the default schedule.
func newMachine(laws []*law.Law) *machine {
	m := &machine{world: sim.New(sim.Zero{}), server: fakeapi.New(fakeapi.Options{}), user: &user{}, marks: map[string]uint64{}, threads: map[[2]string]string{}}
	m.cluster = host.NewCluster(m.world, m.server)
	m.world.Add(m.user)
	m.judge = law.NewJudge(nil, laws)
	m.world.Observers = append(m.world.Observers, m.judge, (*watcher)(m))
	m.detector.Busy = m.busy
	m.world.Digests = append(m.world.Digests, m.digest)
	return m
}

// digest folds what the script remembers between two steps.
func (m *machine) digest(h *sim.Hash) {
	h.Word(uint64(len(m.traps)))
	h.Word(uint64(m.settles))
}

// stop ends all coroutines. Nothing may be done with the machine afterwards.
func (m *machine) stop() {
	for _, p := range m.cluster.Processes() {
		p.Crash(false)
	}
}

// spring crashes the processes whose traps the last step reached.
func (m *machine) spring() {
	m.traps = slices.DeleteFunc(m.traps, func(t *trap) bool {
		p := m.cluster.Process(t.process)
		if p == nil || p.Down {
			return false
		}
		req, answered, ok := p.Asking()
		if !ok || answered != t.after || !t.matches(req) {
			return false
		}
		m.world.Do("crash "+t.process, func() { p.Crash(t.back) })
		return true
	})
}

func (t *trap) matches(req *fakeapi.Request) bool {
	if t.verb == "" && (req.Verb == fakeapi.Get || req.Verb == fakeapi.List) || t.verb != "" && t.verb != req.Verb {
		return false
	}
	return (t.kind == nil || t.kind.GVK == req.Kind.GVK) && (t.name == "" || t.name == req.Name)
}

// Settling is how a settle ended.
type Settling struct {
	Settled bool          `json:"settled"`
	At      time.Duration `json:"at"`
	Writes  int           `json:"writes"`           // commits, those of status left out
	Steps   int           `json:"steps"`            // of the world
	Fight   bool          `json:"fight,omitempty"`  // a law found that it repeats itself
	Broken  bool          `json:"broken,omitempty"` // stopped at a broken law
}

// limits end a settle that does not come to rest by itself.
type limits struct {
	writes int           // 0: maxWrites
	time   time.Duration // virtual; 0: none
	breach func() bool   // asked after each step; nil: never
}

// The bounds of a settle that names none: far above what any file needs, so
// that a run that never rests ends all the same.
const (
	maxWrites = 500_000
	maxSteps  = 50_000_000
)

// After firstLook writes, and again after four times as many, the last lines
// are searched for a repetition that the law does not call a fight because the
// world is not left alone: a view is held, a process is down.
const (
	firstLook   = 512
	lookRecords = 4000
)

// loops reports whether the last records go round in a circle.
func (m *machine) loops() bool {
	h := &m.world.History
	lines := render.Timeline(h, Facts, render.Options{From: max(0, h.Len()-lookRecords)})
	first, last, ok := render.Cycle(lines)
	return ok && len(lines)-first > 8*(last-first+1)
}

// settle steps until only faults are enabled, or a limit is reached.
func (m *machine) settle(l limits) Settling {
	m.detector.Reset()
	m.rounds = 0
	m.deed = stepped{record: -1}
	writes, steps, start := m.writes, m.world.Steps(), m.world.Clock.Elapsed()
	most := l.writes
	if most == 0 {
		most = maxWrites
	}
	s, look := Settling{}, firstLook
	for {
		if l.time > 0 && m.idleUntil() > start+l.time {
			m.world.Clock.Advance(start + l.time - m.world.Clock.Elapsed())
			s.Settled = true
			break
		}
		if !m.world.Step() {
			s.Settled = m.world.Quiet()
			break
		}
		m.spring()
		if m.writes-writes >= most || m.world.Steps()-steps >= maxSteps {
			break
		}
		if l.breach != nil && l.breach() {
			s.Broken = true
			break
		}
		if s.Fight = m.fought(); s.Fight {
			break
		}
		if done := m.writes - writes; done >= look {
			if look *= 4; m.loops() {
				break
			}
		}
	}
	if s.Settled {
		m.cluster.Settled()
	}
	s.At, s.Writes, s.Steps = m.world.Clock.Elapsed(), m.writes-writes, m.world.Steps()-steps
	return s
}

// idleUntil is the time of the next step: now, unless only timers are left.
func (m *machine) idleUntil() time.Duration {
	if e := m.world.Enabled(); len(e) == 0 || e[0].Class != sim.Timer {
		return m.world.Clock.Elapsed()
	}
	if p := m.world.Clock.Pending(); len(p) > 0 {
		return p[0].At
	}
	return m.world.Clock.Elapsed()
}

// lookup reads a stored object, nil when there is none.
func (m *machine) lookup(t target) metav1.Object {
	if o, ok := m.server.Lookup(t.kind, t.namespace, t.name).(metav1.Object); ok {
		return o
	}
	return nil
}

// request executes one request of the user, inside a step.
func (m *machine) request(req *fakeapi.Request) error {
	if resp := m.cluster.Request("user", req); resp.Err != nil {
		s := resp.Err.ErrStatus
		r := &sim.Record{Code: int(s.Code), Reason: string(s.Reason), Message: s.Message}
		return fmt.Errorf("%s", refusalOf(r))
	}
	return nil
}

// processes lists the names of the running processes.
func (m *machine) processes() []string {
	var names []string
	for _, p := range m.cluster.Processes() {
		names = append(names, p.Name)
	}
	return names
}

// instances lists the processes a step means: one, every instance of a
// controller, or all.
func (m *machine) instances(name string) []*host.Process {
	var out []*host.Process
	for _, p := range m.cluster.Processes() {
		base, _, _ := strings.Cut(p.Name, "#")
		if name == "all" || p.Name == name || base == name && !strings.Contains(name, "#") {
			out = append(out, p)
		}
	}
	return out
}
