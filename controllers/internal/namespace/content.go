package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/fakeapi"
)

// finalizerWait is the assumed time until finalizers are removed.
const finalizerWait = 15 * time.Second

// contents counts the remaining objects of a namespace.
type contents struct {
	wait       time.Duration // the time until the remaining objects may be gone
	resources  map[schema.GroupResource]int
	finalizers map[string]int
	podsFirst  bool // only pods were listed
	errs       []error
}

// add counts remaining objects. An object with neither finalizer nor grace period should be gone, so it is an error.
func (left *contents) add(k *fakeapi.Kind, items []runtime.Object, wait time.Duration) error {
	if len(items) == 0 {
		return nil
	}
	if left.resources == nil {
		left.resources, left.finalizers = map[schema.GroupResource]int{}, map[string]int{}
	}
	left.resources[k.GVR().GroupResource()] += len(items)
	held := false
	for _, obj := range items {
		for _, f := range obj.(metav1.Object).GetFinalizers() {
			left.finalizers[f]++
			held = true
		}
	}
	if held && wait == 0 {
		wait = finalizerWait
	}
	left.wait = max(left.wait, wait)
	if wait == 0 {
		return fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v",
			items[0].(metav1.Object).GetNamespace(), k.GVR())
	}
	return nil
}

// empty deletes the content of a namespace and counts what is left. It deletes only pods until none is left. If pods
// could not be counted, it assumes that some are left (NS-1). Upstream assumes that none are.
func (c *controller) empty(ctx context.Context, ns *corev1.Namespace, left *contents) error {
	err := c.deletePods(ctx, ns, left)
	if err != nil {
		left.errs = append(left.errs, err)
	}
	unknown := err != nil && !c.without.PodsUnknown
	if (len(left.resources) > 0 || unknown) && !c.without.PodsFirst {
		left.podsFirst = true
		return utilerrors.NewAggregate(left.errs)
	}
	for _, k := range c.others() {
		if err := c.deleteAll(ctx, k, ns.Name, 0, left); err != nil {
			left.errs = append(left.errs, err)
		}
	}
	return utilerrors.NewAggregate(left.errs)
}

// deletePods deletes the pods. Pods that are left are an error only after their longest grace period has passed since
// the deletion of the namespace.
func (c *controller) deletePods(ctx context.Context, ns *corev1.Namespace, left *contents) error {
	pods, err := c.env.Client.List(ctx, podKind, ns.Name, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var wait time.Duration
	for _, obj := range pods {
		pod := obj.(*corev1.Pod)
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
			wait = max(wait, time.Duration(*s)*time.Second)
		}
	}
	if t := ns.DeletionTimestamp; t == nil || c.env.Now().Sub(t.Time) >= wait { // t is nil only for a mutant
		wait = 0
	}
	return c.deleteAll(ctx, c.pods, ns.Name, wait, left)
}

// deleteAll deletes the objects of one kind and counts those that are left. Its policy never orphans. If the kind is no
// longer served, it does nothing.
func (c *controller) deleteAll(ctx context.Context, k *fakeapi.Kind, namespace string, wait time.Duration,
	left *contents) error {
	background := metav1.DeletePropagationBackground
	_, err := c.env.Client.Do(ctx, &fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: k, Namespace: namespace,
		Delete: metav1.DeleteOptions{PropagationPolicy: &background}})
	var items []runtime.Object
	if err == nil {
		items, err = c.env.Client.List(ctx, k.GVK, namespace, metav1.ListOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return left.add(k, items, wait)
}

// calm lists the conditions of a namespace whose deletion meets no obstacle, in the order in which they are written.
var calm = [...]corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered",
		Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions",
		Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted",
		Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers",
		Message: "All content-preserving finalizers finished"},
}

// conditions returns the new conditions of a namespace, and whether they differ from the old ones. A condition keeps
// its time if its status is the same.
func conditions(old []corev1.NamespaceCondition, left *contents, now time.Time) ([]corev1.NamespaceCondition, bool) {
	out, changed := slices.Clone(old), false
	for _, want := range calm {
		want.Status = corev1.ConditionFalse
		left.judge(&want)
		want.LastTransitionTime = metav1.NewTime(now)
		i := slices.IndexFunc(out, func(c corev1.NamespaceCondition) bool { return c.Type == want.Type })
		switch {
		case i < 0:
			out, changed = append(out, want), true
		case out[i].Status != want.Status || out[i].Reason != want.Reason || out[i].Message != want.Message:
			if out[i].Status == want.Status {
				want.LastTransitionTime = out[i].LastTransitionTime
			}
			out[i], changed = want, true
		}
	}
	return out, changed
}

// judge sets a condition if there is an obstacle of its type. While only pods are deleted, it does not report remaining
// content, because most of it was not counted.
func (left *contents) judge(c *corev1.NamespaceCondition) {
	switch {
	case c.Type == corev1.NamespaceDeletionContentFailure && len(left.errs) > 0:
		texts := make([]string, len(left.errs))
		for i, err := range left.errs {
			texts[i] = err.Error()
		}
		slices.Sort(texts)
		c.Status, c.Reason = corev1.ConditionTrue, "ContentDeletionFailed"
		c.Message = fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(texts),
			strings.Join(texts, ", "))
	case left.podsFirst:
	case c.Type == corev1.NamespaceContentRemaining && len(left.resources) > 0:
		var texts []string
		for r, n := range left.resources { //detcheck:ordered sorted below
			texts = append(texts, fmt.Sprintf("%s.%s has %d resource instances", r.Resource, r.Group, n))
		}
		slices.Sort(texts)
		c.Status, c.Reason = corev1.ConditionTrue, "SomeResourcesRemain"
		c.Message = "Some resources are remaining: " + strings.Join(texts, ", ")
	case c.Type == corev1.NamespaceFinalizersRemaining && len(left.finalizers) > 0:
		var texts []string
		for f, n := range left.finalizers { //detcheck:ordered sorted below
			texts = append(texts, fmt.Sprintf("%s in %d resource instances", f, n))
		}
		slices.Sort(texts)
		c.Status, c.Reason = corev1.ConditionTrue, "SomeFinalizersRemain"
		c.Message = "Some content in the namespace has finalizers remaining: " + strings.Join(texts, ", ")
	}
}
