// Package pod is the common code for pods. It makes pods from templates, counts them, and orders them for deletion.
package pod

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var Kind = corev1.SchemeGroupVersion.WithKind("Pod")

// FromTemplate returns a pod of an owner with copies of a template's labels, annotations, finalizers and spec. The
// server generates the name from the owner's name. The pod gets the ControllerRef controller (LAW-1), or none if nil.
func FromTemplate(t *corev1.PodTemplateSpec, owner metav1.Object, controller *metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:    owner.GetNamespace(),
			GenerateName: owner.GetName() + "-",
			Labels:       maps.Clone(t.Labels),
			Annotations:  maps.Clone(t.Annotations),
			Finalizers:   slices.Clone(t.Finalizers),
		},
		Spec: *t.Spec.DeepCopy(),
	}
	if controller != nil {
		p.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	return p
}

// Active reports whether a pod has not ended and is not terminating.
func Active(p *corev1.Pod) bool { return !Ended(p) && p.DeletionTimestamp == nil }

// Terminating reports whether a pod is terminating and has not ended.
func Terminating(p *corev1.Pod) bool { return !Ended(p) && p.DeletionTimestamp != nil }

// Ended reports whether a pod succeeded or failed, so that it will not run again.
func Ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func Ready(p *corev1.Pod) bool { return ReadyCondition(p) != nil }

// ReadyCondition returns the condition Ready if it is true, or nil.
func ReadyCondition(p *corev1.Pod) *corev1.PodCondition {
	if c := Condition(p, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		return c
	}
	return nil
}

func Condition(p *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == of {
			return c
		}
	}
	return nil
}

// Available reports whether a pod has been ready for minReadySeconds. If a pod does not report since when it is ready,
// it is available only if minReadySeconds is 0.
func Available(p *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	c := ReadyCondition(p)
	if c == nil || minReadySeconds == 0 {
		return c != nil
	}
	return !c.LastTransitionTime.IsZero() && !availableAt(c, minReadySeconds).After(now)
}

func availableAt(ready *corev1.PodCondition, minReadySeconds int32) time.Time {
	return ready.LastTransitionTime.Add(time.Duration(minReadySeconds) * time.Second)
}

// NextAvailable returns the time until the next ready pod becomes available, or 0 if there is none.
func NextAvailable(pods []*corev1.Pod, minReadySeconds int32, now time.Time) time.Duration {
	next := time.Duration(0)
	for _, p := range pods {
		c := ReadyCondition(p)
		if c == nil || minReadySeconds <= 0 {
			continue
		}
		if d := availableAt(c, minReadySeconds).Sub(now); d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	return next
}

const (
	controllerIndex = "threelaws/controller" // pods with a controller, by the controller's uid
	orphanIndex     = "threelaws/orphans"    // pods without a controller, by namespace
)

// Index adds the indexes for [Of] and [Orphans] to a cache. Every controller of a process may call it.
func Index(pods cache.Indexer) {
	if pods.GetIndexers()[controllerIndex] != nil {
		return
	}
	err := pods.AddIndexers(cache.Indexers{
		controllerIndex: func(obj any) ([]string, error) {
			if r := metav1.GetControllerOfNoCopy(obj.(*corev1.Pod)); r != nil {
				return []string{string(r.UID)}, nil
			}
			return nil, nil
		},
		orphanIndex: func(obj any) ([]string, error) {
			if p := obj.(*corev1.Pod); metav1.GetControllerOfNoCopy(p) == nil {
				return []string{p.Namespace}, nil
			}
			return nil, nil
		},
	})
	if err != nil {
		panic("pod: the indexes were there and were not: " + err.Error())
	}
}

// Of returns the cached pods whose controller has this uid, sorted by key.
func Of(pods cache.Indexer, controller types.UID) []*corev1.Pod {
	return by(pods, controllerIndex, string(controller))
}

// Orphans returns the cached pods of a namespace without a controller, sorted by key.
func Orphans(pods cache.Indexer, namespace string) []*corev1.Pod {
	return by(pods, orphanIndex, namespace)
}

func In(pods cache.Indexer, namespace string) []*corev1.Pod {
	return by(pods, cache.NamespaceIndex, namespace)
}

func All(pods cache.Indexer) []*corev1.Pod { return typed(pods.List()) }

func by(pods cache.Indexer, index, value string) []*corev1.Pod {
	objs, err := pods.ByIndex(index, value)
	if err != nil {
		panic("pod: " + err.Error())
	}
	return typed(objs)
}

func typed(objs []any) []*corev1.Pod {
	out := make([]*corev1.Pod, len(objs))
	for i, obj := range objs {
		out[i] = obj.(*corev1.Pod)
	}
	return out
}

const labelIndex = "threelaws/label" // pods by namespace and label; a pod has an entry for each label

// IndexLabels adds the index for [Labelled] to a cache. Every controller of a process may call it.
func IndexLabels(pods cache.Indexer) {
	if pods.GetIndexers()[labelIndex] != nil {
		return
	}
	err := pods.AddIndexers(cache.Indexers{labelIndex: func(obj any) ([]string, error) {
		p := obj.(*corev1.Pod)
		values := make([]string, 0, len(p.Labels))
		for k, v := range p.Labels { //detcheck:ordered a pod is found by each of them
			values = append(values, labelled(p.Namespace, k, v))
		}
		return values, nil
	}})
	if err != nil {
		panic("pod: the index was there and was not: " + err.Error())
	}
}

func labelled(namespace, key, value string) string { return namespace + "/" + key + "=" + value }

// Labelled returns the cached pods of a namespace that have the first of the wanted labels, sorted by key. The caller
// must check the other labels. Without wanted labels it returns all pods of the namespace.
func Labelled(pods cache.Indexer, namespace string, want map[string]string) []*corev1.Pod {
	if len(want) == 0 {
		return In(pods, namespace)
	}
	first := ""
	for k := range want { //detcheck:ordered the first in the order of names
		if first == "" || k < first {
			first = k
		}
	}
	return by(pods, labelIndex, labelled(namespace, first, want[first]))
}

// Before orders active pods for deletion. It compares, one after another: no node before a node; pending, unknown,
// running; not ready before ready; ready for a shorter time first; more restarts first; younger first. It returns 0 for
// pods that are equal in all this.
func Before(a, b *corev1.Pod) int {
	return cmp.Or(Stage(a, b), Later(ReadySince(a), ReadySince(b)), Restarts(a, b),
		Later(a.CreationTimestamp.Time, b.CreationTimestamp.Time))
}

// Stage orders pods by progress: first unbound, then pending, unknown and running pods, and ready pods last.
func Stage(a, b *corev1.Pod) int {
	return cmp.Or(
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phase(a), phase(b)),
		compareBool(Ready(a), Ready(b)),
	)
}

func phase(p *corev1.Pod) int {
	switch p.Status.Phase {
	case corev1.PodUnknown:
		return 1
	case corev1.PodRunning:
		return 2
	}
	return 0
}

// ReadySince returns the time at which a pod became ready. It returns zero if the pod is not ready.
func ReadySince(p *corev1.Pod) time.Time {
	if c := ReadyCondition(p); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// Restarts orders pods with more restarts first. It compares containers, and then sidecars.
func Restarts(a, b *corev1.Pod) int {
	containersA, sidecarsA := restarts(a)
	containersB, sidecarsB := restarts(b)
	return cmp.Or(cmp.Compare(containersB, containersA), cmp.Compare(sidecarsB, sidecarsA))
}

// restarts returns the highest restart counts of a pod's containers and of its sidecars.
func restarts(p *corev1.Pod) (containers, sidecars int32) {
	for i := range p.Status.ContainerStatuses {
		containers = max(containers, p.Status.ContainerStatuses[i].RestartCount)
	}
	for i := range p.Status.InitContainerStatuses {
		s := &p.Status.InitContainerStatuses[i]
		for j := range p.Spec.InitContainers {
			c := &p.Spec.InitContainers[j]
			if c.Name == s.Name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				sidecars = max(sidecars, s.RestartCount)
			}
		}
	}
	return containers, sidecars
}

// Later orders the later of two times first. A zero time counts as the latest.
func Later(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return compareBool(!a.IsZero(), !b.IsZero())
	}
	return b.Compare(a)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
