// Package createdby reads and writes the annotation kubernetes.io/created-by, which names an object's creator.
// Controllers before ControllerRef used it. The creator need not be the owner.
package createdby

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const Annotation = "kubernetes.io/created-by"

// Annotate returns a copy of annotations that also names the creator. It omits the creator's resourceVersion, which
// upstream includes. Otherwise equal states could differ in this version.
func Annotate(annotations map[string]string, creator metav1.Object, kind schema.GroupVersionKind) map[string]string {
	value, err := json.Marshal(&corev1.SerializedReference{
		TypeMeta: metav1.TypeMeta{Kind: "SerializedReference", APIVersion: "v1"},
		Reference: corev1.ObjectReference{
			Kind: kind.Kind, APIVersion: kind.GroupVersion().String(),
			Namespace: creator.GetNamespace(), Name: creator.GetName(), UID: creator.GetUID(),
		},
	})
	if err != nil {
		panic("createdby: a reference did not encode: " + err.Error())
	}
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[Annotation] = string(value)
	return out
}

// Creator returns an object's creator from the annotation, or nil if the annotation is missing, invalid or has no uid.
func Creator(obj metav1.Object) *corev1.ObjectReference {
	var r corev1.SerializedReference
	if json.Unmarshal([]byte(obj.GetAnnotations()[Annotation]), &r) != nil || r.Reference.UID == "" {
		return nil
	}
	return &r.Reference
}
