// Package table shows objects in the forms that clients may ask for in their
// stead: as rows of a Table, printed as the real server prints them, and as
// metadata alone.
package table

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// List shows a list as a Table.
func List(k *fakeapi.Kind, r *fakeapi.Response, f media.Format, now time.Time) *metav1.Table {
	p := printerFor(k)
	t := empty(f)
	t.ListMeta, t.ColumnDefinitions = listMeta(r), p.columns
	if p == plain && len(r.Items) == 0 {
		t.Rows = nil // who has no printer of his own has null rows
	}
	for _, obj := range r.Items {
		t.Rows = append(t.Rows, p.row(obj, f, now))
	}
	return t
}

// One shows one object as a Table of one row. A watch sends the headers only
// once.
func One(k *fakeapi.Kind, obj runtime.Object, f media.Format, now time.Time, headers bool) *metav1.Table {
	p := printerFor(k)
	if reflect.TypeOf(obj) != reflect.TypeOf(k.New()) { // a subresource
		p = printerOf(obj)
	}
	t := empty(f)
	t.ResourceVersion = obj.(metav1.Object).GetResourceVersion()
	if headers {
		t.ColumnDefinitions = p.columns
	}
	t.Rows = append(t.Rows, p.row(obj, f, now))
	return t
}

// Empty is the Table of a list of a kind that has no objects.
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

func (p *printer) row(obj runtime.Object, f media.Format, now time.Time) metav1.TableRow {
	row := metav1.TableRow{Cells: p.cells(obj, now)}
	if p.done != nil {
		row.Conditions = p.done(obj)
	}
	switch f.Include {
	case metav1.IncludeNone:
		if _, ends := obj.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey]; !ends {
			return row
		}
		row.Object.Object = Partial(obj, f)
	case metav1.IncludeObject:
		row.Object.Object = obj
	default:
		row.Object.Object = Partial(obj, f)
	}
	return row
}
