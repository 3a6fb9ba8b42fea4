package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/admission"
)

// admitCreate runs the mutating admission plugins and webhooks for a new object, in the real server's order. It returns
// 404 for a missing namespace, and 403 for a terminating namespace or CRD. It also returns the errors of plugins and
// webhooks.
func (c *call) admitCreate(w *draft) error {
	obj, m := w.obj, w.m
	if c.k.custom != nil && c.k.custom.Terminating {
		return errTerminating(c.k, m.GetName())
	}
	if c.k.Namespaced && c.s.plugged(namespaceLifecycle) {
		if err := c.admitNamespace(m); err != nil {
			return err
		}
	}
	err := c.completeNew(obj, m)
	if err != nil {
		return err
	}
	mutated := false
	if c.hooked(mutatingHooks) {
		plugins := func() error { return c.completeNew(obj, m) }
		if mutated, err = c.mutated(admissionv1.Create, obj, nil, w.dryRun, plugins); err != nil {
			return err
		}
	}
	c.dedupOwners(m, true)
	if mutated {
		return c.matchNamespace(m)
	}
	return nil
}

func (c *call) completeNew(obj runtime.Object, m metav1.Object) error {
	if err := c.complete(obj); err != nil {
		return c.errForbidden(m, err)
	}
	if c.k.row.Admit != nil && c.s.plugged(c.k.row.Plugin) {
		if err := c.k.row.Admit(obj, nil); err != nil {
			return c.errForbidden(m, err)
		}
	}
	return nil
}

// complete sets the fields that depend on other stored objects, such as a Pod's priority.
func (c *call) complete(obj runtime.Object) error {
	switch o := obj.(type) {
	case *corev1.Pod:
		for _, l := range c.s.limitRanges(o.Namespace) {
			admission.LimitDefaults(l, o)
		}
		if c.s.plugged(priority) {
			if err := c.s.priorities().Resolve(o); err != nil {
				return err
			}
		}
		if o.Spec.RuntimeClassName != nil && c.s.plugged(runtimeClass) {
			if err := admission.RuntimeClasses(o, c.s.runtimeClasses()); err != nil {
				return err
			}
		}
		c.s.labelTopology(&o.ObjectMeta, o.Spec.NodeName)
	case *corev1.PersistentVolumeClaim:
		if c.s.plugged(defaultStorageClass) {
			admission.DefaultStorageClass(o, held[*storagev1.StorageClass](c.s, storageClassKind, ""))
		}
	case *networkingv1.Ingress:
		if c.s.plugged(defaultIngressClass) {
			admission.DefaultIngressClass(o, held[*networkingv1.IngressClass](c.s, ingressClassKind, ""))
		}
	}
	return nil
}

func (s *Server) limitRanges(namespace string) []*corev1.LimitRange {
	if !s.plugged(limitRanger) {
		return nil
	}
	return held[*corev1.LimitRange](s, limitRangeKind, namespace)
}

func (s *Server) labelTopology(m *metav1.ObjectMeta, node string) {
	if node == "" || !s.plugged(topologyLabels) {
		return
	}
	e := s.find(s.tables[nodeKind.ordinal], node)
	if e == nil {
		return
	}
	for _, key := range [...]string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if value, ok := e.meta.GetLabels()[key]; ok {
			m.Labels = maps.Clone(m.Labels)
			metav1.SetMetaDataLabel(m, key, value)
		}
	}
}

func (s *Server) runtimeClasses() []*nodev1.RuntimeClass {
	return held[*nodev1.RuntimeClass](s, runtimeClassKind, "")
}

func (s *Server) priorities() admission.Priorities {
	return held[*schedulingv1.PriorityClass](s, priorityClassKind, "")
}

// errForbidden returns an admission plugin's error for an object. The error contains the object's name or generateName.
func (c *call) errForbidden(m metav1.Object, why error) *apierrors.StatusError {
	return apierrors.NewForbidden(c.k.groupResource(), cmp.Or(m.GetName(), m.GetGenerateName()), why)
}

func (c *call) admitNamespace(m metav1.Object) error {
	e := c.s.find(c.s.tables[namespaceKind.ordinal], m.GetNamespace())
	if e == nil {
		return apierrors.NewNotFound(namespaceKind.groupResource(), m.GetNamespace())
	}
	ns := e.obj.(*corev1.Namespace)
	if ns.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	err := c.errForbidden(m, fmt.Errorf("unable to create new content in namespace %s because it is being terminated",
		ns.Name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace",
		Message: fmt.Sprintf("namespace %s is being terminated", ns.Name),
	})
	return err
}

// admitUpdate runs the mutating plugins and webhooks for an update, and returns their errors. It returns 404 for a
// missing namespace, and 409 if the resourceVersion in the request is outdated. A plugin for only one kind does not run
// for a subresource, or for a change of only metadata.
func (c *call) admitUpdate(w *draft) error {
	if c.k.Namespaced && c.s.plugged(namespaceLifecycle) && c.s.find(c.s.tables[namespaceKind.ordinal], c.req.Namespace) == nil {
		return apierrors.NewNotFound(namespaceKind.groupResource(), c.req.Namespace)
	}
	obj, old := w.obj, w.old.obj
	plugins := func() error { return nil }
	if admit := c.k.row.Admit; admit != nil && !w.onlyMeta && w.way == &c.k.row.Main && c.s.plugged(c.k.row.Plugin) {
		plugins = func() error { return admit(obj, old) }
	}
	if pod, is := obj.(*corev1.Pod); is && c.req.Subresource == "resize" && w.old.meta.GetDeletionTimestamp() == nil {
		plugins = func() error {
			for _, l := range c.s.limitRanges(pod.Namespace) {
				admission.LimitDefaults(l, pod)
			}
			return nil
		}
	}
	if err := plugins(); err != nil {
		return err
	}
	if c.hooked(mutatingHooks) && !c.posted() {
		mutated, err := c.mutated(admissionv1.Update, obj, old, w.dryRun, plugins)
		if err != nil {
			return err
		}
		if mutated {
			w.onlyMeta = false
			if err := c.matchNamespace(w.m); err != nil {
				return err
			}
		}
	}
	c.dedupOwners(w.m, true)
	return c.matchVersion(w.m, w.old)
}

// posted reports whether the request creates an eviction or a binding. Such a create changes the Pod.
func (c *call) posted() bool {
	return c.req.Subresource == "eviction" || c.req.Subresource == "binding"
}

// review calls webhooks and evaluates policies. obj is nil for a deletion. old is nil for an Eviction or Binding.
func (c *call) review(op admissionv1.Operation, obj, old runtime.Object, dryRun bool) error {
	if c.hooked(mutatingHooks) {
		if _, err := c.mutated(op, obj, old, dryRun, func() error { return nil }); err != nil {
			return err
		}
	}
	return c.validated(op, obj, old, dryRun)
}

// validated evaluates the validating admission policies, and then calls the validating webhooks.
func (c *call) validated(op admissionv1.Operation, obj, old runtime.Object, dryRun bool) error {
	if c.hooked(policyBindings) {
		if err := c.judged(op, obj, old, dryRun); err != nil {
			return err
		}
	}
	if c.hooked(validatingHooks) {
		return c.reviewed(op, obj, old, dryRun)
	}
	return nil
}

// admitDelete returns 403 for the namespaces "default", "kube-system" and "kube-public", which always exist.
func (c *call) admitDelete(w *draft) error {
	if c.k != namespaceKind || !c.s.plugged(namespaceLifecycle) {
		return nil
	}
	switch name := w.old.meta.GetName(); name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(c.k.groupResource(), name, errors.New("this namespace may not be deleted"))
	}
	return nil
}

func errTerminating(k *Kind, name string) error {
	return apierrors.NewForbidden(k.groupResource(), name,
		errors.New("create not allowed while custom resource definition is terminating"))
}
