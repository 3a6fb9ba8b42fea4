package fakeapi_test

import (
	"fmt"
	"testing"

	"github.com/threelaws/threelaws/fakeapi/internal/metapatch"
)

// ParseReplicas accepts only patches that set spec.replicas and nothing else.
func TestReplicasPatchIsPlain(t *testing.T) {
	for _, patch := range []string{
		``, `{}`, `{"spec":{}}`, `{"spec":{"replicas":null}}`, `{"spec":{"replicas":"1"}}`, `{"spec":{"replicas":1.0}}`,
		`{"spec":{"replicas":1e2}}`, `{"spec":{"replicas":01}}`, `{"spec":{"replicas":-}}`, `{"spec":{"replicas":- 1}}`, `{"spec":{"replicas":-01}}`,
		`{"spec":{"replicas":2147483648}}`,
		`{"spec":{"replicas":99999999999999999999}}`, `{"spec":{"replicas":1,"replicas":2}}`,
		`{"spec":{"replicas":1}} x`, `{"spec":{"replicas":1}`,
		`{"spec":{"replicas":1},"metadata":{}}`, `{"Spec":{"replicas":1}}`,
	} {
		if n, ok := metapatch.ParseReplicas([]byte(patch)); ok {
			t.Errorf("%s: read as %d", patch, n)
		}
	}
	for n := range int32(200) {
		if got, ok := metapatch.ParseReplicas(fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n-100)); !ok || got != n-100 {
			t.Errorf("%d: read as %d, %v", n-100, got, ok)
		}
	}
}
