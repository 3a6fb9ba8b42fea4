// Package pod is what controllers of pods have in common: pods made from a
// template, which of them count, which is to be deleted before which.
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

// Kind is the kind of pods.
var Kind = corev1.SchemeGroupVersion.WithKind("Pod")

// FromTemplate makes a pod of an owner from a template: labels, annotations,
// finalizers and spec are copies of the template's. Its name is made up by the
// server from the owner's. It carries the reference from the first moment (LAW-1);
// nil makes an orphan.
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

// Active reports whether a pod neither has ended nor is being deleted.
func Active(p *corev1.Pod) bool { return !Ended(p) && p.DeletionTimestamp == nil }

// Terminating reports whether a pod is being deleted and has not ended.
func Terminating(p *corev1.Pod) bool { return !Ended(p) && p.DeletionTimestamp != nil }

// Ended reports whether a pod succeeded or failed: it will not run again.
func Ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Ready reports whether a pod says that it is.
func Ready(p *corev1.Pod) bool { return ReadyCondition(p) != nil }

// ReadyCondition is the condition that says that a pod is ready; nil when it is not.
func ReadyCondition(p *corev1.Pod) *corev1.PodCondition {
	if c := Condition(p, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		return c
	}
	return nil
}

// Condition finds a condition of a pod by its type; nil when it has none.
func Condition(p *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == of {
			return c
		}
	}
	return nil
}

// Available reports whether a pod has been ready for so many seconds. One that does
// not say since when it is ready has not, unless it need not have been.
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

// NextAvailable is how long it takes until the next of the pods that are ready has
// been ready for so many seconds; 0 when there is none to wait for.
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
	controllerIndex = "threelaws/controller" // pods by the uid of their controller
	orphanIndex     = "threelaws/orphans"    // pods without a controller by namespace
)

// Index gives a process's cache of pods the indexes that [Of] and [Orphans] use.
// It may be called for every controller of the process.
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

// Of are the cached pods whose controller has a uid, in the order of their keys.
func Of(pods cache.Indexer, controller types.UID) []*corev1.Pod {
	return by(pods, controllerIndex, string(controller))
}

// Orphans are the cached pods of a namespace without a controller, in the order of
// their keys.
func Orphans(pods cache.Indexer, namespace string) []*corev1.Pod {
	return by(pods, orphanIndex, namespace)
}

// In are the cached pods of a namespace, in the order of their keys.
func In(pods cache.Indexer, namespace string) []*corev1.Pod {
	return by(pods, cache.NamespaceIndex, namespace)
}

// All are the cached pods, in the order of their keys.
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

const labelIndex = "threelaws/label" // pods by namespace and each of their labels

// IndexLabels gives a process's cache of pods the index that [Labelled] uses. It may be
// called for every controller of the process.
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

// Labelled are the cached pods of a namespace, in the order of their keys, that have one
// of the labels that are wanted: whoever selects by all of them need look at no other.
// Where none are wanted they are all of the namespace.
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

// Before orders active pods by what is lost with them, the least first: without a
// node before with one; pending before unknown before running; not ready before
// ready; ready for a shorter time; restarted more often; younger. Pods that are
// equal in all that have no order: who sorts says in which they stay.
func Before(a, b *corev1.Pod) int {
	return cmp.Or(Stage(a, b), Later(ReadySince(a), ReadySince(b)), Restarts(a, b),
		Later(a.CreationTimestamp.Time, b.CreationTimestamp.Time))
}

// Stage orders pods by how far they have come: without a node before with one,
// pending before unknown before running, not ready before ready.
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

// ReadySince is since when a pod is ready; zero where it is not, or does not say.
func ReadySince(p *corev1.Pod) time.Time {
	if c := ReadyCondition(p); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// Restarts orders pods that were restarted more often first: by their containers,
// then by the init containers that keep running.
func Restarts(a, b *corev1.Pod) int {
	containersA, sidecarsA := restarts(a)
	containersB, sidecarsB := restarts(b)
	return cmp.Or(cmp.Compare(containersB, containersA), cmp.Compare(sidecarsB, sidecarsA))
}

// restarts are how often the most restarted of a pod's containers and of its
// sidecars was.
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

// Later orders the later of two moments first; one that is not known is the
// latest.
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
