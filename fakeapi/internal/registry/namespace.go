package registry

import (
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var namespaces = goType[corev1.Namespace, corev1.NamespaceList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces", Singular: "namespace",
	ShortNames: []string{"ns"},
	Default:    On(defaultNamespace), Status: true, ReturnDeleted: true,
	strategy: strategy{
		PrepareCreate: On(prepareNamespace), Create: validation.Namespace.Create,
		Canonicalize: On(defaultNamespace),
		Main:         Update{Prepare: Over(keepNamespaceStatus), Judge: validation.Namespace.Update},
		ForStatus:    Update{Prepare: Over(keepNamespaceSpec), Judge: validation.Namespace.Status},
		other: map[string]*Update{"finalize": {Prepare: Over(keepNamespaceStatusOnly),
			Judge: validation.NamespaceFinalize}},
		Terminate:      terminateNamespace,
		Held:           func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 },
		SelectableKeys: []string{"status.phase", "name"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			ns := obj.(*corev1.Namespace)
			set["status.phase"], set["name"] = string(ns.Status.Phase), ns.Name
		},
	},
})

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
	want := metadata.WithPolicy(have, orphan, foreground)
	sort.Strings(want)
	return want
}

// terminateNamespace makes a namespace terminate: later requests delete it once
// its spec has no finalizer left.
func terminateNamespace(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object {
	marked := *obj.(*corev1.Namespace)
	at := metadata.Seconds(now)
	marked.DeletionTimestamp = &at
	marked.Status.Phase = corev1.NamespaceTerminating
	marked.Finalizers = namespaceFinalizers(marked.Finalizers, opts)
	return &marked
}
