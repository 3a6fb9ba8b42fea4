package table

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// Columns are recorded for every served kind, and every empty object has a cell for each.
func TestPrintersFill(t *testing.T) {
	unused := map[string]bool{}
	for resource := range columns() {
		unused[resource] = true
	}
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		resource := "apis/" + k.GVK.Group
		if k.GVK.Group == "" {
			resource = "api"
		}
		resource += "/" + k.GVK.Version + "/" + k.Resource
		delete(unused, resource)
		p := printerFor(k)
		if want := columns()[resource]; want == nil || !reflect.DeepEqual(p.columns, want) {
			t.Errorf("%s has columns %v, the real server has %v", resource, p.columns, want)
		}
		want := len(p.columns)
		if k.Resource == "ipaddresses" { // as on the real server
			want++
		}
		obj := reflect.New(reflect.TypeOf(k.New()).Elem()).Interface().(runtime.Object)
		if cells := p.cells(obj, noon); len(cells) != want {
			t.Errorf("%s has %d cells for %d columns", resource, len(cells), len(p.columns))
		}
	}
	for resource := range unused {
		t.Errorf("columns are recorded for %s, which is not served", resource)
	}
}
