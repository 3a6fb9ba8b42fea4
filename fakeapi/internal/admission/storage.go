package admission

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/usage"
)

// DefaultStorageClass gives a new claim that names no class the default one, of
// several the newest. It is the DefaultStorageClass plugin (admission/default-storageclass).
func DefaultStorageClass(claim *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) {
	if _, beta := claim.Annotations[corev1.BetaStorageClassAnnotation]; beta || claim.Spec.StorageClassName != nil {
		return
	}
	var all []*metav1.ObjectMeta
	for _, class := range classes {
		if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
			class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true" {
			all = append(all, &class.ObjectMeta)
		}
	}
	claim.Spec.StorageClassName = newest(all)
}

// DefaultIngressClass gives a new ingress that names no class the default one, of
// several the newest. It is the DefaultIngressClass plugin (admission/default-ingressclass).
func DefaultIngressClass(ingress *networkingv1.Ingress, classes []*networkingv1.IngressClass) {
	if _, old := ingress.Annotations["kubernetes.io/ingress.class"]; old || ingress.Spec.IngressClassName != nil {
		return
	}
	var all []*metav1.ObjectMeta
	for _, class := range classes {
		if class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			all = append(all, &class.ObjectMeta)
		}
	}
	ingress.Spec.IngressClassName = newest(all)
}

// newest is the name of the object that was created last, of several at one time that
// of the first name; nil for none.
func newest(all []*metav1.ObjectMeta) *string {
	var best *metav1.ObjectMeta
	for _, m := range all {
		switch {
		case best == nil, best.CreationTimestamp.Before(&m.CreationTimestamp),
			best.CreationTimestamp.Equal(&m.CreationTimestamp) && m.Name < best.Name:
			best = m
		}
	}
	if best == nil {
		return nil
	}
	name := best.Name
	return &name
}

// MayGrow refuses that a claim asks for more than it did: only one that is bound, and
// of a class that allows it, may. It is the PersistentVolumeClaimResize plugin.
func MayGrow(claim, old *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) error {
	size, was := claim.Spec.Resources.Requests.Storage(), old.Spec.Resources.Requests.Storage()
	if size.Cmp(*was) <= 0 {
		return nil
	}
	if old.Status.Phase != corev1.ClaimBound {
		return errors.New("Only bound persistent volume claims can be expanded")
	}
	if name := usage.ClassOf(claim); name != "" && name == usage.ClassOf(old) {
		for _, class := range classes {
			if class.Name == name && class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion {
				return nil
			}
		}
	}
	return errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc " +
		"must support resize")
}
