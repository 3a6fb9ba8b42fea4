package fakeapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
)

// convert converts a stored object to this version, or with keep the other way round. It may call a webhook.
func (k *Kind) convert(obj runtime.Object, keep bool) (runtime.Object, error) {
	to, finish := k.GVK, k.row.View.Show
	if keep {
		to, finish = k.stored.GVK, k.row.View.Keep
	}
	if k.ask == nil {
		return finish(obj), nil
	}
	out, err := conversion.To(obj.(*unstructured.Unstructured), to.GroupVersion(), k.ask)
	if err != nil {
		return nil, err
	}
	return finish(out), nil
}

// asks reports whether a webhook or a function converts objects of this version.
func (k *Kind) asks() bool { return k.stored != nil && k.ask != nil }

// show returns a stored object in the kind's version, or only its metadata if a network call would be needed.
func (k *Kind) show(obj runtime.Object) (runtime.Object, error) {
	switch {
	case !k.otherVersion(obj):
		return obj, nil
	case k.ask != nil && k.far():
		return k.bareOf(obj), nil
	}
	return k.convert(obj, false)
}

// otherVersion reports whether an object is in another version of the kind.
func (k *Kind) otherVersion(obj runtime.Object) bool {
	if k.stored == nil || obj == nil {
		return false
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	return gvk != k.GVK && gvk.GroupKind() == k.stored.GVK.GroupKind()
}

// shown is show for callers that cannot return an error.
func (k *Kind) shown(obj runtime.Object) runtime.Object {
	out, err := k.show(obj)
	if err != nil {
		panic("fakeapi: " + err.Error())
	}
	return out
}

// bareOf returns an object with nothing but metadata, which are the same in every version.
func (k *Kind) bareOf(obj runtime.Object) runtime.Object {
	u := obj.(*unstructured.Unstructured)
	out := &unstructured.Unstructured{Object: map[string]any{"metadata": u.Object["metadata"]}}
	out.SetGroupVersionKind(k.GVK)
	return out
}
