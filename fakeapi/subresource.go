package fakeapi

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func (c *call) createSubresource() Response {
	if c.k.row.Grace != nil {
		switch c.req.Subresource {
		case "eviction":
			return c.evict()
		case "binding":
			return c.bind()
		}
	}
	return refuse(errNoSubresource())
}

func (c *call) updateSubresource() Response {
	if c.req.Subresource == "scale" && c.k.row.Scale != nil {
		return c.rescale()
	}
	return refuse(errNoSubresource())
}

func (c *call) getSubresource() Response {
	if c.req.Subresource == "scale" && c.k.row.Scale != nil {
		return c.getScale()
	}
	if c.k.row.Way(c.req.Subresource) == nil {
		return refuse(errNoSubresource())
	}
	e := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	return Response{Object: e.obj, Code: http.StatusOK}
}

func success() *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Code: http.StatusCreated}
}

func (c *call) bind() Response {
	asked, ok := c.req.Object.(*corev1.Binding)
	if !ok || asked.Target.Name == "" {
		return refuse(apierrors.NewBadRequest("a binding names the node in target.name"))
	}
	asked = asked.DeepCopy()
	asked.SetGroupVersionKind(bindings.GVK)
	if asked.Target.Kind == "Node" {
		c.s.labelTopology(&asked.ObjectMeta, asked.Target.Name)
	}
	if err := c.review(admissionv1.Create, asked, nil, len(c.req.Create.DryRun) > 0); err != nil {
		return refuse(err)
	}
	r := c.modify(edit{way: &bare, make: (*call).bound, body: asked, dryRun: len(c.req.Create.DryRun) > 0})
	if r.Err == nil {
		r = Response{Object: success(), Code: http.StatusCreated}
	}
	return r
}

// bound makes the new state of a Pod that is bound to a node. The Binding has the node, labels and annotations.
func (c *call) bound(w *draft) error {
	p, b := w.old.obj.(*corev1.Pod), w.body.(*corev1.Binding)
	switch {
	case p.DeletionTimestamp != nil:
		return c.errConflict(p.Name, fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", p.Name))
	case p.Spec.NodeName != "":
		return c.errConflict(p.Name, fmt.Sprintf("pod %s is already assigned to node %q", p.Name, p.Spec.NodeName))
	case len(p.Spec.SchedulingGates) > 0:
		return c.errConflict(p.Name, fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", p.Name))
	}
	bound := *p
	bound.Spec.NodeName, bound.Status.NominatedNodeName = b.Target.Name, ""
	bound.Labels, bound.Annotations = merged(p.Labels, b.Labels), merged(p.Annotations, b.Annotations)
	bound.Status.Conditions = withCondition(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled,
		Status: corev1.ConditionTrue, LastTransitionTime: metadata.Seconds(c.now)})
	w.obj = &bound
	return nil
}

func merged(m, more map[string]string) map[string]string {
	if len(more) == 0 {
		return m
	}
	all := make(map[string]string, len(m)+len(more))
	maps.Copy(all, m)
	maps.Copy(all, more)
	return all
}

func (c *call) evict() Response {
	asked, ok := c.req.Object.(*policyv1.Eviction)
	if !ok {
		return refuse(apierrors.NewBadRequest(fmt.Sprintf("not a Eviction object: %T", c.req.Object)))
	}
	if asked.Name != "" && asked.Name != c.req.Name {
		return refuse(apierrors.NewBadRequest("name in URL does not match name in Eviction object"))
	}
	asked = asked.DeepCopy()
	asked.SetGroupVersionKind(evictions.GVK)
	if err := c.review(admissionv1.Create, asked, nil, len(c.req.Create.DryRun) > 0); err != nil {
		return refuse(err)
	}
	opts, err := evictionOptions(asked, c.req.Create.DryRun)
	if err != nil {
		return refuse(err)
	}
	old := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if old == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	if pod := old.obj.(*corev1.Pod); !disruptedAlready(pod) {
		answer, err := c.spend(pod, len(opts.DryRun) > 0)
		if err != nil {
			return refuse(err)
		}
		if answer != nil {
			return Response{Object: answer, Code: http.StatusCreated}
		}
	}
	if err := c.disrupt(old, opts); err != nil {
		return refuse(err)
	}
	return Response{Object: success(), Code: http.StatusCreated}
}

// evictionOptions returns the options for the delete of the Pod. Both the query and the Eviction may set dryRun.
func evictionOptions(asked *policyv1.Eviction, dryRun []string) (metav1.DeleteOptions, error) {
	if asked.DeleteOptions == nil {
		return metav1.DeleteOptions{DryRun: dryRun}, nil
	}
	opts := *asked.DeleteOptions
	switch {
	case len(opts.DryRun) == 0:
		opts.DryRun = dryRun
	case len(dryRun) > 0 && !reflect.DeepEqual(dryRun, opts.DryRun):
		return opts, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", dryRun, opts.DryRun)
	}
	return opts, nil
}

// disruptedAlready reports whether the Pod is pending, has ended or is terminating. No budget limits its eviction then.
func disruptedAlready(p *corev1.Pod) bool {
	switch p.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return p.DeletionTimestamp != nil
}

// spend counts an eviction in the Pod's PodDisruptionBudget. It changes nothing in a dry run, or if no budget limits
// the eviction. A returned Status is the response to the eviction.
func (c *call) spend(pod *corev1.Pod, dryRun bool) (*metav1.Status, error) {
	var found []*entry
	c.s.tables[budgetKind.ordinal].each(pod.Namespace, func(e *entry) bool {
		selector, err := metav1.LabelSelectorAsSelector(e.obj.(*policyv1.PodDisruptionBudget).Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, e)
		}
		return true
	})
	switch {
	case len(found) == 0:
		return nil, nil
	case len(found) > 1:
		return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not " +
				"support."}, nil
	}
	budget := found[0].obj.(*policyv1.PodDisruptionBudget)
	if !ready(pod) {
		always := budget.Spec.UnhealthyPodEvictionPolicy != nil &&
			*budget.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
		if always || budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy && budget.Status.DesiredHealthy > 0 {
			return nil, nil
		}
	}
	if err := room(budget); err != nil || dryRun {
		return nil, err
	}
	c.take(found[0], pod.Name)
	return nil, nil
}

func ready(p *corev1.Pod) bool {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return i >= 0 && p.Status.Conditions[i].Status == corev1.ConditionTrue
}

// maxDisrupted is the maximum number of Pods in status.disruptedPods. The disruption controller removes them later.
const maxDisrupted = 2000

// room returns an error if the budget does not allow an eviction.
func room(b *policyv1.PodDisruptionBudget) error {
	budgets := budgetKind.groupResource()
	budgets.Resource = "poddisruptionbudget"
	switch {
	case b.Status.ObservedGeneration < b.Generation:
		return errBudget(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name))
	case b.Status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(budgets, b.Name, errors.New("pdb disruptions allowed is negative"))
	case len(b.Status.DisruptedPods) > maxDisrupted:
		return apierrors.NewForbidden(budgets, b.Name,
			errors.New("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
	case b.Status.DisruptionsAllowed > 0:
		return nil
	}
	condition := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	said := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	switch {
	case said && condition.Reason == policyv1.SyncFailedReason:
		return errBudget(0, fmt.Sprintf(
			"The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name,
			condition.Message))
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return errBudget(0, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name,
			b.Status.DesiredHealthy, b.Status.CurrentHealthy))
	case said:
		return errBudget(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s",
			b.Name, condition.Reason, condition.Message))
	}
	return errBudget(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name))
}

func errBudget(retry int, why string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retry)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: why})
	return err
}

// take records the eviction of a Pod in the status of a budget.
func (c *call) take(e *entry, pod string) {
	b := e.obj.(*policyv1.PodDisruptionBudget).DeepCopy()
	b.Status.DisruptionsAllowed--
	if b.Status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&b.Status.Conditions,
			metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
				Reason: policyv1.InsufficientPodsReason, ObservedGeneration: b.Status.ObservedGeneration,
				LastTransitionTime: metadata.Seconds(c.now)})
	}
	if b.Status.DisruptedPods == nil {
		b.Status.DisruptedPods = map[string]metav1.Time{}
	}
	b.Status.DisruptedPods[pod] = metadata.Seconds(c.now)
	own := c.serverCall(budgetKind, "status")
	if c.s.opts.ManagedFields {
		b = own.manage(e.obj, b, "").(*policyv1.PodDisruptionBudget)
	}
	own.commit(c.s.writable(budgetKind), e, e.key, b, b)
	c.events = append(c.events[:len(c.events):len(c.events)], own.events...)
}

// disrupt adds the condition DisruptionTarget to the Pod, except in a dry run, and deletes the Pod.
func (c *call) disrupt(old *entry, opts metav1.DeleteOptions) error {
	if len(opts.DryRun) == 0 {
		if err := c.matchDelete(&draft{old: old, opts: &opts}); err != nil {
			return err
		}
		r := c.modify(edit{way: &c.k.row.ForStatus, make: (*call).disrupted})
		if r.Err != nil {
			return r.Err
		}
		if old = c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name); old == nil {
			return c.errNotFound(c.req.Name)
		}
		if pre := opts.Preconditions; pre != nil && pre.ResourceVersion != nil {
			version := old.meta.GetResourceVersion()
			opts.Preconditions = &metav1.Preconditions{UID: pre.UID, ResourceVersion: &version}
		}
	}
	return c.remove(old, opts)
}

// disrupted makes the new state of a Pod that is evicted.
func (c *call) disrupted(w *draft) error {
	p := *w.old.obj.(*corev1.Pod)
	p.Status.Conditions = withCondition(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI",
		Message: "Eviction API: evicting", LastTransitionTime: metadata.Seconds(c.now)})
	w.obj = &p
	return nil
}

// withCondition returns a copy of the conditions in which want replaces the condition of the same type. If the status
// is the same, the transition time does not change.
func withCondition(conditions []corev1.PodCondition, want corev1.PodCondition) []corev1.PodCondition {
	all := slices.Clone(conditions)
	i := slices.IndexFunc(all, func(c corev1.PodCondition) bool { return c.Type == want.Type })
	if i < 0 {
		return append(all, want)
	}
	if all[i].Status == want.Status {
		want.LastTransitionTime = all[i].LastTransitionTime
	}
	all[i] = want
	return all
}
