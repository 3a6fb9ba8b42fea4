package table

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// Partial is an object without everything but its metadata.
func Partial(obj runtime.Object, f media.Format) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(obj.(metav1.Object))
	if _, ok := obj.(*appsv1.DaemonSet); ok && p.Annotations[appsv1.DeprecatedTemplateGeneration] != "" {
		// A field of the internal type, which is an annotation only in the versions of the API.
		p.Annotations = maps.Clone(p.Annotations)
		delete(p.Annotations, appsv1.DeprecatedTemplateGeneration)
	}
	p.SetGroupVersionKind(schema.GroupVersionKind{Group: f.Group, Version: f.Version, Kind: media.AsPartial})
	return p
}

// PartialList is a list of objects without everything but their metadata; one without
// items has null for them, as recorded.
func PartialList(r *fakeapi.Response, f media.Format) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: f.Group, Version: f.Version, Kind: media.AsPartialList})
	list.ListMeta = listMeta(r)
	for _, obj := range r.Items {
		list.Items = append(list.Items, *Partial(obj, f))
	}
	return list
}

func listMeta(r *fakeapi.Response) metav1.ListMeta {
	version := strconv.FormatUint(r.Version, 10)
	return metav1.ListMeta{ResourceVersion: version, Continue: r.Continue, RemainingItemCount: r.Left}
}
