// Package disruption is the controller of PodDisruptionBudgets. Each status gets the number of Pods that may be
// evicted.
//
// The controller owns nothing. For a percentage or maxUnavailable, it reads the sizes of the Pods' controllers, which
// it finds by ControllerRef (RULES L114). If a Pod's condition announces an eviction and the Pod is not deleted within
// two minutes, the controller resets the condition.
package disruption

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	budgetKind      = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	podKind         = corev1.SchemeGroupVersion.WithKind("Pod")
	replicationKind = corev1.SchemeGroupVersion.WithKind("ReplicationController")
	replicaSetKind  = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	deploymentKind  = appsv1.SchemeGroupVersion.WithKind("Deployment")
	statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
)

// New returns the controller. If several budgets select a Pod, it reconciles all of them. Upstream reconciles only the
// first. As in upstream, two changes do not enqueue a budget: the Pods' controller is scaled, or a Pod gets labels that
// the budget does not select. They take effect with the next event of the budget or its Pods.
func New() host.Controller {
	return host.Controller{
		Name: "disruption", For: budgetKind,
		Contract: law.Contract{
			Profile: law.Upstream,
			MayEdit: []schema.GroupVersionKind{podKind}, // the controller resets the condition DisruptionTarget of Pods
		},
		New: func(env *host.Env) host.Reconciler { return newReconciler(env) },
		Routes: []host.Route{
			{Kind: budgetKind, Do: wakeBudget}, {Kind: podKind, Do: wakeForPod},
			{Kind: replicationKind, Do: ignore}, {Kind: replicaSetKind, Do: ignore},
			{Kind: deploymentKind, Do: ignore}, {Kind: statefulSetKind, Do: ignore},
		},
	}
}

func wakeBudget(_ host.View, e host.Event, out *host.Effect) {
	obj := e.New
	if obj == nil {
		obj = e.Old
	}
	out.Keys = append(out.Keys, routing.Key(obj.(metav1.Object)))
}

// ignore is the route of Deployments and other controllers of Pods. Their events enqueue nothing. Only their sizes are
// read.
func ignore(host.View, host.Event, *host.Effect) {}

// wakeForPod enqueues the budgets that select a Pod, and the Pod itself if its eviction was announced.
func wakeForPod(v host.View, e host.Event, out *host.Effect) {
	pod, there := e.New.(*corev1.Pod)
	if !there {
		pod = e.Old.(*corev1.Pod)
	}
	v.Each(budgetKind, pod.Namespace, func(obj runtime.Object) bool {
		if ref.Selects(obj.(*policyv1.PodDisruptionBudget).Spec.Selector, pod.Labels) {
			out.Keys = append(out.Keys, routing.Key(obj.(metav1.Object)))
		}
		return true
	})
	if there && announced(pod) != nil {
		out.Keys = append(out.Keys, podKey(pod))
	}
}

func wanted(obj runtime.Object) int32 {
	n := (*int32)(nil)
	switch o := obj.(type) {
	case *corev1.ReplicationController:
		n = o.Spec.Replicas
	case *appsv1.ReplicaSet:
		n = o.Spec.Replicas
	case *appsv1.Deployment:
		n = o.Spec.Replicas
	case *appsv1.StatefulSet:
		n = o.Spec.Replicas
	}
	if n == nil {
		return 1
	}
	return *n
}

type reconciler struct {
	env     *host.Env
	budgets cache.Indexer
	pods    cache.Indexer
}

func newReconciler(env *host.Env) *reconciler {
	pods := env.Informer(podKind).GetIndexer()
	pod.IndexLabels(pods)
	return &reconciler{env: env, budgets: env.Informer(budgetKind).GetIndexer(), pods: pods}
}

func (r *reconciler) Digest(*sim.Hash) {}

// Sync updates the status of one budget, or one Pod. If the update of a budget fails, except by a conflict, Sync allows
// no evictions, because the previous number may be too high.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	if pod, ok := podOf(key); ok {
		return r.stays(ctx, key, pod)
	}
	obj, exists, err := r.budgets.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	budget := obj.(*policyv1.PodDisruptionBudget)
	recheck, err := r.update(ctx, budget)
	if err != nil && !apierrors.IsConflict(err) {
		failed := *budget
		failed.Status.DisruptionsAllowed = 0
		setCondition(&failed, metav1.ConditionFalse, policyv1.SyncFailedReason, err.Error(), r.env.Now())
		_, err = r.env.Client.UpdateStatus(ctx, &failed)
	}
	if err == nil && recheck > 0 {
		r.env.Queue.AddAfter(key, recheck)
	}
	return err
}

// update writes the status if it changed. It returns the time until the status drops the first disrupted Pod, or 0.
func (r *reconciler) update(ctx context.Context, budget *policyv1.PodDisruptionBudget) (time.Duration, error) {
	pods := r.podsOf(budget)
	expected, desired, err := r.expect(ctx, budget, pods)
	if err != nil {
		return 0, err
	}
	now := r.env.Now()
	disrupted, recheck := stillAwaited(budget, pods, now)
	healthy := countHealthy(pods, disrupted, now)
	allowed := max(0, healthy-desired)
	if expected <= 0 {
		allowed = 0 // the cache may not show the Pods yet
	}
	status := policyv1.PodDisruptionBudgetStatus{
		CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: expected, DisruptionsAllowed: allowed,
		DisruptedPods: disrupted, ObservedGeneration: budget.Generation, Conditions: budget.Status.Conditions,
	}
	if upToDate(budget, &status) {
		return recheck, nil
	}
	updated := *budget
	updated.Status = status
	if allowed > 0 {
		setCondition(&updated, metav1.ConditionTrue, policyv1.SufficientPodsReason, "", now)
	} else {
		setCondition(&updated, metav1.ConditionFalse, policyv1.InsufficientPodsReason, "", now)
	}
	_, err = r.env.Client.UpdateStatus(ctx, &updated)
	return recheck, err
}

func (r *reconciler) podsOf(budget *policyv1.PodDisruptionBudget) []*corev1.Pod {
	s := budget.Spec.Selector
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(pod.Labelled(r.pods, budget.Namespace, s.MatchLabels),
		func(p *corev1.Pod) bool { return !ref.Selects(s, p.Labels) })
}

// podMark is a part of the queue key of a Pod with an announced eviction. The name of a budget cannot contain it.
const podMark = "/pod:"

func podKey(pod *corev1.Pod) string { return pod.Namespace + podMark + pod.Name }

func podOf(key string) (pod string, ok bool) {
	namespace, name, ok := strings.Cut(key, podMark)
	return namespace + "/" + name, ok
}

// announced returns the condition that announces an eviction. It returns nil if the Pod is terminating or has ended. It
// also returns nil if the kubelet set the condition, because that eviction may take any time.
func announced(pod *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions,
		func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	if i < 0 || pod.DeletionTimestamp != nil ||
		pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	c := &pod.Status.Conditions[i]
	if c.Status != corev1.ConditionTrue || c.Reason == corev1.PodReasonTerminationByKubelet {
		return nil
	}
	return c
}

// stays sets DisruptionTarget to False if a Pod is not terminating 2 minutes after its eviction was announced.
func (r *reconciler) stays(ctx context.Context, key, pod string) error {
	obj, exists, err := r.pods.GetByKey(pod)
	if err != nil || !exists {
		return err
	}
	p := obj.(*corev1.Pod)
	c := announced(p)
	if c == nil {
		return nil
	}
	now := r.env.Now()
	if left := c.LastTransitionTime.Add(patience).Sub(now); left > 0 {
		r.env.Queue.AddAfter(key, left)
		return nil
	}
	p = p.DeepCopy()
	*announced(p) = corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse,
		ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(now)}
	_, err = r.env.Client.UpdateStatus(ctx, p)
	return err
}
