package scenarios

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Subject tells the laws what a process runs.
func Subject(process string, c host.Controller) law.Subject {
	s := law.Subject{Process: process, Controller: c.Name, Kind: c.For.Kind, APIVersion: c.For.GroupVersion().String(), Finalizers: c.Finalizers, Profile: law.Profile(c.Profile)}
	for _, gvk := range c.Owns {
		s.Dependents = append(s.Dependents, gvk.Kind)
	}
	for _, gvk := range c.Tends {
		s.Tends = append(s.Tends, gvk.Kind)
	}
	if c.Selector != nil {
		s.Selector = func(owner any) labels.Selector { return c.Selector(owner.(runtime.Object)) }
	}
	if c.Replicas != nil {
		s.Replicas = func(owner any) int { return c.Replicas(owner.(runtime.Object)) }
	}
	if c.Counted != nil {
		s.Counted = func(owner any) int { return c.Counted(owner.(runtime.Object)) }
	}
	if c.Active != nil {
		s.Active = func(object any) bool { return c.Active(object.(runtime.Object)) }
	}
	return s
}

// Served tells the laws which kinds a server knows.
func Served(s *fakeapi.Server) func(apiVersion, kind string) law.Scope {
	return func(apiVersion, kind string) law.Scope {
		k := s.Kind(schema.FromAPIVersionAndKind(apiVersion, kind))
		switch {
		case k == nil:
			return law.Unserved
		case k.Namespaced:
			return law.Namespaced
		}
		return law.Cluster
	}
}

// watcher counts writes while a run goes, and notes who did what in the step.
type watcher machine

// Observe takes in one record. A removal in the step in which the deletion was
// asked for is one write with it.
func (w *watcher) Observe(r *sim.Record) {
	d := &w.deed
	if r.Op == sim.Commit {
		w.committed = r.Step
		if r.Subresource != "status" && (d.record < 0 || d.object != r.Object) {
			w.writes++
		}
		d.record, d.object = r.Index, r.Object
	}
	if r.Op == sim.Delivery {
		d.thread = w.thread(r.Process, r.Object.Kind)
	} else {
		d.thread = r.Process
	}
	d.outside = d.outside || r.Op == sim.FaultHit && r.Verb != "synced" || r.Process == "user" && r.Op == sim.Commit
}

// stepped is what the last step did, for the detector of fights.
type stepped struct {
	thread  string // who: a process, or the events of one kind to one process
	record  int    // of its last commit, -1 for none
	object  sim.Ref
	outside bool // the user or a fault had a hand in it
}

// watch tells the detector of fights of the last step.
func (m *machine) watch() {
	d := m.deed
	m.deed = stepped{record: -1}
	if d.thread == "" {
		return
	}
	var hash uint64
	if d.record >= 0 {
		hash = m.cluster.AbstractHash()
	}
	if d.outside {
		m.rounds = 0
	}
	if cycle, found := m.detector.Observe(hash, d.record, d.thread, d.record >= 0, d.outside); found {
		if m.rounds++; m.rounds == fightRounds {
			m.cycle, m.rounds = cycle, 0
		}
	}
}

// fightRounds is how often a state must recur before it is called a fight. Two
// instances of one controller may by chance undo each other's work once.
const fightRounds = 3

// thread names the stream of events of one kind to one process.
func (w *watcher) thread(process, kind string) string {
	key := [2]string{process, kind}
	name, ok := w.threads[key]
	if !ok {
		name = process + " sees " + kind
		w.threads[key] = name
	}
	return name
}

// busy lists who can do something now: a cycle in which one of them did nothing
// is the schedule's doing. A process whose events are kept from it is no
// fighter, however often it tries again.
func (m *machine) busy() []string {
	var names []string
	for _, a := range m.world.Enabled() {
		switch {
		case a.Class == sim.Deliver:
			names = append(names, (*watcher)(m).thread(a.Actor, a.Detail))
		case a.Class <= sim.Work:
			names = append(names, a.Actor)
		}
	}
	return names
}

// fought reports whether the last step closed the cycle of a fight, and writes
// it to the history.
func (m *machine) fought() bool {
	m.watch()
	if m.cycle == nil {
		return false
	}
	cycle := m.cycle
	m.cycle = nil
	m.detector.Reset()
	m.world.Do("fight", func() {
		m.world.Record(sim.Record{Op: sim.Fighting, Cause: cycle[0], Verb: "fight", Reason: law.CycleReason(cycle)})
	})
	return true
}
