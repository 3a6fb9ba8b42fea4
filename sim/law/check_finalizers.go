// The check of FIN-1, and whose a finalizer is.

package law

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// finalizersHold is FIN-1. A list that was read before the finalizer was there takes it off as well: a resourceVersion or
// a test in a JSON patch would have kept the write from landing, so this race is never excused.
func finalizersHold(j *Judge, r *sim.Record) {
	w := &j.write
	if w.process == nil || w.Before == nil || len(w.Before.GetFinalizers()) == 0 {
		return
	}
	j.Ask()
	for _, f := range w.Before.GetFinalizers() {
		if meta.Finalized(w.After, f) || j.state.mayTakeOff(&w.process.Actor, f) ||
			strings.HasPrefix(r.Verb, "delete") && meta.ByPolicy(f) {
			continue
		}
		j.Report(Informed, "another's finalizer "+f+" taken off"+w.unseen(f))
		return
	}
}

// unseen words that the actor had not read a finalizer that it takes off, "" where it had.
func (w *Write) unseen(finalizer string) string {
	if w.Saw == nil || meta.Finalized(w.Saw, finalizer) {
		return ""
	}
	return " by a list that was read before it was there: send the resourceVersion"
}

// putOn reports whether a process was seen to put a finalizer on something.
func (s *State) putOn(process, finalizer string) bool {
	p := s.byProcess[process]
	return p != nil && p.puts[finalizer]
}

// mayTakeOff reports whether a finalizer is the subject's own: one that it
// declares, or was seen to put on. Of a subject that declares none, and is held to no more than
// ownership, any that is not the server's and that nobody else declares, or puts on,
// may be.
func (s *State) mayTakeOff(sub *Actor, finalizer string) bool {
	switch {
	case slices.Contains(sub.Finalizers, finalizer), s.putOn(sub.Process, finalizer):
		return true
	case sub.Controller == collector:
		return meta.ByPolicy(finalizer)
	case meta.ByPolicy(finalizer) || sub.Finalizers != nil || sub.Profile > Ownership:
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

// held reports whether a subject's own finalizer keeps an object.
func (s *State) held(sub *Actor, m metav1.Object) bool {
	if m == nil {
		return false
	}
	for _, f := range m.GetFinalizers() {
		if s.mayTakeOff(sub, f) {
			return true
		}
	}
	return false
}

// managed reports whether a process that is up, and is kept from seeing nothing,
// takes a finalizer off, or should: it put it on objects.
func (s *State) managed(finalizer string) bool {
	system := finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	for _, p := range s.processes {
		if p.works() && (system && p.Actor.Controller == collector ||
			slices.Contains(p.Actor.Finalizers, finalizer) || p.puts[finalizer]) {
			return true
		}
	}
	return false
}

// kept reports whether those whose finalizer it is say why an object keeps it.
func (s *State) kept(o *Object, finalizer string) bool {
	for _, p := range s.processes {
		if p.works() && p.Actor.FinalizerReason != nil && slices.Contains(p.Actor.Finalizers, finalizer) &&
			p.Actor.FinalizerReason(objectOf(o.Value), s.values) != "" {
			return true
		}
	}
	return false
}

// collecting is a garbage collector that works, nil for none.
func (s *State) collecting() *process {
	for _, p := range s.processes {
		if p.works() && p.Actor.Controller == collector {
			return p
		}
	}
	return nil
}

// drained reports whether somebody empties namespaces.
func (s *State) drained() bool {
	for _, p := range s.processes {
		if p.works() && p.Actor.Controller == drainer {
			return true
		}
	}
	return false
}

// keptByOthers reports whether a namespace waits for others than who empties it.
func (s *State) keptByOthers(namespace *Object) bool {
	for _, p := range s.processes {
		if p.works() && p.Actor.Controller == drainer && p.Actor.FinalizerReason != nil &&
			p.Actor.FinalizerReason(objectOf(namespace.Value), s.values) != "" {
			return true
		}
	}
	return false
}
