package trial

import (
	"fmt"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Trial is one run of a world under the laws. Create it with [New].
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

	brings bool // the invariants of contracts are evaluated too, because Options.Laws was nil
}

// Options set up a trial. The zero value is an empty cluster under the default schedule and every law.
type Options struct {
	Laws    []*law.Law      // nil means [law.All] and the invariants of contracts
	Choices sim.Choices     // nil means the default schedule
	Server  *fakeapi.Server // the objects on this server count as created by the user; nil means an empty server

	_ struct{}
}

// New returns a trial without processes.
func New(o Options) *Trial {
	brings := o.Laws == nil
	if brings {
		o.Laws = law.All()
	}
	if o.Choices == nil {
		o.Choices = sim.Zero{}
	}
	given := o.Server != nil
	if !given {
		o.Server = fakeapi.New(fakeapi.Options{})
	}
	t := &Trial{World: sim.New(o.Choices), Server: o.Server, Judge: law.NewJudge(nil, o.Laws)}
	t.Judge.Kinds, t.brings = served(o.Server), brings
	t.World.History.Records = *records.Get().(*[]sim.Record)
	t.Cluster = host.NewCluster(t.World, t.Server)
	t.World.Add(&t.user)
	t.fight.init(t)
	t.World.Observers = append(t.World.Observers, t.Judge, (*observer)(t))
	t.World.Digests = append(t.World.Digests, t.digest)
	if given {
		t.World.Do("initial", t.initial)
	} else {
		t.Judge.Begin(standing(o.Server)) // even an empty server has the default namespaces
	}
	return t
}

func (t *Trial) initial() {
	for _, r := range standing(t.Server) {
		t.World.Record(r)
	}
}

// Standing returns, for each object of the server, a record in which the user creates it.
func (t *Trial) Standing() []sim.Record { return standing(t.Server) }

func standing(s *fakeapi.Server) (records []sim.Record) {
	for _, k := range s.Kinds() {
		s.Each(k, func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			version, _ := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
			records = append(records,
				sim.Record{Op: sim.Commit, Cause: -1, Process: law.User, Verb: "create", After: obj, Version: version,
					Object: sim.Ref{Kind: k.GVK.Kind, Namespace: m.GetNamespace(), Name: m.GetName(),
						UID: string(m.GetUID())}})
			return true
		})
	}
	return records
}

// Start runs a controller as a new process, under the laws. The name must be unique in the trial. Two processes may run
// the same controller.
func (t *Trial) Start(name string, c host.Controller) *host.Process {
	t.judged(actorOf(name, &c))
	return t.Cluster.Start(name, c)
}

// judged adds an actor to the judge and, if t.brings is set, the invariants of the actor's contract.
func (t *Trial) judged(a law.Actor) {
	t.Judge.AddActor(a)
	if t.brings {
		for _, l := range a.Laws() {
			t.Judge.AddLaw(l)
		}
	}
}

// Outside declares a program that acts from outside this world, through [host.Cluster.As] with this name. The laws
// judge it by the contract in the parameter as. They assume that the program knows only the answers to its requests.
func (t *Trial) Outside(name string, as host.Controller) {
	s := actorOf(name, &as)
	s.Controller, s.Opaque, s.Outside = name, true, true
	t.judged(s)
}

// StartManager starts an instance of a controller manager, which runs its members while it leads
// ([host.Cluster.StartManager]).
func (t *Trial) StartManager(name string, elector func(lead func(bool)) host.Controller,
	members []host.Member) *host.Process {
	for _, m := range members {
		t.judged(actorOf(m.Name, &m.Controller))
	}
	return t.Cluster.StartManager(name, func(lead func(bool)) host.Controller {
		c := elector(lead)
		t.judged(actorOf(name, &c))
		return c
	}, members)
}

// SwitchMembers does the same as [Trial.Switch] for all members of a manager. programs is in the order of the members.
func (t *Trial) SwitchMembers(p *host.Process, programs []host.Controller) {
	for i, m := range p.Members() {
		t.judged(actorOf(m.Name, &programs[i]))
	}
	p.SwitchMembers(programs)
}

// Switch replaces a process's program by another era of the program, like an upgrade or a downgrade.
func (t *Trial) Switch(p *host.Process, c host.Controller) {
	t.judged(actorOf(p.Name, &c))
	p.Switch(c)
}

// Faults allows a number of faults for each name in counts ([host.FaultNames]). From then on, the choices decide when a
// fault happens.
func (t *Trial) Faults(counts map[string]int) error {
	b, err := t.Cluster.NewBudget(counts)
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	t.World.Add(b)
	return nil
}

// Forget limits the memory of an endless trial. At least the last keep records and server revisions stay. A watch
// cannot start from a dropped revision. Forget also limits what the laws remember about deleted objects, and the number
// of counters in the fight detector. Call it before the first step.
func (t *Trial) Forget(keep int) {
	t.World.History.Forget = keep
	t.Judge.Memory = max(keep, leastMemory)
	t.fight.growth.most = max(keep, leastMemory)
}

// leastMemory is the minimum number of records that the laws remember, because controllers may act on old states.
const leastMemory = 1000

// Broken returns the violation that fails the run, or nil. It is the first Informed violation. If the judge is strict,
// it is the first violation of any strength.
func (t *Trial) Broken() *law.Violation { return t.Judge.First() }

// Stop ends all processes and their goroutines. Afterwards the trial is read-only.
func (t *Trial) Stop() { t.Cluster.Stop() }

// records holds the memory of finished histories for reuse, because exploration makes many short runs.
var records = sync.Pool{New: func() any { return new([]sim.Record) }}

// Recycle stops the trial and passes the memory of its history to a later trial. Keep no pointers into the history.
func (t *Trial) Recycle() {
	t.Stop()
	h := t.World.History.Records
	t.World.History.Records = nil
	clear(h)
	h = h[:0]
	records.Put(&h)
}

// digest adds the state of the trial itself: traps, limits, and the counts that decide when the world has settled.
func (t *Trial) digest(h *sim.Hash) {
	h.Word(uint64(len(t.traps)))
	for _, x := range t.traps {
		x.digest(h)
	}
	t.limit.digest(h, t.World.Clock.Elapsed())
	t.rest.digest(h, t.World.Clock.Elapsed())
}

// Step takes one step of the world, triggers traps and looks for fights. It reports whether there was a step.
func (t *Trial) Step() bool {
	ok := t.World.Step()
	t.spring()
	t.fought()
	return ok
}

// Take does the same as Step, but with the enabled action a.
func (t *Trial) Take(a sim.Action) {
	t.World.Take(a)
	t.spring()
	t.fought()
}

func actorOf(process string, c *host.Controller) law.Actor {
	return law.Actor{Process: process, Controller: c.Name, For: c.For, Owns: c.Owns, Contract: c.Contract,
		Opaque: c.Hosted(), Announces: c.Hosted() && c.Announces}
}

// served returns a function for [law.Judge].Kinds. An empty apiVersion matches any version.
func served(s *fakeapi.Server) func(apiVersion, kind string) (namespaced, ok bool) {
	return func(apiVersion, kind string) (namespaced, ok bool) {
		if apiVersion == "" {
			for _, k := range s.Kinds() {
				if k.GVK.Kind == kind {
					return k.Namespaced, true
				}
			}
			return false, false
		}
		k := s.Kind(schema.FromAPIVersionAndKind(apiVersion, kind))
		return k != nil && k.Namespaced, k != nil
	}
}
