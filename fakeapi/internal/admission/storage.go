package admission

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/quotausage"
)

// DefaultStorageClass sets a claim without a class to the newest default class. It is the DefaultStorageClass plugin
// (admission/default-storageclass).
func DefaultStorageClass(claim *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) {
	if _, beta := claim.Annotations[corev1.BetaStorageClassAnnotation]; beta || claim.Spec.StorageClassName != nil {
		return
	}
	claim.Spec.StorageClassName = newest(classes, "storageclass.kubernetes.io/is-default-class",
		"storageclass.beta.kubernetes.io/is-default-class")
}

// DefaultIngressClass sets an Ingress without a class to the newest default class. It is the DefaultIngressClass plugin
// (admission/default-ingressclass).
func DefaultIngressClass(ingress *networkingv1.Ingress, classes []*networkingv1.IngressClass) {
	if _, old := ingress.Annotations["kubernetes.io/ingress.class"]; old || ingress.Spec.IngressClassName != nil {
		return
	}
	ingress.Spec.IngressClassName = newest(classes, networkingv1.AnnotationIsDefaultIngressClass)
}

// newest returns the name of the newest class that one of the annotations marks as the default, or nil. Of classes with
// the same creation time, it returns the first by name.
func newest[T metav1.Object](classes []T, annotations ...string) *string {
	var name *string
	var since metav1.Time
	for _, class := range classes {
		is := func(annotation string) bool { return class.GetAnnotations()[annotation] == "true" }
		made, own := class.GetCreationTimestamp(), class.GetName()
		if slices.ContainsFunc(annotations, is) &&
			(name == nil || since.Before(&made) || since.Equal(&made) && own < *name) {
			name, since = &own, made
		}
	}
	return name
}

// MayGrow returns an error if a claim requests more storage than before although the claim is not bound or its class
// does not allow expansion. It is the PersistentVolumeClaimResize plugin.
func MayGrow(claim, old *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) error {
	size, was := claim.Spec.Resources.Requests.Storage(), old.Spec.Resources.Requests.Storage()
	if size.Cmp(*was) <= 0 {
		return nil
	}
	if old.Status.Phase != corev1.ClaimBound {
		return errors.New("Only bound persistent volume claims can be expanded")
	}
	if name := quotausage.ClassOf(claim); name != "" && name == quotausage.ClassOf(old) {
		for _, class := range classes {
			if class.Name == name && class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion {
				return nil
			}
		}
	}
	return errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc " +
		"must support resize")
}

// mustSpecify holds the resources, such as cpu, that every container must set if a quota limits them. The real server
// keeps this rule only for compatibility.
var mustSpecify = map[corev1.ResourceName]func(*corev1.ResourceRequirements) bool{
	corev1.ResourceCPU:            requests(corev1.ResourceCPU),
	corev1.ResourceMemory:         requests(corev1.ResourceMemory),
	corev1.ResourceRequestsCPU:    requests(corev1.ResourceCPU),
	corev1.ResourceRequestsMemory: requests(corev1.ResourceMemory),
	corev1.ResourceLimitsCPU:      limits(corev1.ResourceCPU),
	corev1.ResourceLimitsMemory:   limits(corev1.ResourceMemory),
}

func requests(name corev1.ResourceName) func(*corev1.ResourceRequirements) bool {
	return func(r *corev1.ResourceRequirements) bool { _, ok := r.Requests[name]; return ok }
}

func limits(name corev1.ResourceName) func(*corev1.ResourceRequirements) bool {
	return func(r *corev1.ResourceRequirements) bool { _, ok := r.Limits[name]; return ok }
}

// unspecified returns an error if a container of a Pod does not set a resource that a quota limits. A Pod with
// Pod-level resources is exempt. It does the same as Constraints of the Pod evaluator. names must be sorted.
func unspecified(quota string, names []corev1.ResourceName, obj runtime.Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok || saysItself(pod) {
		return nil
	}
	var missing []string
	for _, name := range names {
		specifies := mustSpecify[name]
		if specifies == nil {
			continue
		}
		var open []string
		for _, cs := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range cs {
				if !specifies(&cs[i].Resources) {
					open = append(open, cs[i].Name)
				}
			}
		}
		if len(open) > 0 {
			slices.Sort(open)
			missing = append(missing, string(name)+" for: "+strings.Join(slices.Compact(open), ","))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return errors.New("failed quota: " + quota + ": must specify " + strings.Join(missing, "; "))
}

// leftOpen reports whether a container of the Pod does not set a resource that mustSpecify requires.
func leftOpen(name corev1.ResourceName, obj runtime.Object) bool {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return false
	}
	specifies := mustSpecify[name]
	if specifies == nil {
		return false
	}
	for _, list := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list { // indexed, because copying each container would take longer than the check
			if !specifies(&list[i].Resources) {
				return true
			}
		}
	}
	return false
}

// saysItself reports whether a Pod sets Pod-level resources.
func saysItself(pod *corev1.Pod) bool {
	own := pod.Spec.Resources
	if own == nil {
		return false
	}
	for _, list := range [...]corev1.ResourceList{own.Requests, own.Limits} {
		for name := range list { //detcheck:ordered any such name will do
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
				strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
				return true
			}
		}
	}
	return false
}
