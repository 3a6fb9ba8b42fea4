package httpapi

import (
	"reflect"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/threelaws/threelaws/fakeapi"
)

// printer makes the rows of a Table of one Go type, as the real server's
// printers do (k8s.io/kubernetes, pkg/printers/internalversion).
type printer struct {
	columns []metav1.TableColumnDefinition
	cells   func(obj runtime.Object, now time.Time) []any
	// done says what a row's object has come to; nil for most kinds.
	done func(obj runtime.Object) []metav1.TableRowCondition
}

// prints makes a printer of a typed function.
func prints[T runtime.Object](cells func(obj T, now time.Time) []any, columns ...metav1.TableColumnDefinition) *printer {
	return &printer{columns: columns, cells: func(obj runtime.Object, now time.Time) []any { return cells(obj.(T), now) }}
}

// printerOf finds the printer for a kind's objects. Kinds without one of their
// own show their name and when they were made.
func printerOf(obj runtime.Object) *printer {
	if p := printers[reflect.TypeOf(obj)]; p != nil {
		return p
	}
	return plainPrinter
}

var plainPrinter = &printer{
	columns: []metav1.TableColumnDefinition{nameColumn, {Name: "Created At", Type: "date", Description: metaDocs["creationTimestamp"]}},
	cells: func(obj runtime.Object, _ time.Time) []any {
		m := accessor(obj)
		return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
	},
}

func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic("httpapi: a stored object has no metadata: " + err.Error())
	}
	return m
}

func newTable(f format) *metav1.Table {
	t := &metav1.Table{Rows: []metav1.TableRow{}}
	t.SetGroupVersionKind(schema.GroupVersionKind{Group: f.group, Version: f.version, Kind: "Table"})
	return t
}

// tableOf shows a list as a Table.
func tableOf(k *fakeapi.Kind, r *fakeapi.Response, f format, now time.Time) *metav1.Table {
	t := newTable(f)
	p := kindPrinter(k)
	t.ListMeta, t.ColumnDefinitions = listMeta(r), p.columns
	for _, obj := range r.Items {
		t.Rows = append(t.Rows, p.row(obj, f, now))
	}
	return t
}

// tableOfOne shows one object as a Table of one row. A watch sends the headers
// only once.
func tableOfOne(k *fakeapi.Kind, obj runtime.Object, f format, now time.Time, headers bool) *metav1.Table {
	t := newTable(f)
	p := kindPrinter(k)
	if reflect.TypeOf(obj) != reflect.TypeOf(k.New()) { // a subresource
		p = printerOf(obj)
	}
	t.ResourceVersion = accessor(obj).GetResourceVersion()
	if headers {
		t.ColumnDefinitions = p.columns
	}
	t.Rows = append(t.Rows, p.row(obj, f, now))
	return t
}

func (p *printer) row(obj runtime.Object, f format, now time.Time) metav1.TableRow {
	row := metav1.TableRow{Cells: p.cells(obj, now)}
	if p.done != nil {
		row.Conditions = p.done(obj)
	}
	switch f.include {
	case metav1.IncludeNone:
		if _, ends := accessor(obj).GetAnnotations()[metav1.InitialEventsAnnotationKey]; !ends {
			return row
		}
		row.Object.Object = partial(obj, f)
	case metav1.IncludeObject:
		row.Object.Object = obj
	default:
		row.Object.Object = partial(obj, f)
	}
	return row
}

func listMeta(r *fakeapi.Response) metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: strconv.FormatUint(r.Version, 10), Continue: r.Continue, RemainingItemCount: r.Left}
}

// since words the time that has passed.
func since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// kindPrinter is the printer for the objects of a kind.
func kindPrinter(k *fakeapi.Kind) *printer {
	if isCustom(k) {
		return customPrinter(k)
	}
	return printerOf(k.New())
}
