package recorded_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
)

// orderEndpoints puts the endpoints of a slice into one order. Upstream takes those that
// are added at once from a map, so that the record has them in any.
func orderEndpoints(item any) {
	o, _ := item.(map[string]any)
	endpoints, _ := o["endpoints"].([]any)
	slices.SortFunc(endpoints, func(a, b any) int { return cmp.Compare(addressesOf(a), addressesOf(b)) })
}

func addressesOf(endpoint any) string {
	e, _ := endpoint.(map[string]any)
	text, err := json.Marshal(e["addresses"])
	if err != nil {
		panic("a decoded value does not encode: " + err.Error())
	}
	return string(text)
}

func TestEndpointsInAnyOrder(t *testing.T) {
	list := func(endpoints string) any {
		v, err := recorded.Decode([]byte(`{"items":[{"metadata":{"name":"s"},"endpoints":` + endpoints + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := `[{"addresses":["10.0.0.2"],"zone":"a"},{"addresses":["10.0.0.1"]}]`
	for got, same := range map[string]bool{
		want: true,
		`[{"addresses":["10.0.0.1"]},{"addresses":["10.0.0.2"],"zone":"a"}]`: true,
		`[{"addresses":["10.0.0.1"],"zone":"a"},{"addresses":["10.0.0.2"]}]`: false,
		`[{"addresses":["10.0.0.1"]}]`:                                       false,
	} {
		l, err := newListing(&recorded.Exchange{}, list(want), list(got))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := name(recorded.NewBinding(), []*listing{l}); (err == nil) != same {
			t.Errorf("%s for %s: %v", got, want, err)
		}
	}
}
