package statefulset

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// arrangement groups a set's pods into pods with wanted ordinals (replicas) and unwanted ordinals (condemned).
type arrangement struct {
	replicas  []*corev1.Pod // index 0 is the first ordinal; for a missing pod it holds the pod to create
	condemned []*corev1.Pod // the pods with unwanted ordinals, the highest ordinal first
	ailing    *corev1.Pod   // the unavailable pod in condemned with the lowest ordinal; nil if there is none
}

func (s *syncing) arrange(pods []*corev1.Pod) *arrangement {
	a := &arrangement{replicas: make([]*corev1.Pod, wanted(s.set))}
	for _, p := range pods {
		if n := ordinal(p); wants(s.set, n) {
			a.replicas[n-first(s.set)] = p
		} else if n >= 0 {
			a.condemned = append(a.condemned, p)
		}
	}
	for i, p := range a.replicas {
		if p == nil {
			a.replicas[i] = s.build(first(s.set) + i)
		}
	}
	slices.SortStableFunc(a.condemned, func(p, q *corev1.Pod) int { return ordinal(q) - ordinal(p) })
	for i := len(a.condemned) - 1; i >= 0; i-- {
		if !s.available(a.condemned[i]) {
			a.ailing = a.condemned[i]
			break
		}
	}
	return a
}

// build returns the pod with an ordinal, at the update revision. Some first pods stay at the current revision during a
// rolling update: the pods below the partition, or below currentReplicas if the strategy has no parameters.
func (s *syncing) build(ordinal int) *corev1.Pod {
	of := s.next
	if strategy := &s.set.Spec.UpdateStrategy; strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		old := int(s.set.Status.CurrentReplicas)
		if strategy.RollingUpdate != nil {
			old = partition(s.set)
		}
		if ordinal < first(s.set)+old {
			of = s.current
		}
	}
	p := newPod(of.set, ordinal, of.revision)
	if s.options.Era == Selector {
		p.OwnerReferences = nil
	}
	return p
}

// partition returns how many of a set's first pods an update does not replace.
func partition(set *appsv1.StatefulSet) int {
	if u := set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		return int(*u.Partition)
	}
	return 0
}

// exists reports whether the server has a pod. A pod that was only built has no phase.
func exists(p *corev1.Pod) bool { return p.Status.Phase != "" }

func up(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && pod.Ready(p) }

// available reports whether a pod is not terminating and has been ready for long enough.
func (s *syncing) available(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && pod.Available(p, s.set.Spec.MinReadySeconds, s.now)
}

func ordered(set *appsv1.StatefulSet, g Era) bool {
	return g != Current || set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
}

// update takes the next step: for wanted pods, then for unwanted pods, then for pods of an old revision.
func (s *syncing) update(ctx context.Context, a *arrangement, status *appsv1.StatefulSetStatus) error {
	defer func() { s.count(status, a.replicas, a.condemned) }()
	for _, step := range []struct {
		pods []*corev1.Pod
		do   func(ctx context.Context, p *corev1.Pod, a *arrangement) (done bool, err error)
	}{
		{a.replicas, s.tend},
		{a.condemned, s.settleClaims},
		{a.condemned, s.remove},
	} {
		done, err := s.each(step.pods, func(p *corev1.Pod) (bool, error) { return step.do(ctx, p, a) })
		if done {
			return err
		}
	}
	return s.roll(ctx, a)
}

// each calls do for the pods in turn. If do returns true or an error, each stops, and reports that the reconcile ends
// here. In a parallel set, true does not stop it. There each works in batches of 1, 2, 4 and so on, and stops after a
// batch with an error.
func (s *syncing) each(pods []*corev1.Pod, do func(*corev1.Pod) (bool, error)) (bool, error) {
	if ordered(s.set, s.options.Era) && !s.options.Without.Order {
		for _, p := range pods {
			if done, err := do(p); done || err != nil {
				return true, err
			}
		}
		return false, nil
	}
	for tried, batch := 0, 1; tried < len(pods); batch = min(2*batch, burst) {
		var errs []error
		for end := min(tried+batch, len(pods)); tried < end; tried++ {
			if _, err := do(pods[tried]); err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) > 0 {
			return true, utilerrors.NewAggregate(errs)
		}
	}
	return false, nil
}

// burst is the maximum size of a batch in [syncing.each].
const burst = 500

// tend creates a missing wanted pod or repairs an existing one. It reports whether the pods after it must wait.
func (s *syncing) tend(ctx context.Context, p *corev1.Pod, _ *arrangement) (bool, error) {
	if pod.Ended(p) {
		// It does not matter how the pod ended, because containers that were stopped from outside may succeed. Its
		// successor is created when the pod is gone (bug C20 of the track record).
		if s.options.Without.Ended {
			err := s.delete(ctx, p)
			if err == nil {
				err = s.create(ctx, s.build(ordinal(p)))
			}
			return true, err
		}
		if p.DeletionTimestamp == nil {
			return true, s.delete(ctx, p)
		}
		return true, nil
	}
	if !exists(p) {
		if s.claimIsStale(p) {
			return true, nil
		}
		return true, s.create(ctx, p)
	}
	if p.Status.Phase == corev1.PodPending {
		if err := s.ensureClaims(ctx, p); err != nil {
			return true, err
		}
	}
	if ordered(s.set, s.options.Era) && (!up(p) || !s.available(p)) {
		return true, nil
	}
	if s.options.Era != Current {
		return false, nil
	}
	return false, s.repair(ctx, p)
}

// remove deletes an unwanted pod. It reports whether the pods after it must wait. An ordered set waits until a
// terminating pod is gone, and until p is available, unless p is a.ailing.
func (s *syncing) remove(ctx context.Context, p *corev1.Pod, a *arrangement) (bool, error) {
	switch {
	case p.DeletionTimestamp != nil:
		return true, nil
	case ordered(s.set, s.options.Era) && p != a.ailing && (!up(p) || !s.available(p)):
		return true, nil
	}
	return true, s.delete(ctx, p)
}

// roll deletes the outdated pod with the highest ordinal, if the pods with higher ordinals are available. It does not
// touch pods below the partition.
func (s *syncing) roll(ctx context.Context, a *arrangement) error {
	if s.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	least := partition(s.set)
	if s.options.Without.Partition {
		least = 0
	}
	for i := len(a.replicas) - 1; i >= least; i-- {
		p := a.replicas[i]
		if revisionOf(p) != s.next.revision && p.DeletionTimestamp == nil {
			if err := s.delete(ctx, p); err != nil {
				return err
			}
			s.rolled = true
			return nil
		}
		if !s.available(p) && !s.options.Without.RollAlone && !(s.options.Without.RollUnready && exists(p) &&
			p.DeletionTimestamp == nil) {
			return nil
		}
	}
	return nil
}

// create creates a pod after its claims. If the pod's name is taken, it returns an error (RULES F64).
func (s *syncing) create(ctx context.Context, p *corev1.Pod) error {
	if err := s.createClaims(ctx, p); err != nil {
		return err
	}
	_, err := s.env.Client.Create(ctx, p)
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	if claimErr := s.ownClaims(ctx, p); claimErr != nil {
		return claimErr
	}
	return err
}

// delete deletes a pod. In the current era it sends the uid (EXACT-4). Upstream sends only the name. A missing pod is
// no error.
func (s *syncing) delete(ctx context.Context, p *corev1.Pod) error {
	var only metav1.DeleteOptions
	if s.options.Era == Current && !s.options.Without.VictimUID {
		only.Preconditions = &metav1.Preconditions{UID: &p.UID}
	}
	err := s.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, only)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// attempts is the maximum number of tries to write a pod after conflicts.
const attempts = 4

// repair restores what a pod needs as a member of the set: its labels, volumes, and the owners of its claims. After a
// conflict it retries with the cached pod, unless the pod was recreated or has another owner (LAW-2, EXACT-4). Upstream
// updates any pod with this name.
func (s *syncing) repair(ctx context.Context, p *corev1.Pod) error {
	var err error
	for range attempts {
		if err = s.repairOnce(ctx, p); !apierrors.IsConflict(err) {
			return err
		}
		obj, exists, _ := s.pods.GetByKey(p.Namespace + "/" + nameOf(s.set, ordinal(p)))
		if !exists {
			continue
		}
		later := obj.(*corev1.Pod)
		if (later.UID != p.UID || !metav1.IsControlledBy(later, s.set)) && !s.options.Without.SamePod {
			return err
		}
		p = later
	}
	return err
}

func (s *syncing) repairOnce(ctx context.Context, p *corev1.Pod) error {
	changed := *p
	right := identified(s.set, p)
	if !right {
		identify(s.set, &changed)
	}
	if !mounted(s.set, p) {
		right = false
		mount(s.set, &changed)
		if err := s.createClaims(ctx, p); err != nil {
			return err
		}
	}
	if err := s.ownClaims(ctx, p); err != nil || right {
		return err
	}
	_, err := s.env.Client.Update(ctx, &changed)
	return err
}
