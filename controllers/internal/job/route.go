package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// jobRoute routes events on Jobs. A Job whose spec has changed is synced at once, one
// whose status has after a while. When a Job ends, or is gone, the pods that it has
// not freed are (RULES I82): those that its selector matches, whoever they belong to
// by then; what they are is looked at when their turn comes.
func jobRoute(o *Options) host.Route {
	own := routing.Own(Kind, &o.Without.Routing)
	return host.Route{Kind: Kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		own.Do(v, e, out)
		old, _ := e.Old.(*batchv1.Job)
		cur, _ := e.New.(*batchv1.Job)
		same := old != nil && cur != nil && old.UID == cur.UID
		if same && old.Generation == cur.Generation {
			delay(out)
		}
		if old != nil && !same {
			freeSelected(v, old, out)
		}
		if cur != nil && old != nil && finished(cur) {
			freeSelected(v, cur, out)
		}
	}}
}

// podRoute routes events on pods, each after a while, so that pods that end together
// are counted together.
func podRoute(o *Options) host.Route {
	d := &routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}
	return host.Route{Kind: pod.Kind, Do: func(v host.View, e host.Event, out *host.Effect) {
		d.Do(v, e, out)
		delay(out)
		freeForsaken(v, e, out)
	}}
}

// oldPodRoute routes events on pods as eras before [Current] do.
func oldPodRoute(o *Options) host.Route {
	if o.Era != ControllerRef {
		t := &routing.TieBreak{Owner: Kind, Selects: selects}
		return t.Route(pod.Kind)
	}
	d := &routing.Dependents{Owner: Kind, Selects: selects, Without: &o.Without.Routing}
	return d.Route(pod.Kind)
}

// delay puts off the keys from one on.
func delay(out *host.Effect) {
	for _, key := range out.Keys {
		out.Delayed = append(out.Delayed, host.Delayed{Key: key, After: batch})
	}
	out.Keys = out.Keys[:0]
}

// freeForsaken wakes a pod that has the finalizer and nobody who would take it off:
// one without a controller, and one that is being deleted and whose Job is gone or
// has ended.
func freeForsaken(v host.View, e host.Event, out *host.Effect) {
	p, ok := e.New.(*corev1.Pod)
	if !ok || !tracked(p) {
		return
	}
	if old, ok := e.Old.(*corev1.Pod); ok && old.ResourceVersion == p.ResourceVersion {
		return
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner != nil {
		if p.DeletionTimestamp == nil {
			return
		}
		if owner.Kind == Kind.Kind {
			if j, ok := v.Get(Kind, p.Namespace, owner.Name).(*batchv1.Job); ok && j.UID == owner.UID && !finished(j) {
				return
			}
		}
	}
	out.Keys = append(out.Keys, orphanKey(p))
}

func freeSelected(v host.View, j *batchv1.Job, out *host.Effect) {
	v.Each(pod.Kind, j.Namespace, func(obj runtime.Object) bool {
		if p := obj.(*corev1.Pod); tracked(p) && selects(j, p.Labels) {
			out.Keys = append(out.Keys, orphanKey(p))
		}
		return true
	})
}
