package codec

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
)

// The scheme can decode every served kind.
func TestSchemeKnowsEveryKind(t *testing.T) {
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		if !scheme.Recognizes(k.GVK) {
			t.Errorf("the scheme does not know %s: add its group to scheme.go", k.GVK)
		}
	}
}
