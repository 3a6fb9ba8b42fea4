package trial

import (
	"fmt"
	"sync"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Trial is one run of a world under the laws. Make it with [New].
type Trial struct {
	World   *sim.World
	Server  *fakeapi.Server
	Cluster *host.Cluster
	Judge   *law.Judge

	user  user
	traps []*Trap
	fight watch
	rest  resting
	limit deadline
}

// Options say what a trial begins with. The zero value is an empty cluster
// under the default schedule and every law.
type Options struct {
	Laws    []*law.Law      // nil means [law.All]
	Choices sim.Choices     // nil means the default schedule
	Server  *fakeapi.Server // nil means an empty one

	_ struct{}
}

// New makes a cluster without processes.
func New(o Options) *Trial {
	if o.Laws == nil {
		o.Laws = law.All()
	}
	if o.Choices == nil {
		o.Choices = sim.Zero{}
	}
	if o.Server == nil {
		o.Server = fakeapi.New(fakeapi.Options{})
	}
	t := &Trial{World: sim.New(o.Choices), Server: o.Server, Judge: law.NewJudge(nil, o.Laws)}
	t.Judge.Kinds = Served(o.Server)
	t.World.History.Records = *records.Get().(*[]sim.Record)
	t.Cluster = host.NewCluster(t.World, t.Server)
	t.World.Add(&t.user)
	t.fight.init(t)
	t.World.Observers = append(t.World.Observers, t.Judge, (*observer)(t))
	t.World.Digests = append(t.World.Digests, t.digest)
	return t
}

// Start runs a controller as a process of its own, and tells the laws what it
// owes them. The name must be unique in the trial; two processes may run the
// same controller.
func (t *Trial) Start(name string, c host.Controller) *host.Process {
	t.Judge.AddSubject(Subject(name, c))
	return t.Cluster.Start(name, c)
}

// Switch replaces a process's program by another generation of it: an upgrade
// or a downgrade.
func (t *Trial) Switch(p *host.Process, c host.Controller) {
	t.Judge.AddSubject(Subject(p.Name, c))
	p.Switch(c)
}

// Faults puts a budget of faults into the world, by name ([host.FaultNames]).
// They strike where the choices say, from here on.
func (t *Trial) Faults(counts map[string]int) error {
	b, err := host.NewBudget(t.Cluster, counts)
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	t.World.Add(b)
	return nil
}

// Broken is the breach that fails the run: the first informed one, or the first
// of any where the judge is strict; nil while there is none.
func (t *Trial) Broken() *law.Breach { return t.Judge.First() }

// Stop ends all processes: no goroutine is left of them. The trial may be looked
// at afterwards, but nothing more be done with it.
func (t *Trial) Stop() { t.Cluster.Stop() }

// records are the histories of trials that are over: explored runs are short
// and many, and would each let theirs grow anew.
var records = sync.Pool{New: func() any { return new([]sim.Record) }}

// Recycle is Stop, and gives the history to a trial to come. Nothing that points
// into it may be kept.
func (t *Trial) Recycle() {
	t.Stop()
	h := t.World.History.Records
	t.World.History.Records = nil
	clear(h)
	h = h[:0]
	records.Put(&h)
}

// digest folds what the trial itself will do: crash processes at traps, and end
// a settle.
func (t *Trial) digest(h *sim.Hash) {
	h.Word(uint64(len(t.traps)))
	for _, x := range t.traps {
		x.digest(h)
	}
	t.limit.digest(h)
}

// Step takes one step of the world, as the choices say, and springs the traps it
// reached. It reports whether there was one.
func (t *Trial) Step() bool {
	ok := t.World.Step()
	t.spring()
	return ok
}

// Take takes one of the actions that are enabled.
func (t *Trial) Take(a sim.Action) {
	t.World.Take(a)
	t.spring()
}
