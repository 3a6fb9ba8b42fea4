package fakeapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
)

// convert makes of a stored object that of this version, or the other way round when keep
// says so; it asks whoever has to be asked.
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

// asks says that objects of this version are converted by somebody.
func (k *Kind) asks() bool { return k.stored != nil && k.ask != nil }

// show is a stored object in the kind's version: where a webhook would have to be called for
// it, its metadata alone.
func (k *Kind) show(obj runtime.Object) (runtime.Object, error) {
	switch {
	case !k.otherVersion(obj):
		return obj, nil
	case k.ask != nil && k.far():
		return k.bareOf(obj), nil
	}
	return k.convert(obj, false)
}

// otherVersion says whether an object of the kind is in another version.
func (k *Kind) otherVersion(obj runtime.Object) bool {
	if k.stored == nil || obj == nil {
		return false
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	return gvk != k.GVK && gvk.GroupKind() == k.stored.GVK.GroupKind()
}

// shown is show for who cannot be refused.
func (k *Kind) shown(obj runtime.Object) runtime.Object {
	out, err := k.show(obj)
	if err != nil {
		panic("fakeapi: " + err.Error())
	}
	return out
}

// bareOf shows nothing of an object but its metadata, to who cannot wait for it to be
// converted: that much is the same in every version.
func (k *Kind) bareOf(obj runtime.Object) runtime.Object {
	u := obj.(*unstructured.Unstructured)
	out := &unstructured.Unstructured{Object: map[string]any{"metadata": u.Object["metadata"]}}
	out.SetGroupVersionKind(k.GVK)
	return out
}
