// Package table converts objects to rows of a Table, with the cells of the real server, and to partial metadata.
package table

import (
	"maps"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// List returns the objects of a list response as a Table.
func List(k *fakeapi.Kind, r *fakeapi.Response, f media.Format, now time.Time) (*metav1.Table, error) {
	p := printerFor(k, k.New())
	t := empty(f)
	t.ListMeta, t.ColumnDefinitions = listMeta(r), p.columns
	if p == plain && len(r.Items) == 0 {
		t.Rows = nil // null instead of an empty list, like the real server's default printer
	}
	for _, obj := range r.Items {
		if err := add(t, p, obj, f, now); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// One returns an object as a Table with one row. headers is false for the second and later Tables of a watch.
func One(k *fakeapi.Kind, obj runtime.Object, f media.Format, now time.Time, headers bool) (*metav1.Table, error) {
	p := printerFor(k, obj)
	t := empty(f)
	t.ResourceVersion = obj.(metav1.Object).GetResourceVersion()
	if headers {
		t.ColumnDefinitions = p.columns
	}
	return t, add(t, p, obj, f, now)
}

// Empty returns the Table of an empty list, with the default columns.
func Empty(r *fakeapi.Response, f media.Format) *metav1.Table {
	t := empty(f)
	t.ListMeta, t.ColumnDefinitions = listMeta(r), plain.columns
	return t
}

func empty(f media.Format) *metav1.Table {
	t := &metav1.Table{Rows: []metav1.TableRow{}}
	t.SetGroupVersionKind(schema.GroupVersionKind{Group: f.Group, Version: f.Version, Kind: media.AsTable})
	return t
}

func add(t *metav1.Table, p *printer, obj runtime.Object, f media.Format, now time.Time) error {
	row, err := p.row(obj, now)
	if err != nil {
		return err
	}
	_, ends := obj.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey]
	switch {
	case f.Include == metav1.IncludeObject:
		row.Object.Object = obj
	case f.Include == metav1.IncludeNone && !ends:
		row.Object.Object = nil
	default:
		row.Object.Object = Partial(obj, f)
	}
	t.Rows = append(t.Rows, row)
	return nil
}

// Partial returns the metadata of an object as PartialObjectMetadata.
func Partial(obj runtime.Object, f media.Format) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(obj.(metav1.Object))
	if _, ok := obj.(*appsv1.DaemonSet); ok && p.Annotations[appsv1.DeprecatedTemplateGeneration] != "" {
		// the real server keeps the template generation in a field of its internal type, not in this annotation
		p.Annotations = maps.Clone(p.Annotations)
		delete(p.Annotations, appsv1.DeprecatedTemplateGeneration)
	}
	p.SetGroupVersionKind(schema.GroupVersionKind{Group: f.Group, Version: f.Version, Kind: media.AsPartial})
	return p
}

// PartialList returns the metadata of the objects in a list response. An empty list has the items null, as in recorded
// responses of the real server.
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

var metaDocs = metav1.ObjectMeta{}.SwaggerDoc()
