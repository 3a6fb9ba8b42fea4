package fakeapi

import (
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/admission"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// permitCreate runs the validating admission plugins, policies and webhooks for a complete, valid object. The error is
// a 403, or comes from a webhook. As in the real server, the name is checked after this stage and the quotas. A create
// that then fails with 409 is charged, too.
func (c *call) permitCreate(w *draft) error {
	var err error
	switch o := w.obj.(type) {
	case *corev1.Pod:
		if err = admission.Limit(c.s.limitRanges(o.Namespace), o); err != nil {
			break
		}
		if refusal := c.secures(o, nil); refusal != nil {
			return refusal
		}
		if o.Spec.Overhead != nil && c.s.plugged(runtimeClass) {
			err = admission.Overhead(o, c.s.runtimeClasses())
		}
	case *corev1.PersistentVolumeClaim:
		err = admission.Limit(c.s.limitRanges(o.Namespace), o)
	case *schedulingv1.PriorityClass:
		if c.s.plugged(priority) {
			err = c.s.priorities().OneDefault(o, true)
		}
	default:
		if refusal := c.secures(w.obj, nil); refusal != nil {
			return refusal
		}
	}
	if err == nil {
		err = c.mayOwn(w.m, nil)
	}
	if err != nil {
		return c.errForbidden(w.m, err)
	}
	return c.validated(admissionv1.Create, w.obj, nil, w.dryRun)
}

// permitUpdate does the same as permitCreate, for an update. Most plugins skip updates of subresources, and updates
// that change only metadata.
func (c *call) permitUpdate(w *draft) error {
	obj, old, err := w.obj, w.old, error(nil)
	if c.req.Subresource == "resize" && c.k == podKind {
		return c.permitResize(obj.(*corev1.Pod), old, w.dryRun)
	}
	if refusal := c.secures(obj, old.obj); refusal != nil {
		return refusal
	}
	if c.req.Subresource == "" && !w.onlyMeta {
		switch o := obj.(type) {
		case *corev1.PersistentVolumeClaim:
			if old.meta.GetDeletionTimestamp() == nil {
				err = admission.Limit(c.s.limitRanges(o.Namespace), o)
			}
			if err == nil && c.s.plugged(resizesClaims) {
				err = admission.MayGrow(o, old.obj.(*corev1.PersistentVolumeClaim),
					held[*storagev1.StorageClass](c.s, storageClassKind, ""))
			}
		case *schedulingv1.PriorityClass:
			if c.s.plugged(priority) {
				err = c.s.priorities().OneDefault(o, false)
			}
		}
	}
	if err == nil {
		err = c.mayOwn(w.m, old.meta)
	}
	if err != nil {
		return c.errForbidden(w.m, err)
	}
	if c.posted() {
		return nil
	}
	return c.validated(admissionv1.Update, obj, old.obj, w.dryRun)
}

func (c *call) permitResize(p *corev1.Pod, old *entry, dryRun bool) error {
	if err := admission.Limit(c.s.limitRanges(p.Namespace), p); err != nil {
		return c.errForbidden(p, err)
	}
	if refusal := c.secures(p, old.obj); refusal != nil {
		return refusal
	}
	if p.Spec.NodeName != "" && p.Generation != old.meta.GetGeneration() {
		var node *corev1.Node
		if e := c.s.find(c.s.tables[nodeKind.ordinal], p.Spec.NodeName); e != nil {
			node = e.obj.(*corev1.Node)
		}
		if c.s.plugged(declaredFeatures) {
			if err := admission.Declared(p, old.obj.(*corev1.Pod), node); err != nil {
				return c.errForbidden(p, err)
			}
		}
		if reason, err := admission.Fits(p, node); err != nil && c.s.plugged(resizesPods) {
			refusal := c.errForbidden(p, err)
			if reason != "" {
				refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{Type: reason})
			}
			return refusal
		}
	}
	return c.validated(admissionv1.Update, p, old.obj, dryRun)
}

// secures runs the plugin PodSecurity. It does nothing in a namespace without labels of the plugin.
func (c *call) secures(obj, old runtime.Object) error {
	ns, is := obj.(*corev1.Namespace)
	if pod := c.k == podKind; !c.s.plugged(podSecurity) || c.req.Subresource != "" && (!pod || c.posted()) ||
		c.req.Subresource == "status" || !is && !admission.HasPod(obj) {
		return nil
	}
	if !is {
		e := c.s.find(c.s.tables[namespaceKind.ordinal], c.req.Namespace)
		if e == nil {
			return nil
		}
		ns = e.obj.(*corev1.Namespace)
	}
	before, _ := old.(*corev1.Namespace)
	switch {
	case !admission.Secured(ns):
		return nil
	case is:
		warnings, errs := admission.SecureNamespace(ns, before, held[*corev1.Pod](c.s, podKind, ns.Name))
		c.warnings = append(c.warnings, warnings...)
		if len(errs) > 0 {
			return apierrors.NewInvalid(c.k.GVK.GroupKind(), ns.Name, errs)
		}
		return nil
	}
	warnings, err := admission.Secure(ns, obj, old)
	c.warnings = append(c.warnings, warnings...)
	if err != nil {
		return c.errForbidden(metadata.Of(obj), err)
	}
	return nil
}

// mayOwn returns an error if the user may not set the new owners. An update of a Pod's status cannot change owners.
func (c *call) mayOwn(m, old metav1.Object) error {
	decide := c.s.opts.Authorize
	if decide == nil || c.k == podKind && c.req.Subresource == "status" {
		return nil
	}
	o := admission.Owners{Created: old == nil, New: m.GetOwnerReferences(), Resource: c.s.resourceOf,
		Here: admission.Access{User: c.req.User, Group: c.k.GVK.Group, Version: c.k.GVK.Version, Resource: c.k.Resource,
			Subresource: c.req.Subresource, Namespace: m.GetNamespace(), Name: m.GetName()}}
	if old != nil {
		o.Old = old.GetOwnerReferences()
	}
	return o.May(func(a admission.Access) (bool, string) { return decide(Access(a)) })
}

func (s *Server) resourceOf(gvk schema.GroupVersionKind) (resource string, namespaced, known bool) {
	k := s.Kind(gvk)
	if k == nil {
		return "", false, false
	}
	return k.Resource, k.Namespaced, true
}

// charge adds a write to the quotas of its namespace. In a dry run it only checks them. They stay charged even if the
// write fails later. An exceeded quota is refused with 403. A node port out of range or in use is refused with 422.
func (c *call) charge(w *draft) error {
	if err := c.spendQuota(w); err != nil {
		return err
	}
	return c.allocatePorts(w.asked, w.obj)
}

func (c *call) spendQuota(w *draft) error {
	t := c.s.tables[quotaKind.ordinal]
	if w.onlyMeta || t.objects.Len() == 0 || !c.k.Namespaced || !c.s.plugged(resourceQuota) {
		return nil
	}
	charge := admission.Charge{Of: c.k.groupResource(), Subresource: c.req.Subresource, Obj: w.obj, Now: c.now}
	if w.old != nil {
		charge.Old = w.old.obj
	}
	if !charge.Costs() {
		return nil
	}
	var entries []*entry
	var quotas []*corev1.ResourceQuota
	t.each(w.m.GetNamespace(), func(e *entry) bool {
		if q := e.obj.(*corev1.ResourceQuota); len(q.Status.Hard) > 0 {
			entries, quotas = append(entries, e), append(quotas, q)
		}
		return true
	})
	used, err := charge.Spend(quotas)
	if err != nil {
		return c.errForbidden(w.m, err)
	}
	if w.dryRun {
		return nil
	}
	for i := range used {
		if used[i] != nil {
			c.writeUsage(entries[i], used[i])
		}
	}
	return nil
}

func (c *call) writeUsage(old *entry, used corev1.ResourceList) {
	q := *old.obj.(*corev1.ResourceQuota)
	q.Status.Used = used
	own := c.serverCall(quotaKind, "status")
	var obj runtime.Object = &q
	if c.s.manages(old.meta) {
		obj = own.manage(old.obj, obj, "")
	}
	own.commit(c.s.writable(quotaKind), old, old.key, obj, obj.(metav1.Object))
	c.events = append(c.events[:len(c.events):len(c.events)], own.events...)
}
