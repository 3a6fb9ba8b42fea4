// Checks of WRITE-1 to WRITE-8.

package law

import (
	"maps"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// oneWorker checks WRITE-1. Two workers of a process may not reconcile the same key at the same time. A change that
// arrives during a reconcile must lead to another reconcile.
func oneWorker(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		for _, p := range j.state.processes {
			if p.works() && j.binds(&p.Actor) {
				p.unsynced(j)
			}
		}
		return
	}
	p := j.state.process(r.Process)
	if p == nil || p.Actor.For.Kind == "" || r.Incarnation != p.incarnation {
		return
	}
	j.Exercise()
	if k := p.queue.Find(view.KeyOf(r.For)); k != nil && k.Running > 0 {
		j.Report(Informed, r.For.String()+" is being synced by two workers")
	}
}

func (p *process) unsynced(j *Judge) {
	j.actor = p
	for i := range p.queue.Keys {
		j.Exercise()
		if k := &p.queue.Keys[i]; k.Dirty && k.Running == 0 {
			j.Report(Informed, "a change for "+k.String()+" reached "+p.Actor.Process+" and was never synced")
		}
	}
}

// converges returns a function for [Law].New, for WRITE-2, WRITE-3 and WRITE-7. These laws require that controllers
// converge in spite of a hardship, such as a crash. met reports whether a process had the hardship. Reports contain the
// text hardship.
func converges(met func(p *process) bool, hardship string) func(*Judge) Check {
	return On(func(j *Judge, r *sim.Record) {
		for _, p := range j.state.processes {
			if p.Actor.For.Kind == "" || p.stopped || !met(p) || !j.binds(&p.Actor) {
				continue
			}
			j.actor = p
			j.Exercise()
			if o := j.unconverged(p); o != nil {
				j.Report(Informed, o.text()+", after "+p.Actor.Process+" "+hardship)
			}
		}
	}, sim.Settled)
}

// unconverged returns the first owner with too few or too many dependents that the process's controller reconciles, or
// nil.
func (j *Judge) unconverged(p *process) *ownerCount {
	c := j.survey()
	for i := range c.owners {
		o := &c.owners[i]
		if o.Ref.Kind == p.Actor.For.Kind && o.sub.Controller == p.Actor.Controller && j.settled(o) && o.short() {
			return o
		}
	}
	return nil
}

func sharedInformers(j *Judge, r *sim.Record) {
	p := j.state.process(r.Process)
	if p == nil || p.Actor.For.Kind == "" || p.Actor.Polls {
		return
	}
	j.Exercise()
	if r.Verb == "list" {
		j.Report(Informed, "lists "+r.Object.Kind+" from the server in a sync of "+r.For.String())
	}
}

func neverMutate(j *Judge, r *sim.Record) {
	j.Exercise()
	if r.Op == sim.SyncEnd { // Mutation records come before the SyncEnd record
		return
	}
	text := r.Object.String() + " changed in the cache of " + r.Process
	if r.Message != "" {
		text += ": " + r.Message
	}
	j.Report(Informed, text)
}

// waitForCaches checks WRITE-6: a process must have received its initial lists before it writes.
type waitForCaches struct {
	opSet
	j       *Judge
	refused map[string]int // process -> record index of the first write that was refused before the caches had synced
}

func newWaitForCaches(j *Judge) Check {
	return &waitForCaches{ops(sim.Refusal, sim.Delivery, sim.FaultHit), j, map[string]int{}}
}

func (c *waitForCaches) Reset() { clear(c.refused) }

func (c *waitForCaches) Digest(h *sim.Hash) {
	var sum uint64
	for process := range c.refused { //detcheck:ordered a sum
		sum += sim.Mix(sim.HashString(process))
	}
	h.Word(sum)
}

func (c *waitForCaches) Record(r *sim.Record) {
	p := c.j.state.process(r.Process)
	if p == nil || p.Actor.For.Kind == "" || p.synced && r.Incarnation <= p.incarnation {
		return
	}
	switch {
	case r.Op == sim.Refusal:
		if _, ok := c.refused[r.Process]; !ok && writes(r.Verb) {
			c.refused[r.Process] = r.Index
		}
		return
	case r.Op == sim.FaultHit && r.Verb != "synced":
		if r.Verb == "crash" || r.Verb == "restart" {
			delete(c.refused, r.Process)
		}
		return
	case r.Op == sim.Delivery && !r.Initial || r.Incarnation > p.incarnation:
		return
	}
	c.j.Exercise()
	first, ok := c.refused[r.Process]
	if p.early >= 0 && (!ok || p.early < first) {
		first, ok = p.early, true
	}
	if ok {
		c.j.report(Violation{Strength: Informed, Record: first, Text: r.Process + " writes before its caches have synced"})
		p.early = -1
		delete(c.refused, r.Process)
	}
}

func writes(verb string) bool {
	return verb != "get" && verb != "list" && verb != "watch"
}

func retryErrors(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		j.replacesAgain(r)
		return
	}
	if r.Op == sim.SyncEnd {
		p := j.state.process(r.Process)
		if p == nil || r.Message == "" {
			return
		}
		j.Exercise()
		if k := p.queue.Find(view.KeyOf(r.For)); k != nil && k.Hot > j.HotLoop {
			j.Report(Informed, r.For.String()+" failed "+strconv.Itoa(k.Hot+1)+" times without a backoff that grows: "+
				r.Message)
		}
		return
	}
	for _, p := range j.state.processes {
		if !p.works() || !j.binds(&p.Actor) {
			continue
		}
		j.actor = p
		for i := range p.queue.Keys {
			if k := &p.queue.Keys[i]; k.Failed && k.Running == 0 && !k.Dirty && !(r.Reason == CutShort && k.Again) &&
				!j.state.asksAgain(p, k) {
				j.Report(Informed, "the error of the last sync of "+k.String()+" by "+p.Actor.Process+" was lost")
			}
		}
	}
}

// replacesAgain reports that a failed dependent is replaced less than a second after the previous replacement. The
// second begins with the reconcile that made the previous replacement.
func (j *Judge) replacesAgain(r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.Actor.RetryOf == nil || !w.Dependent || !w.Mine || !w.Deletes {
		return
	}
	k, p := w.counting(r), w.process
	if k == nil {
		return
	}
	seen, late := r.Saw, false
	if seen == nil {
		seen = r.Before
	}
	what := w.Actor.RetryOf(objectOf(r.SawFor), objectOf(seen), func(kind string) []runtime.Object {
		late = late || p.Cache(kind).Changed > k.begun
		return p.Cache(kind).Values()
	})
	if what == "" || late {
		return
	}
	j.Exercise()
	maps.DeleteFunc(p.tried, func(_ try, at time.Duration) bool { return r.At-at >= view.Brief })
	of := try{k.owner, what}
	if at, again := p.tried[of]; again {
		j.Report(Informed, "replaced though it has failed, as the one before it "+(r.At-at).String()+" ago")
	}
	if p.tried == nil {
		p.tried = map[try]time.Duration{}
	}
	p.tried[of] = k.at
}
