package scenarios

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// subjectOf tells the laws what a process runs.
func subjectOf(process string, c host.Controller) law.Subject {
	s := law.Subject{Process: process, Controller: c.Name, Kind: c.For.Kind}
	for _, gvk := range c.Owns {
		s.Dependents = append(s.Dependents, gvk.Kind)
	}
	if c.Selector != nil {
		s.Selector = func(owner any) labels.Selector { return c.Selector(owner.(runtime.Object)) }
	}
	if c.Replicas != nil {
		s.Replicas = func(owner any) int { return c.Replicas(owner.(runtime.Object)) }
	}
	return s
}

// watcher counts writes while a run goes, and notes who did what in the step.
type watcher machine

// Observe takes in one record. A removal in the step in which the deletion was
// asked for is one write with it.
func (w *watcher) Observe(r *sim.Record) {
	d := &w.deed
	if r.Op == sim.Commit {
		if r.Subresource != "status" && (d.record < 0 || d.object != r.Object) {
			w.writes++
		}
		d.record, d.object = r.Index, r.Object
	}
	d.process = r.Process
	d.outside = d.outside || r.Op == sim.FaultHit && r.Verb != "synced" || r.Process == "user" && r.Op == sim.Commit
}

// stepped is what the last step did, for the detector of fights.
type stepped struct {
	process string
	record  int // of its last commit, -1 for none
	object  sim.Ref
	outside bool // the user or a fault had a hand in it
}

// watch tells the detector of fights of the last step.
func (m *machine) watch() {
	d := m.deed
	m.deed = stepped{record: -1}
	if d.process == "" {
		return
	}
	var hash uint64
	if d.record >= 0 {
		hash = m.cluster.AbstractHash()
	}
	if cycle, found := m.detector.Observe(hash, d.record, d.process, d.record >= 0, d.outside); found {
		m.cycle = cycle
	}
}

// busy lists the processes that can do something now.
func (m *machine) busy() []string {
	var names []string
	for _, a := range m.world.Enabled() {
		if a.Class <= sim.Work {
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
