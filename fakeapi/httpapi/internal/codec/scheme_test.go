package codec

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
)

// Every kind that is served can be read from the wire.
func TestSchemeKnowsEveryKind(t *testing.T) {
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		if !scheme.Recognizes(k.GVK) {
			t.Errorf("the scheme does not know %s: add its group to scheme.go", k.GVK)
		}
	}
}
