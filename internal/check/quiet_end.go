package check

import (
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// end holds an owner and its dependents at the end of a quiet run.
type end struct {
	settled    bool
	stored     runtime.Object // nil if the owner does not exist
	dependents []manifest
	complains  bool // see quiet.complains
}

func (e *end) status() any {
	if e.stored == nil {
		return nil
	}
	return object(e.stored)["status"]
}

// soon is the shortest time after which a controller may delete its own sample so that worlds can end before.
const soon = 10 * time.Second

// removesOwner reports whether the controller has deleted the sample, and how long after the beginning.
func (r *quiet) removesOwner() (after time.Duration, gone bool) {
	for _, rec := range r.writes() {
		if rec.Verb == "delete" && rec.Object.Kind == r.s.owner.GetKind() && rec.Object.Name == r.s.owner.GetName() &&
			rec.Object.Namespace == r.s.owner.GetNamespace() {
			return rec.At, true
		}
	}
	return 0, false
}

// panics reports whether the controller has panicked since the last user action.
func (r *quiet) panics() bool {
	for i := r.began; i < r.World.History.Len(); i++ {
		rec := r.World.History.At(i)
		if rec.Process == r.process && (rec.Op == sim.SyncEnd && rec.Reason == "panic" ||
			rec.Op == sim.FaultHit && strings.HasPrefix(rec.Reason, sim.Panicked)) {
			return true
		}
	}
	return false
}

// ending returns why the program ended last, or "".
func (r *quiet) ending() (why string) {
	for i := range r.World.History.Len() {
		if rec := r.World.History.At(i); rec.Op == sim.FaultHit && rec.Process == r.process {
			why = strings.TrimPrefix(rec.Reason, sim.Panicked)
		}
	}
	return why
}

// complains reports whether the controller has shown an error or a warning since the last user action.
func (r *quiet) complains() bool {
	last := map[sim.Ref]string{} // owner -> the error of its last sync
	for i := r.began; i < r.World.History.Len(); i++ {
		rec := r.World.History.At(i)
		if rec.Process != r.process {
			continue
		}
		switch rec.Op {
		case sim.SyncEnd:
			last[rec.Object] = rec.Message
		case sim.Commit:
			if o, is := rec.After.(runtime.Object); is && rec.Object.Kind == "Event" {
				if kind, _, _ := unstructured.NestedString(object(o), "type"); kind == "Warning" {
					return true
				}
			}
		}
	}
	for _, message := range last { //detcheck:ordered any error counts
		if message != "" {
			return true
		}
	}
	return false
}

// misses returns empty objects with the kinds and names of objects that the controller tries to delete, although they have
// never existed. It may delete them because the sample does not ask for them.
func (r *quiet) misses() (list []manifest) {
	was := map[sim.Ref]bool{}
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		at := sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name}
		k := r.Server.KindNamed(at.Kind)
		if rec.Op == sim.Commit {
			was[at] = true
		}
		if rec.Op != sim.Refusal || rec.Process != r.process || rec.Verb != "delete" || rec.Code != http.StatusNotFound || was[at] || k == nil {
			continue
		}
		was[at] = true
		m := manifest{&unstructured.Unstructured{Object: map[string]any{}}}
		m.SetGroupVersionKind(k.GVK)
		m.SetNamespace(at.Namespace)
		m.SetName(at.Name)
		list = append(list, m)
	}
	return list
}
