package daemonset

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// writeStatus writes the status if it changed. The observed generation is set only if the reconcile did all the spec
// asks for.
func (w *work) writeStatus(ctx context.Context, observed bool) error {
	status := w.count()
	if observed {
		status.ObservedGeneration = max(status.ObservedGeneration, w.set.Generation)
	}
	if !equality.Semantic.DeepEqual(status, w.set.Status) || w.options.Without.Unchanged {
		if err := w.store(ctx, status); err != nil {
			return err
		}
	}
	if status.NumberReady != status.NumberAvailable {
		w.env.Queue.AddAfter(w.key, time.Duration(w.set.Spec.MinReadySeconds)*time.Second)
	}
	return nil
}

// count counts nodes: those that should have a pod, have one, and should have none. The first of several pods on a node
// counts.
func (w *work) count() appsv1.DaemonSetStatus {
	s := appsv1.DaemonSetStatus{ObservedGeneration: w.set.Status.ObservedGeneration,
		CollisionCount: w.set.Status.CollisionCount, Conditions: w.set.Status.Conditions}
	pods := w.pods
	if w.options.Without.OwnStatus {
		pods = w.selected()
	}
	have := w.byNode(pods)
	for _, node := range w.nodes {
		run, _ := fits(w.set, node, w.options)
		on := have[node.Name]
		switch {
		case !run && len(on) > 0:
			s.NumberMisscheduled++
		case run:
			s.DesiredNumberScheduled++
		}
		if !run || len(on) == 0 {
			continue
		}
		s.CurrentNumberScheduled++
		if pod.Ready(on[0]) {
			s.NumberReady++
			if w.available(on[0]) {
				s.NumberAvailable++
			}
		}
		if w.updated(on[0]) {
			s.UpdatedNumberScheduled++
		}
	}
	s.NumberUnavailable = s.DesiredNumberScheduled - s.NumberAvailable
	return s
}

// store writes a status. After a conflict it reads the set and retries once, unless it is another set of the name.
func (w *work) store(ctx context.Context, status appsv1.DaemonSetStatus) error {
	set := *w.set
	for try := 0; ; try++ {
		changed := set
		changed.Status = status
		changed.Status.CollisionCount, changed.Status.Conditions = set.Status.CollisionCount, set.Status.Conditions
		obj, err := w.env.Client.UpdateStatus(ctx, &changed)
		if err == nil {
			w.written.Wrote(w.key, w.set.UID, Kind, obj.(*appsv1.DaemonSet))
			return nil
		}
		if try > 0 {
			return err
		}
		live, getErr := w.env.Client.Get(ctx, Kind, w.set.Namespace, w.set.Name)
		if getErr != nil {
			return getErr
		}
		set = *live.(*appsv1.DaemonSet)
		if set.UID != w.set.UID {
			return err
		}
	}
}
