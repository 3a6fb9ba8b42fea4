package fakeapi

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// scales is the kind of the scale subresource's objects. It is not served by itself.
var scales = newKind(registry.Scales, 0)

func (k *Kind) scaleOf(obj runtime.Object) *autoscalingv1.Scale {
	m := metadata.Of(obj)
	want, have, selector := k.row.Scale.Read(obj)
	return &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: scales.GVK.Kind, APIVersion: scales.GVK.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
			ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp()},
		Spec:   autoscalingv1.ScaleSpec{Replicas: want},
		Status: autoscalingv1.ScaleStatus{Replicas: have, Selector: selector},
	}
}

// The kinds of what is posted to pods/eviction and pods/binding.
var (
	evictions = newKind(registry.Evictions, 0)
	bindings  = newKind(registry.Bindings, 0)
)

// BodyKind is the kind of the objects that requests to a subresource carry.
func (k *Kind) BodyKind(subresource string) *Kind {
	switch {
	case subresource == "scale" && k.row.Scale != nil:
		return scales
	case subresource == "eviction":
		return evictions
	case subresource == "binding":
		return bindings
	}
	return k
}
