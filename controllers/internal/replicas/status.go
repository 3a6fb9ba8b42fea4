package replicas

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim/law"
)

// writeStatus writes the status if it changed (WRITE-9), also for a terminating set (ADOPT-3).
func (r *reconciler) writeStatus(ctx context.Context, set *Set, pods []*corev1.Pod, scaleErr error) error {
	if r.options.Without.OwnStatus {
		pods = r.selected(set)
	}
	now := r.env.Now()
	status, before := count(set, pods, now), set.Status
	if r.kind.Terminating && r.options.Era == Current {
		n := r.terminating(set)
		status.TerminatingReplicas = &n
	} else {
		before.TerminatingReplicas = nil // a controller of this kind or era does not know the field
	}
	if r.options.Without.Ready {
		status.ReadyReplicas = status.Replicas
	}
	status.Conditions = replicaFailure(set, len(pods), scaleErr, now)
	status.ObservedGeneration = set.Generation
	if !same(&status, &before) || r.options.Without.Unchanged {
		written, err := r.client.UpdateStatus(ctx, r.kind.WithStatus(set.Object, status))
		if err != nil {
			return err
		}
		r.written.Wrote(routing.Key(set), set.UID, r.kind.GVK, written.(metav1.Object))
	}
	if r.options.Era == Current && scaleErr == nil && status.ReadyReplicas != status.AvailableReplicas {
		r.lookAgain(set, pods, now)
	}
	return nil
}

// lookAgain requeues the set for the time when the next ready pod becomes available. The delayed requeue after the
// pod's event is not enough, because it may be lost.
func (r *reconciler) lookAgain(set *Set, pods []*corev1.Pod, now time.Time) {
	next := pod.NextAvailable(pods, set.MinReadySeconds, now)
	if next == 0 {
		next = time.Duration(set.MinReadySeconds) * time.Second
	}
	r.env.Queue.AddAfter(routing.Key(set), next)
}

// count returns the numbers of the status. It counts only the set's own pods (LAW-3).
func count(set *Set, pods []*corev1.Pod, now time.Time) appsv1.ReplicaSetStatus {
	status := appsv1.ReplicaSetStatus{Replicas: int32(len(pods))}
	for _, p := range pods {
		if ref.Contains(p.Labels, set.Template.Labels) {
			status.FullyLabeledReplicas++
		}
		if pod.Ready(p) {
			status.ReadyReplicas++
			if pod.Available(p, set.MinReadySeconds, now) {
				status.AvailableReplicas++
			}
		}
	}
	return status
}

func (r *reconciler) terminating(set *Set) int32 {
	if !r.options.Era.owned() {
		return 0
	}
	n := int32(0)
	for _, p := range pod.Of(r.pods, set.UID) {
		if pod.Terminating(p) && set.Matches(p.Labels) {
			n++
		}
	}
	return n
}

// replicaFailure returns the set's conditions. It adds or removes the condition for failed creations and deletions.
func replicaFailure(set *Set, have int, scaleErr error, now time.Time) []appsv1.ReplicaSetCondition {
	old := set.Status.Conditions
	i := slices.IndexFunc(old,
		func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure })
	switch {
	case scaleErr == nil && i >= 0:
		return slices.Delete(slices.Clone(old), i, i+1)
	case scaleErr == nil || i >= 0:
		return old
	}
	reason := "FailedDelete"
	if have < set.Replicas {
		reason = "FailedCreate"
	}
	return append(slices.Clip(old), appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
		Reason: reason, Message: scaleErr.Error(), LastTransitionTime: metav1.NewTime(now),
	})
}

func same(a, b *appsv1.ReplicaSetStatus) bool {
	return a.Replicas == b.Replicas && a.FullyLabeledReplicas == b.FullyLabeledReplicas &&
		a.ReadyReplicas == b.ReadyReplicas && a.AvailableReplicas == b.AvailableReplicas &&
		a.ObservedGeneration == b.ObservedGeneration && len(a.Conditions) == len(b.Conditions) &&
		samePointer(a.TerminatingReplicas, b.TerminatingReplicas)
}

func samePointer(a, b *int32) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// counts declares which pods the numbers in a set's status count (EXACT-8).
func counts(kind *Traits) []law.Count {
	number := func(name string, of func(s *appsv1.ReplicaSetStatus) int32,
		is func(set *Set, p *corev1.Pod) bool) law.Count {
		return law.Count{
			Name: name,
			Of: func(owner runtime.Object) int {
				set := kind.Read(owner)
				if set.selectsNothing() {
					return -1 // a set that selects nothing manages no pods
				}
				return int(of(&set.Status))
			},
			Is: func(owner, dependent runtime.Object) bool {
				p := dependent.(*corev1.Pod)
				if !pod.Active(p) {
					return false
				}
				set := kind.Read(owner)
				return is(&set, p)
			},
		}
	}
	list := []law.Count{
		number("replicas", func(s *appsv1.ReplicaSetStatus) int32 { return s.Replicas },
			func(*Set, *corev1.Pod) bool { return true }),
		number("fullyLabeledReplicas", func(s *appsv1.ReplicaSetStatus) int32 { return s.FullyLabeledReplicas },
			func(set *Set, p *corev1.Pod) bool { return ref.Contains(p.Labels, set.Template.Labels) }),
		number("readyReplicas", func(s *appsv1.ReplicaSetStatus) int32 { return s.ReadyReplicas },
			func(_ *Set, p *corev1.Pod) bool { return pod.Ready(p) }),
	}
	list = append(list, availableCount(kind))
	if kind.Terminating {
		list = append(list, terminatingCount(kind))
	}
	return list
}

// availableCount counts available pods if minReadySeconds is 0. Otherwise their number depends on the time.
func availableCount(kind *Traits) law.Count {
	return law.Count{
		Name: "availableReplicas",
		Of: func(owner runtime.Object) int {
			set := kind.Read(owner)
			if set.MinReadySeconds > 0 || set.selectsNothing() {
				return -1
			}
			return int(set.Status.AvailableReplicas)
		},
		Is: func(_, dependent runtime.Object) bool {
			p := dependent.(*corev1.Pod)
			return pod.Active(p) && pod.Available(p, 0, time.Time{})
		},
	}
}

func terminatingCount(kind *Traits) law.Count {
	return law.Count{
		Name: "terminatingReplicas",
		Of: func(owner runtime.Object) int {
			set := kind.Read(owner)
			if set.Status.TerminatingReplicas == nil {
				return -1
			}
			return int(*set.Status.TerminatingReplicas)
		},
		Is: func(owner, dependent runtime.Object) bool {
			set, p := kind.Read(owner), dependent.(*corev1.Pod)
			return pod.Terminating(p) && set.Matches(p.Labels)
		},
	}
}
