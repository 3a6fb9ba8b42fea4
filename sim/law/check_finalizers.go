// Checks of FIN-1 and NS-1, and functions that say which actor a finalizer belongs to.

package law

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// finalizersHold checks FIN-1: an actor may remove only its own finalizers. This holds in a race
// too: if an actor writes an old list of finalizers, it removes each finalizer that was added since. A resourceVersion,
// or a test operation in a JSON patch, prevents this.
func finalizersHold(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.Before == nil || len(w.Before.GetFinalizers()) == 0 {
		return
	}
	j.Exercise()
	for _, f := range w.Before.GetFinalizers() {
		if meta.Finalized(w.After, f) || j.state.mayTakeOff(&w.process.Actor, f) ||
			strings.HasPrefix(r.Verb, "delete") && meta.ByPolicy(f) {
			continue
		}
		j.Report(Informed, "another's finalizer "+f+" taken off"+w.unseen(f))
		return
	}
}

// unseen returns an explanation if the actor had not read the finalizer that it removes, and "" otherwise.
func (w *Write) unseen(finalizer string) string {
	if w.Saw == nil || meta.Finalized(w.Saw, finalizer) {
		return ""
	}
	return " by a list that was read before it was there: send the resourceVersion"
}

func (s *State) putOn(process, finalizer string) bool {
	p := s.byProcess[process]
	return p != nil && (p.puts[finalizer] || p.includes[finalizer])
}

// mayTakeOff reports whether an actor may remove a finalizer, because the actor declares it or has added it. The
// garbage collector may remove the server's finalizers (orphan, foregroundDeletion). An actor of profile Ownership that
// declares no finalizers may remove all except those of the server, those that another actor has declared or added, and
// those that the user has added to existing objects.
func (s *State) mayTakeOff(sub *Actor, finalizer string) bool {
	switch {
	case slices.Contains(sub.Finalizers, finalizer), s.putOn(sub.Process, finalizer):
		return true
	case sub.Controller == collector:
		return meta.ByPolicy(finalizer)
	case meta.ByPolicy(finalizer) || s.others[finalizer] || sub.Finalizers != nil || sub.Profile > Ownership:
		return false
	}
	for _, p := range s.processes {
		if slices.Contains(p.Actor.Finalizers, finalizer) ||
			p.puts[finalizer] && p.Actor.Controller != sub.Controller {
			return false
		}
	}
	return true
}

func (s *State) held(sub *Actor, m metav1.Object) bool {
	return m != nil && slices.ContainsFunc(m.GetFinalizers(), func(f string) bool { return s.mayTakeOff(sub, f) })
}

// managed reports whether a running process with active watches is responsible for a finalizer.
func (s *State) managed(finalizer string) bool {
	return s.someWorks(func(p *process) bool {
		return meta.ByPolicy(finalizer) && p.Actor.Controller == collector ||
			slices.Contains(p.Actor.Finalizers, finalizer) || p.puts[finalizer]
	})
}

// kept reports whether a running actor that declares a finalizer gives a reason to keep it on an object.
func (s *State) kept(o *Object, finalizer string) bool {
	return s.someWorks(func(p *process) bool {
		return slices.Contains(p.Actor.Finalizers, finalizer) && p.Actor.keeps(s, o)
	})
}

func (s *State) collecting() *process {
	for _, p := range s.processes {
		if p.works() && p.Actor.Controller == collector {
			return p
		}
	}
	return nil
}

func (s *State) drained() bool {
	return s.someWorks(func(p *process) bool { return p.Actor.Controller == drainer })
}

// keptByOthers reports whether the namespace controller gives a reason to keep a namespace.
func (s *State) keptByOthers(namespace *Object) bool {
	return s.someWorks(func(p *process) bool {
		return p.Actor.Controller == drainer && p.Actor.keeps(s, namespace)
	})
}

// someWorks reports whether a running process with active watches satisfies the condition.
func (s *State) someWorks(is func(p *process) bool) bool {
	return slices.ContainsFunc(s.processes, func(p *process) bool { return p.works() && is(p) })
}

// keeps reports whether the actor gives a reason to keep its finalizer on an object.
func (a *Actor) keeps(s *State, o *Object) bool {
	return a.FinalizerReason != nil && a.FinalizerReason(objectOf(o.Value), s.values) != ""
}

func drainFirst(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckDraining()
		return
	}
	w := &j.write
	if w.process == nil || w.process.Actor.Controller != drainer {
		return
	}
	j.Exercise()
	switch ns := r.Object.Namespace; {
	case r.Object.Kind == "Namespace":
		if left := j.state.anyIn(r.Object.Name); w.After == nil && left != nil {
			j.Report(Informed, "let go while "+left.Ref.String()+" is in it")
		} else if !meta.Deleting(w.Before) {
			j.Report(Informed, "finalized though nobody deletes it")
		}
	case ns == "" || !w.Deletes:
	default:
		o := j.state.Named("Namespace", "", ns)
		if o == nil || !meta.Deleting(o.Meta) {
			j.Report(Informed, "deleted though nobody deletes its namespace")
		} else if pod := j.state.firstIn("Pod", ns); pod != nil && r.Object.Kind != "Pod" {
			j.Report(Informed, "deleted while "+pod.Ref.String()+" is still there")
		}
	}
}

func (j *Judge) stuckDraining() {
	for _, p := range j.state.processes {
		if p.Actor.Controller != drainer || !p.works() {
			continue
		}
		j.actor = p
		for _, o := range j.state.Kind("Namespace") {
			if !meta.Deleting(o.Meta) || j.state.keptByOthers(o) {
				continue
			}
			j.Exercise()
			if j.state.anyIn(o.Ref.Name) == nil {
				j.Report(Informed, o.Ref.String()+" stays although nothing is in it")
			}
		}
		return
	}
}

func (s *stored) firstIn(kind, namespace string) *Object {
	for _, o := range s.Kind(kind) {
		if o.Ref.Namespace == namespace {
			return o
		}
	}
	return nil
}

// anyIn returns any object in a namespace, or nil. Events do not count.
func (s *stored) anyIn(namespace string) *Object {
	for _, l := range s.kinds {
		if l.kind == "Event" {
			continue
		}
		if o := s.firstIn(l.kind, namespace); o != nil {
			return o
		}
	}
	return nil
}
