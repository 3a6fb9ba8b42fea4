package fakeapi

import (
	"fmt"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// namespaceOrdinal is the place of the namespaces in every server's tables.
const namespaceOrdinal = 0

var namespaceResource = corev1.Resource("namespaces")

// defaultNamespace labels a namespace with its name.
func defaultNamespace(ns *corev1.Namespace) {
	if ns.Status.Phase == "" {
		ns.Status.Phase = corev1.NamespaceActive
	}
	if ns.Name == "" || ns.Labels[corev1.LabelMetadataName] == ns.Name {
		return
	}
	labels := copyMap(ns.Labels)
	labels[corev1.LabelMetadataName] = ns.Name
	ns.Labels = labels
}

func prepareNamespace(ns *corev1.Namespace) {
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	for _, f := range ns.Spec.Finalizers {
		if f == corev1.FinalizerKubernetes {
			return
		}
	}
	ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
}

func keepNamespaceStatus(ns, old *corev1.Namespace) {
	ns.Spec.Finalizers, ns.Status = old.Spec.Finalizers, old.Status
}

func keepNamespaceSpec(ns, old *corev1.Namespace) { ns.Spec = old.Spec }

func keepNamespaceStatusOnly(ns, old *corev1.Namespace) { ns.Status = old.Status }

// removeNamespace is the namespaces' own way to be deleted: the first request
// makes the namespace terminate, later ones delete it once its spec has no
// finalizer left.
func removeNamespace(c *call, old *entry, opts *metav1.DeleteOptions) (runtime.Object, bool, bool, error) {
	ns := old.obj.(*corev1.Namespace)
	if pre := opts.Preconditions; pre != nil {
		if pre.UID != nil && *pre.UID != ns.UID {
			return nil, false, true, c.errConflict(ns.Name, fmt.Sprintf(
				"Precondition failed: UID in precondition: %v, UID in object meta: %v", *pre.UID, ns.UID))
		}
		if pre.ResourceVersion != nil && *pre.ResourceVersion != ns.ResourceVersion {
			return nil, false, true, c.errConflict(ns.Name, fmt.Sprintf(
				"Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *pre.ResourceVersion, ns.ResourceVersion))
		}
	}
	if err := c.admitDelete(old); err != nil {
		return nil, false, true, err
	}
	if ns.DeletionTimestamp != nil {
		return ns, false, len(ns.Spec.Finalizers) > 0, nil
	}
	marked := *ns
	now := seconds(c.now)
	marked.DeletionTimestamp = &now
	marked.Status.Phase = corev1.NamespaceTerminating
	marked.Finalizers = namespaceFinalizers(ns.Finalizers, opts)
	if len(opts.DryRun) == 0 {
		c.commit(c.s.writable(c.k), old, old.key, &marked, &marked)
	}
	return &marked, false, true, nil
}

// namespaceFinalizers are those that the propagation policy asks for. Without
// a policy they stay as they are.
func namespaceFinalizers(have []string, opts *metav1.DeleteOptions) []string {
	orphan, foreground := false, false
	//lint:ignore SA1019 old clients send orphanDependents
	switch old := opts.OrphanDependents; {
	case old != nil:
		orphan, foreground = *old, !*old
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	default:
		return have
	}
	want := withPolicy(have, orphan, foreground)
	sort.Strings(want)
	return want
}
