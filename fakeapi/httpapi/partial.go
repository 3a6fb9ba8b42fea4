package httpapi

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

func isStatus(obj runtime.Object) bool {
	_, ok := obj.(*metav1.Status)
	return ok
}

// transformObject turns one object into what the client asked for instead.
func transformObject(k *fakeapi.Kind, obj runtime.Object, f format, now time.Time, headers bool) (runtime.Object, error) {
	if isStatus(obj) {
		return obj, nil
	}
	switch f.as {
	case "Table":
		return tableOfOne(k, obj, f, now, headers), nil
	case "PartialObjectMetadata":
		return partial(obj, f), nil
	}
	return nil, errNotList(f.as, k, false)
}

// partial is an object without everything but its metadata.
func partial(obj runtime.Object, f format) *metav1.PartialObjectMetadata {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic("httpapi: a stored object has no metadata: " + err.Error())
	}
	p := meta.AsPartialObjectMetadata(m)
	p.SetGroupVersionKind(schema.GroupVersionKind{Group: f.group, Version: f.version, Kind: "PartialObjectMetadata"})
	return p
}

func partialList(r *fakeapi.Response, f format) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, len(r.Items))}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: f.group, Version: f.version, Kind: "PartialObjectMetadataList"})
	list.ListMeta = listMeta(r)
	for i, obj := range r.Items {
		list.Items[i] = *partial(obj, f)
	}
	return list
}
