package job

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/host"
)

// account writes the status. If pods have ended, there are two writes. The first names the pods and, if the Job ends,
// announces the end. Then the finalizers are removed. The second counts the pods and, if the Job ends, adds the final
// condition. If a reconcile is interrupted, the next one counts the named pods without a finalizer.
func (a *attempt) account(ctx context.Context, changed bool) error {
	changed = a.writeNumbers() || changed
	held := a.held()
	changed = a.countFree(held) || changed
	pods, noted, full := a.noteEnded()
	changed = a.announce() || noted || changed
	if changed {
		if err := a.flush(ctx); err != nil {
			return err
		}
		if a.r.backoffs[a.key] = a.backoff; a.backoff.failures == 0 {
			delete(a.r.backoffs, a.key)
		}
	}
	shedErr := a.shedAll(ctx, pods, held)
	changed = a.countFree(held)
	if shedErr != nil {
		if changed {
			if err := a.flush(ctx); err != nil {
				return err
			}
		}
		return shedErr
	}
	ends := !full && a.finish()
	if !changed && !ends {
		return nil
	}
	if err := a.flush(ctx); err != nil {
		return err
	}
	if ends {
		a.r.closed[a.key] = a.job.UID
	}
	return nil
}

// flush writes the status, and uses the stored Job for the rest of the reconcile.
func (a *attempt) flush(ctx context.Context) error {
	obj, err := a.r.env.Client.UpdateStatus(ctx, a.job)
	if err != nil {
		return err
	}
	a.job = a.r.copyOf(obj.(*batchv1.Job))
	a.r.wrote.Wrote(a.key, a.job.UID, Kind, a.job)
	return nil
}

// writeNumbers updates the numbers of pods in the status, and reports whether one changed.
func (a *attempt) writeNumbers() bool {
	s := &a.job.Status
	same := s.Active == a.running && s.Ready != nil && *s.Ready == a.ready &&
		s.Terminating != nil && *s.Terminating == a.terminating
	ready, terminating := a.ready, a.terminating
	s.Active, s.Ready, s.Terminating = a.running, &ready, &terminating
	return !same
}

func (a *attempt) held() map[types.UID]bool {
	held := make(map[types.UID]bool, len(a.pods))
	for _, p := range a.pods {
		if tracked(p) && !a.r.hasShed(a.key, p) {
			held[p.UID] = true
		}
	}
	return held
}

// countFree counts the pods that the status names and that have lost the finalizer. It reports whether there were any.
func (a *attempt) countFree(held map[types.UID]bool) bool {
	s := &a.job.Status
	free := func(uids *[]types.UID, counter *int32) bool {
		kept := slices.DeleteFunc(slices.Clone(*uids),
			func(uid types.UID) bool { return !held[uid] || a.r.options.Without.CountHeld })
		n := len(*uids) - len(kept)
		*counter += int32(n)
		*uids = kept
		return n > 0
	}
	u := s.UncountedTerminatedPods
	some := free(&u.Succeeded, &s.Succeeded)
	return free(&u.Failed, &s.Failed) || some
}

// noteEnded names ended, uncounted pods in the status, and returns the pods whose finalizers may be removed
// afterwards. noted means that the status changed. full means that the status can hold no more names. Succeeded pods
// of an Indexed Job are not named, because the status lists their indexes.
func (a *attempt) noteEnded() (pods []*corev1.Pod, noted, full bool) {
	j, u := a.job, a.job.Status.UncountedTerminatedPods
	candidates := slices.Clone(a.pods)
	if indexed(j) {
		slices.SortStableFunc(candidates, byIndex)
	}
	for _, p := range candidates {
		if !tracked(p) || a.r.hasShed(a.key, p) || !a.mayGo(p) {
			continue
		}
		pods = append(pods, p)
		switch {
		case p.Status.Phase == corev1.PodSucceeded && !a.uncountedFailed[p.UID]:
			if !indexed(j) && !a.uncountedSucceeded[p.UID] {
				u.Succeeded, noted = append(u.Succeeded, p.UID), true
			}
		case a.countsFailed(p):
			u.Failed, noted = append(u.Failed, p.UID), true
		}
		if len(u.Succeeded)+len(u.Failed) >= maxUncounted {
			full = true
			break
		}
	}
	if indexed(j) {
		noted = a.writeIndexes() || noted
	}
	return pods, noted, full
}

// mayGo reports whether a pod's finalizer may be removed, because the pod has ended, or its Job ends or is terminating.
// The last failed pod of an index stays until it is replaced.
func (a *attempt) mayGo(p *corev1.Pod) bool {
	switch {
	case a.job.DeletionTimestamp != nil:
		return !a.r.options.Without.HoldDeleted
	case a.end != nil || p.Status.Phase == corev1.PodSucceeded:
		return true
	case !failed(p, a.job):
		return false
	}
	last := a.awaiting[indexOf(p)]
	return last == nil || last.UID != p.UID
}

// countsFailed reports whether to name a pod as failed. When a Job fails, all pods that have not succeeded count.
func (a *attempt) countsFailed(p *corev1.Pod) bool {
	lost := a.end != nil && a.end.Type != batchv1.JobSuccessCriteriaMet
	return (lost || failed(p, a.job)) && !a.uncountedFailed[p.UID] && within(p, a.job) &&
		judge(a.job, p).counts()
}

func (a *attempt) writeIndexes() bool {
	s := &a.job.Status
	text := a.succeededIndexes.String()
	changed := text != s.CompletedIndexes
	s.Succeeded, s.CompletedIndexes = int32(a.succeededIndexes.total()), text
	var failed *string
	if a.failedIndexes != nil {
		text := a.failedIndexes.String()
		failed = &text
	}
	if (failed == nil) != (s.FailedIndexes == nil) || failed != nil && *failed != *s.FailedIndexes {
		s.FailedIndexes, changed = failed, true
	}
	return changed
}

// announce states in the status why the Job will end. Then it sets a.end to the final condition.
func (a *attempt) announce() bool {
	if a.end == nil {
		return false
	}
	why := *a.end
	end := batchv1.JobComplete
	switch why.Type {
	case batchv1.JobFailed:
		return false // the status has the condition that announced the failure
	case batchv1.JobFailureTarget:
		end = batchv1.JobFailed
	}
	a.end = newCondition(end, why.Reason, why.Message, a.r.env.Now())
	if find(a.job.Status.Conditions, why.Type) != nil {
		return false
	}
	a.job.Status.Conditions = append(a.job.Status.Conditions, why)
	return true
}

// finish states in the status that the Job has ended, once all pods are counted and none is terminating (RULES I86).
func (a *attempt) finish() bool {
	s := &a.job.Status
	if u := s.UncountedTerminatedPods; a.end == nil || len(u.Succeeded)+len(u.Failed) > 0 || a.terminating > 0 {
		return false
	}
	setCondition(s, a.end)
	if a.end.Type == batchv1.JobComplete {
		s.CompletionTime = &a.end.LastTransitionTime
	}
	return true
}

// shedAll removes the finalizer from pods, and removes these pods from the map held.
func (a *attempt) shedAll(ctx context.Context, pods []*corev1.Pod, held map[types.UID]bool) error {
	var errs []error
	for _, p := range pods {
		if err := a.r.shedOne(ctx, a.key, p); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
			continue
		}
		if !a.r.options.Without.Shed {
			delete(held, p.UID)
		}
	}
	return utilerrors.NewAggregate(errs)
}

// shedOne removes the finalizer from the pod with p's uid. A recreated pod counts as missing. Before the current era it
// does nothing. For key "" (a pod without a Job), the patch contains the version that was read. Upstream omits the
// version. So if a Job has adopted the pod in the meantime, upstream never counts the pod.
func (r *reconciler) shedOne(ctx context.Context, key string, p *corev1.Pod) error {
	if !tracked(p) || r.options.Era != Current || r.options.Without.Shed {
		return nil
	}
	data := `{"metadata":{"$deleteFromPrimitiveList/finalizers":["` + tracking + `"]`
	if !r.options.Without.VictimUID {
		data += `,"uid":"` + string(p.UID) + `"`
	}
	if key == "" && !r.options.Without.Adopted {
		data += `,"resourceVersion":"` + p.ResourceVersion + `"`
	}
	obj, err := r.env.Client.Patch(ctx, pod.Kind, p.Namespace, p.Name,
		host.Patch{Type: types.StrategicMergePatchType, Data: []byte(data + "}}")})
	switch {
	case apierrors.IsInvalid(err):
		return apierrors.NewNotFound(corev1.Resource("pods"), p.Name)
	case err != nil:
		return err
	}
	left := obj.(*corev1.Pod)
	if owner := metav1.GetControllerOfNoCopy(left); key != "" && owner != nil {
		r.noteShed(key, left)
	}
	return nil
}
