package table

import (
	"context"
	"reflect"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install" // printersinternal does not register this group
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"

	"github.com/threelaws/threelaws/fakeapi"
)

// printer converts objects of one kind to Tables with upstream's code.
type printer struct {
	columns []metav1.TableColumnDefinition
	convert func(obj runtime.Object) (*metav1.Table, error)
	ages    func(column int) bool // reports whether the column shows an age; nil if no column does
}

var builtin = printers.NewTableGenerator().With(printersinternal.AddHandlers)

// plain is the printer of kinds without their own. It prints the name and the creation time.
var plain = by(rest.NewDefaultTableConvertor(schema.GroupResource{}), &metav1.PartialObjectMetadata{}, nil)

func by(c rest.TableConvertor, empty runtime.Object, ages func(column int) bool) *printer {
	p := &printer{ages: ages, convert: func(obj runtime.Object) (*metav1.Table, error) {
		return c.ConvertToTable(context.Background(), obj, nil)
	}}
	if t, err := p.convert(empty); err == nil {
		p.columns = t.ColumnDefinitions
	}
	return p
}

func printerFor(k *fakeapi.Kind, empty runtime.Object) *printer {
	if _, version := k.Definition(); version != nil {
		if _, scale := empty.(*autoscalingv1.Scale); scale {
			return custom(scaleColumns, empty)
		}
		return custom(version.AdditionalPrinterColumns, empty)
	}
	p := &printer{ages: func(int) bool { return true }, convert: func(obj runtime.Object) (*metav1.Table, error) {
		internal, err := legacyscheme.Scheme.ConvertToVersion(obj, runtime.InternalGroupVersioner)
		if err != nil {
			return nil, err
		}
		return builtin.GenerateTable(internal, printers.GenerateOptions{Wide: true})
	}}
	switch empty.(type) {
	case *apiregistrationv1.APIService:
		p.convert = apiService
	case *storagev1.CSIStorageCapacity:
		return plain // upstream has a printer for this kind, but does not use it
	}
	t, err := p.convert(empty)
	if err != nil {
		return plain
	}
	p.columns = t.ColumnDefinitions
	return p
}

// scaleColumns are the columns of the scale of a custom resource, as in pkg/apiserver of k8s.io/apiextensions-apiserver.
var scaleColumns = []apiextensionsv1.CustomResourceColumnDefinition{
	{Name: "Desired", Type: "integer", Description: "Number of desired replicas", JSONPath: ".spec.replicas"},
	{Name: "Available", Type: "integer", Description: "Number of actual replicas", JSONPath: ".status.replicas"},
	{Name: "Age", Type: "date", Description: metaDocs["creationTimestamp"], JSONPath: ".metadata.creationTimestamp"},
}

// custom returns the printer for the columns of a CRD. A column whose path cannot be parsed is dropped, with all
// columns after it.
func custom(wanted []apiextensionsv1.CustomResourceColumnDefinition, empty runtime.Object) *printer {
	if len(wanted) == 0 {
		wanted = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date",
			JSONPath: ".metadata.creationTimestamp", Description: metaDocs["creationTimestamp"]}}
	}
	c, _ := tableconvertor.New(wanted)
	return by(c, empty, func(column int) bool { return column > 0 && wanted[column-1].Type == "date" })
}

// apiService prints APIServices like k8s.io/kube-aggregator, whose code would add some 600 packages.
func apiService(obj runtime.Object) (*metav1.Table, error) {
	o := obj.(*apiregistrationv1.APIService)
	service, available := "Local", string(apiregistrationv1.ConditionUnknown)
	if s := o.Spec.Service; s != nil {
		service = s.Namespace + "/" + s.Name
	}
	for _, c := range o.Status.Conditions {
		if c.Type != apiregistrationv1.Available {
			continue
		}
		if available = string(c.Status); c.Status != apiregistrationv1.ConditionTrue && c.Reason != "" {
			available += " (" + c.Reason + ")"
		}
		break
	}
	return &metav1.Table{Rows: []metav1.TableRow{{Cells: []any{o.Name, service, available,
		metatable.ConvertToHumanReadableDateType(o.CreationTimestamp)}}}, ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]},
		{Name: "Service", Type: "string", Description: "The reference to the service that hosts this API endpoint."},
		{Name: "Available", Type: "string", Description: "Whether this service is available."},
		{Name: "Age", Type: "string", Description: metaDocs["creationTimestamp"]},
	}}, nil
}

// row returns the Table row of an object at the time now. Upstream's printers compute ages with the machine's clock. So
// row prints a copy of the object in which all times are moved by the difference of the clocks.
func (p *printer) row(obj runtime.Object, now time.Time) (metav1.TableRow, error) {
	t, err := p.convert(obj)
	if err != nil {
		return metav1.TableRow{}, err
	}
	row := t.Rows[0]
	late := time.Since(now)
	if p.ages == nil || late.Abs() < time.Second {
		return row, nil
	}
	later := obj.DeepCopyObject()
	shift(reflect.ValueOf(later), late)
	if t, err = p.convert(later); err != nil {
		return row, err
	}
	for i, cell := range t.Rows[0].Cells {
		if p.ages(i) {
			row.Cells[i] = cell
		}
	}
	return row, nil
}

// shift adds a duration to all times in a value.
func shift(v reflect.Value, d time.Duration) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			shift(v.Elem(), d)
		}
	case reflect.Slice:
		for i := range v.Len() {
			shift(v.Index(i), d)
		}
	case reflect.Map:
		content, _ := v.Interface().(map[string]any)
		for k, value := range content {
			text, _ := value.(string)
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				content[k] = at.Add(d).Format(time.RFC3339Nano)
			} else {
				shift(reflect.ValueOf(value), d)
			}
		}
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok && !at.IsZero() {
			*at = at.Add(d)
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				shift(f, d)
			}
		}
	}
}
