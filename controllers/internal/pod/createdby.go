package pod

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// createdBy is the annotation that named a pod's creator before ControllerRef.
const createdBy = "kubernetes.io/created-by"

// SayCreatedBy has a pod say in an annotation who created it, as before ControllerRef.
// It named the creator's resourceVersion, too. Here it does not: two states that
// differ in nothing else are the same state.
func SayCreatedBy(p *corev1.Pod, kind schema.GroupVersionKind, owner metav1.Object) {
	value, err := json.Marshal(&corev1.SerializedReference{
		TypeMeta: metav1.TypeMeta{Kind: "SerializedReference", APIVersion: "v1"},
		Reference: corev1.ObjectReference{
			Kind: kind.Kind, APIVersion: kind.GroupVersion().String(),
			Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: owner.GetUID(),
		},
	})
	if err != nil {
		panic("pod: a reference did not encode: " + err.Error())
	}
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, createdBy, string(value))
}
