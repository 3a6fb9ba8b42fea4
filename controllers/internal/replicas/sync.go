package replicas

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/sim/host"
)

func (r *reconciler) Sync(ctx context.Context, key string) error {
	err := r.sync(ctx, key)
	if err != nil && r.options.Without.Backoff {
		r.env.Queue.Add(key)
	}
	if err != nil && r.options.Without.Growth {
		r.env.Queue.Forget(key)
	}
	return err
}

func (r *reconciler) sync(ctx context.Context, key string) error {
	if err := r.written.Ready(key); err != nil {
		return err
	}
	obj, exists, _ := r.sets.GetByKey(key)
	if !exists {
		if !r.options.Without.Missing {
			r.Forget(key)
		}
		return nil
	}
	set := r.kind.Read(obj.(runtime.Object))
	if set.selectsNothing() {
		return nil // a set that selects nothing would create and release pods forever
	}
	// Check before the pods are listed. Otherwise an event after the listing could fulfil the expectations, and the
	// list would lack the pod of this event (RULES C40).
	awake := r.awake(key, &set)
	pods, err := r.own(ctx, &set)
	if err != nil {
		return err
	}
	if r.options.Without.Rivals || r.options.Without.RivalsStay {
		if err := r.fightRivals(ctx, &set); err != nil {
			return err
		}
	}
	// A set that waits still claims pods and writes its status (RULES C43). A terminating set writes only its status.
	var scaleErr error
	if awake && (set.DeletionTimestamp == nil || r.options.Without.Terminating) {
		scaleErr = r.scale(ctx, key, &set, pods)
	}
	if err := r.writeStatus(ctx, &set, pods, scaleErr); err != nil {
		return err
	}
	return scaleErr
}

// awake reports whether the set may create and delete pods, or must wait for its expectations. An expected deletion may
// never be shown: the pod lost its owner (WATCH-5), or an event showed the deletion before it was expected. Therefore,
// from the era controllerref on, awake also compares expectations with the cache. A pod whose adoption is not shown yet
// has not lost its owner. Upstream does not compare, and may wait until expectations expire.
func (r *reconciler) awake(key string, set *Set) bool {
	if r.options.Era.owned() && !r.options.Without.Recheck {
		r.expected.Recheck(key, func(object string) expectations.Sight { return r.sight(object, set) })
	}
	return r.expected.Satisfied(key, r.owner(set)) || r.options.Without.Wait
}

func (r *reconciler) sight(object string, set *Set) expectations.Sight {
	obj, exists, _ := r.pods.GetByKey(object)
	if !exists {
		return expectations.Moot
	}
	p := obj.(*corev1.Pod)
	switch controller := metav1.GetControllerOfNoCopy(p); {
	case controller == nil && r.options.Without.Adopted:
		return expectations.Moot
	case controller == nil:
		return expectations.Lost
	case controller.UID != set.UID, p.DeletionTimestamp != nil && !r.options.Without.RecheckDying:
		return expectations.Moot
	}
	return expectations.Owned
}

// owner returns the uid with which the set's expectations are stored. It is "" before ControllerRef.
func (r *reconciler) owner(set *Set) types.UID {
	if !r.options.Era.owned() || r.options.Without.Successor {
		return ""
	}
	return set.UID
}

// own returns the active pods that count as the set's replicas. It claims them by the rules of the controller's era.
func (r *reconciler) own(ctx context.Context, set *Set) ([]*corev1.Pod, error) {
	switch {
	case r.options.Era.owned():
		return r.claim(ctx, set)
	case r.options.GarbageCollector:
		return r.claimGated(ctx, set)
	}
	return r.selected(set), nil
}

// claim claims pods from the ControllerRef era on. It releases own pods that no longer match, and adopts matching
// orphans of the namespace. It skips pods of others (LAW-2, LAW-3), and pods that are not active (RULES E53).
func (r *reconciler) claim(ctx context.Context, set *Set) ([]*corev1.Pod, error) {
	m := &ref.Manager{Client: r.client, Owner: set, Kind: r.kind.GVK, Dependent: pod.Kind,
		Without: &r.options.Without.Ref}
	claimed, err := ref.Claim(ctx, m, r.candidates(set), func(p *corev1.Pod) bool { return set.Matches(p.Labels) })
	if err == nil && r.options.Without.OwnCount {
		return r.selected(set), nil
	}
	return claimed, err
}

// candidates returns the active pods that the set may own.
func (r *reconciler) candidates(set *Set) []*corev1.Pod {
	without := &r.options.Without.Ref
	switch {
	case without.Namespace:
		return filter(pod.All(r.pods), pod.Active)
	case without.Foreign:
		return filter(pod.In(r.pods, set.Namespace), pod.Active)
	}
	all := append(pod.Of(r.pods, set.UID), pod.Orphans(r.pods, set.Namespace)...)
	return filter(all, func(p *corev1.Pod) bool {
		return pod.Active(p) || r.options.Without.Active && !pod.Ended(p)
	})
}

// claimGated implements the gated era. It claims by ControllerRef, without the open items of the proposal's checklist.
// So it does not read the set from the server. A terminating set releases pods, and failed adoptions are ignored.
func (r *reconciler) claimGated(ctx context.Context, set *Set) ([]*corev1.Pod, error) {
	m := &ref.Manager{
		Client: r.client, Owner: set, Kind: r.kind.GVK, Dependent: pod.Kind,
		Without: &ref.Without{LiveCheck: true, ReleaseDeletion: true},
	}
	var own []*corev1.Pod
	var errs []error
	for _, p := range pod.In(r.pods, set.Namespace) {
		if !pod.Active(p) {
			continue
		}
		switch ref.Decide(set, p, set.Matches(p.Labels), m.Without) {
		case ref.Keep:
			own = append(own, p)
		case ref.Adopt:
			if m.Adopt(ctx, p) == nil {
				own = append(own, p)
			}
		case ref.Release:
			if err := m.Release(ctx, p); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return own, utilerrors.NewAggregate(errs)
}

// selected implements the selector era: the set owns every active matching pod.
func (r *reconciler) selected(set *Set) []*corev1.Pod {
	return filter(pod.In(r.pods, set.Namespace), func(p *corev1.Pod) bool {
		return pod.Active(p) && set.Matches(p.Labels)
	})
}

func filter(pods []*corev1.Pod, keep func(*corev1.Pod) bool) []*corev1.Pod {
	return slices.DeleteFunc(pods, func(p *corev1.Pod) bool { return !keep(p) })
}

// fightRivals writes to other sets that select the same pods (LAW-2). Only a mutant uses it.
func (r *reconciler) fightRivals(ctx context.Context, set *Set) error {
	for _, obj := range r.sets.List() {
		rival := r.kind.Read(obj.(runtime.Object))
		if rival.UID == set.UID || rival.Namespace != set.Namespace || rival.Replicas == 0 ||
			rival.DeletionTimestamp != nil || !rival.Matches(set.Template.Labels) {
			continue
		}
		var err error
		if r.options.Without.RivalsStay {
			err = r.client.Delete(ctx, r.kind.GVK, rival.Namespace, rival.Name, metav1.DeleteOptions{})
		} else {
			_, err = r.client.Patch(ctx, r.kind.GVK, rival.Namespace, rival.Name,
				host.Patch{Type: types.MergePatchType, Data: []byte(`{"spec":{"replicas":0}}`), Subresource: "scale"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
