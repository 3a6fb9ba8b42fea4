package discovery

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
)

// What the table of kinds says of a kind is what the real server lists of it.
func TestKindsAreAsTheRealServerListsThem(t *testing.T) {
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		r := Find(k.GVR(), "")
		if r == nil {
			t.Errorf("%s: resources.txt has no such row; the name in fakeapi/internal/registry is wrong", k.GVR())
			continue
		}
		if r.Kind != k.GVK || r.namespaced != k.Namespaced || r.singular != k.Singular ||
			!slices.Equal(r.short, k.ShortNames) || !slices.Equal(r.categories, k.Categories) {
			t.Errorf("%s: resources.txt has %s, namespaced %t, singular %q, short %q, in %q; "+
				"the row in fakeapi/internal/registry %s, %t, %q, %q, %q: mend the row",
				k.GVR(), r.Kind.Kind, r.namespaced, r.singular, r.short, r.categories,
				k.GVK.Kind, k.Namespaced, k.Singular, k.ShortNames, k.Categories)
		}
		if named(r.Sub, "status") != nil != k.Status {
			t.Errorf("%s: resources.txt has a status %t, the row in fakeapi/internal/registry %t", k.GVR(),
				named(r.Sub, "status") != nil, k.Status)
		}
	}
}
