package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/fakeapi"
)

// patience is the time for which a Pod counts as disrupted after its eviction was allowed, if its deletion does not
// begin.
const patience = 2 * time.Minute

// stillAwaited returns, by Pod, the evictions that were allowed in the last 2 minutes, if the Pod is not terminating
// yet. The duration is the time until the first of them is older, or 0 if there is none.
func stillAwaited(budget *policyv1.PodDisruptionBudget, pods []*corev1.Pod,
	now time.Time) (map[string]metav1.Time, time.Duration) {
	awaited := map[string]metav1.Time{}
	var first time.Duration
	for _, pod := range pods {
		at := budget.Status.DisruptedPods[pod.Name]
		left := at.Add(patience).Sub(now)
		if pod.DeletionTimestamp != nil || left < 0 {
			continue
		}
		awaited[pod.Name] = at
		if first == 0 || left < first {
			first = max(left, 1) // 0 would mean that no eviction is awaited
		}
	}
	return awaited, first
}

// countHealthy counts the ready Pods. It omits terminating Pods, and Pods in awaited whose eviction is still expected.
func countHealthy(pods []*corev1.Pod, awaited map[string]metav1.Time, now time.Time) (n int32) {
	for _, pod := range pods {
		going := awaited[pod.Name]
		if pod.DeletionTimestamp != nil || going.Add(patience).After(now) {
			continue
		}
		if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			n++
		}
	}
	return n
}

func upToDate(budget *policyv1.PodDisruptionBudget, want *policyv1.PodDisruptionBudgetStatus) bool {
	have := &budget.Status
	c := meta.FindStatusCondition(have.Conditions, policyv1.DisruptionAllowedCondition)
	if c == nil {
		return false
	}
	status, reason := metav1.ConditionFalse, policyv1.InsufficientPodsReason
	if want.DisruptionsAllowed > 0 {
		status, reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	return c.Status == status && c.Reason == reason &&
		have.CurrentHealthy == want.CurrentHealthy && have.DesiredHealthy == want.DesiredHealthy &&
		have.ExpectedPods == want.ExpectedPods && have.DisruptionsAllowed == want.DisruptionsAllowed &&
		have.ObservedGeneration == want.ObservedGeneration &&
		maps.EqualFunc(have.DisruptedPods, want.DisruptedPods, func(a, b metav1.Time) bool { return a.Equal(&b) })
}

// setCondition sets the condition that says whether evictions are allowed. Its time changes only with its status.
func setCondition(budget *policyv1.PodDisruptionBudget, status metav1.ConditionStatus, reason, message string,
	now time.Time) {
	conditions := slices.Clone(budget.Status.Conditions)
	meta.SetStatusCondition(&conditions, metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: status, Reason: reason, Message: message,
		ObservedGeneration: budget.Status.ObservedGeneration, LastTransitionTime: metav1.NewTime(now),
	})
	budget.Status.Conditions = conditions
}

// expect returns how many Pods a budget expects, and how many of them must be healthy. If minAvailable is a number, all
// existing Pods are expected. For a percentage or maxUnavailable, the total size of the Pods' controllers is expected.
func (r *reconciler) expect(ctx context.Context, budget *policyv1.PodDisruptionBudget,
	pods []*corev1.Pod) (expected, desired int32, err error) {
	least, most := budget.Spec.MinAvailable, budget.Spec.MaxUnavailable
	if most == nil && least == nil {
		return 0, 0, nil
	}
	if most == nil && least.Type == intstr.Int {
		return int32(len(pods)), least.IntVal, nil
	}
	if expected, err = r.scaleOf(ctx, pods); err != nil {
		return 0, 0, err
	}
	share := least
	if most != nil {
		share = most
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(share, int(expected), true)
	if err != nil {
		return 0, 0, err
	}
	if most != nil {
		return expected, max(0, expected-int32(n)), nil
	}
	return expected, int32(n), nil
}

// scaleOf returns the total size of the Pods' controllers. A missing controller is an error.
func (r *reconciler) scaleOf(ctx context.Context, pods []*corev1.Pod) (int32, error) {
	scales := map[types.UID]int32{}
	for _, pod := range pods {
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil {
			continue
		}
		if _, known := scales[ref.UID]; known {
			continue
		}
		uid, n, err := r.controllerOf(ctx, ref, pod.Namespace)
		if err != nil {
			return 0, err
		}
		if uid == "" {
			return 0, fmt.Errorf("found no controllers for pod %q", pod.Name)
		}
		scales[uid] = n
	}
	var sum int32
	for _, n := range scales { //detcheck:ordered a sum
		sum += n
	}
	return sum, nil
}

// controllerOf returns the uid and size of the controller with a reference's group, kind and uid. For a Deployment's
// ReplicaSet it returns those of the Deployment. The uid is "" if no controller was found.
func (r *reconciler) controllerOf(ctx context.Context, ref *metav1.OwnerReference,
	namespace string) (types.UID, int32, error) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "", 0, err
	}
	var obj runtime.Object
	switch kind := (schema.GroupKind{Group: gv.Group, Kind: ref.Kind}); kind {
	case replicationKind.GroupKind():
		obj = r.named(replicationKind, ref, namespace)
	case statefulSetKind.GroupKind():
		obj = r.named(statefulSetKind, ref, namespace)
	case replicaSetKind.GroupKind(), schema.GroupKind{Group: "extensions", Kind: replicaSetKind.Kind}:
		obj = r.named(replicaSetKind, ref, namespace)
		if obj != nil {
			if above := metav1.GetControllerOfNoCopy(obj.(metav1.Object)); above != nil &&
				above.Kind == deploymentKind.Kind {
				obj = r.named(deploymentKind, above, namespace)
			}
		}
	}
	if obj != nil {
		return obj.(metav1.Object).GetUID(), wanted(obj), nil
	}
	return r.asScale(ctx, ref, gv.WithKind(ref.Kind), namespace)
}

func (r *reconciler) named(kind schema.GroupVersionKind, ref *metav1.OwnerReference, namespace string) runtime.Object {
	obj, exists, err := r.env.Informer(kind).GetIndexer().GetByKey(namespace + "/" + ref.Name)
	if err != nil || !exists || obj.(metav1.Object).GetUID() != ref.UID {
		return nil
	}
	return obj.(runtime.Object)
}

// asScale reads the uid and size of a controller from its subresource scale, for kinds that no cache has. The uid is ""
// if the controller does not exist.
func (r *reconciler) asScale(ctx context.Context, ref *metav1.OwnerReference, gvk schema.GroupVersionKind,
	namespace string) (types.UID, int32, error) {
	var kind *fakeapi.Kind
	for _, k := range r.env.Kinds() {
		if k.GVK == gvk {
			kind = k
		}
	}
	if kind == nil {
		return "", 0, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	}
	if !kind.Serves("scale") {
		return "", 0, fmt.Errorf("%s does not implement the scale subresource", kind.GVR().GroupResource())
	}
	resp, err := r.env.Client.Do(ctx, &fakeapi.Request{
		Verb: fakeapi.Get, Kind: kind, Subresource: "scale", Namespace: namespace, Name: ref.Name,
	})
	if apierrors.IsNotFound(err) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	scale := resp.Object.(*autoscalingv1.Scale)
	if scale.UID != ref.UID {
		return "", 0, nil
	}
	return scale.UID, scale.Spec.Replicas, nil
}
