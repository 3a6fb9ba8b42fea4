package table

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/threelaws/threelaws/fakeapi"
)

// testdata/columns.jsonl holds the columns of the real server's tables (v1.36.3), a resource a
// line: what GET of its collection answers to as=Table.
func TestColumnsAreTheRealServers(t *testing.T) {
	file, err := os.Open("testdata/columns.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	kinds := map[string]*fakeapi.Kind{}
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		path := "apis/" + k.GVK.Group
		if k.GVK.Group == "" {
			path = "api"
		}
		kinds[path+"/"+k.GVK.Version+"/"+k.Resource] = k
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var want struct {
			Resource string
			Columns  []column
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		k := kinds[want.Resource]
		if k == nil {
			t.Errorf("%s is not served", want.Resource)
			continue
		}
		delete(kinds, want.Resource)
		if diff := cmp.Diff(want.Columns, printerFor(k).columns); diff != "" {
			t.Errorf("%s\n- the real server, + here\n%s", want.Resource, diff)
		}
	}
	for resource := range kinds {
		t.Errorf("the columns of %s are not recorded", resource)
	}
}
