package routing

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// TieBreak routes events like controllers before ControllerRef (WATCH-8). It enqueues the oldest of the controllers of
// a kind that select an object. If several are equally old, it enqueues the first by name. Each kind may enqueue a
// controller for the same object. The enqueued controller need not be the one that created or deleted the object.
type TieBreak struct {
	Owner   schema.GroupVersionKind
	Selects func(owner runtime.Object, labels map[string]string) bool
}

func (t *TieBreak) Route(kind schema.GroupVersionKind) host.Route {
	return host.Route{Kind: kind, Do: t.Do}
}

func (t *TieBreak) Do(v host.View, e host.Event, out *host.Effect) {
	switch {
	case e.Old == nil:
		obj := e.New.(metav1.Object)
		if obj.GetDeletionTimestamp() != nil {
			t.deleted(v, obj, out)
		} else if key := t.wake(v, obj, out); key != "" {
			out.Created = append(out.Created, key)
		}
	case e.New == nil:
		t.deleted(v, e.Old.(metav1.Object), out)
	default:
		t.updated(v, e.Old.(metav1.Object), e.New.(metav1.Object), out)
	}
}

func (t *TieBreak) deleted(v host.View, obj metav1.Object, out *host.Effect) {
	if key := t.wake(v, obj, out); key != "" {
		out.Deleted = append(out.Deleted, key)
	}
}

func (t *TieBreak) updated(v host.View, old, cur metav1.Object, out *host.Effect) {
	if old.GetResourceVersion() == cur.GetResourceVersion() {
		return
	}
	relabelled := !maps.Equal(old.GetLabels(), cur.GetLabels())
	if cur.GetDeletionTimestamp() != nil {
		t.deleted(v, cur, out)
		if relabelled {
			t.deleted(v, old, out)
		}
		return
	}
	if relabelled {
		t.wake(v, old, out)
	}
	t.wake(v, cur, out)
}

// wake enqueues the controller to which an object seems to belong, and returns its key, or "".
func (t *TieBreak) wake(v host.View, obj metav1.Object, out *host.Effect) string {
	owner := t.first(v, obj)
	if owner == nil {
		return ""
	}
	key := Key(owner.(metav1.Object))
	out.Keys = append(out.Keys, key)
	return key
}

func (t *TieBreak) first(v host.View, obj metav1.Object) runtime.Object {
	var first runtime.Object
	v.Each(t.Owner, obj.GetNamespace(), func(owner runtime.Object) bool {
		if t.Selects(owner, obj.GetLabels()) && (first == nil || older(owner, first)) {
			first = owner
		}
		return true
	})
	return first
}

func older(a, b runtime.Object) bool {
	x, y := a.(metav1.Object), b.(metav1.Object)
	s, t := x.GetCreationTimestamp(), y.GetCreationTimestamp()
	if !s.Equal(&t) {
		return s.Before(&t)
	}
	return x.GetName() < y.GetName()
}
