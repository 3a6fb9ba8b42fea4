package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
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

	writes    int // commits that are not of status, since ever
	committed int // the step of the last commit
	settles   int // barriers so far
	from      int // record from which the next settle's timeline starts
	since     int // record from which "laws since=switch" counts

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

// pristine is a new server, of which every run gets a fork.
var pristine = struct {
	sync.Mutex
	server *fakeapi.Server
}{server: fakeapi.New(fakeapi.Options{})}

func newServer() *fakeapi.Server {
	pristine.Lock()
	defer pristine.Unlock()
	return pristine.server.Fork()
}

// memory is the histories of explored runs that are over: runs are short and
// many, and would each let theirs grow anew.
var memory = sync.Pool{New: func() any { return new([]sim.Record) }}

// recycle gives a run's history to a run to come.
func (m *machine) recycle() {
	h := m.world.History.Records
	m.world.History.Records = nil
	clear(h)
	h = h[:0]
	memory.Put(&h)
}

// newMachine makes an empty cluster under the default schedule.
func newMachine(laws []*law.Law) *machine {
	m := &machine{world: sim.New(sim.Zero{}), server: newServer(), user: &user{}, marks: map[string]uint64{}, threads: map[[2]string]string{}}
	m.cluster = host.NewCluster(m.world, m.server)
	m.world.Add(m.user)
	m.judge = law.NewJudge(nil, laws)
	m.judge.Kinds = Served(m.server)
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
