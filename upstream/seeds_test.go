package upstream_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/generate"
	"github.com/threelaws/threelaws/internal/recorded"
)

// seeds are good objects of each kind: those of testdata/seeds.yaml, and what the
// recorded server was sent and stored.
func seeds(t *testing.T, s *fakeapi.Server) map[schema.GroupVersionKind][]runtime.Object {
	g := generate.Good{New: func(gvk schema.GroupVersionKind) runtime.Object {
		if k := s.Kind(gvk); k != nil {
			return k.New()
		}
		return nil
	}}
	if err := g.AddFile("testdata/seeds.yaml"); err != nil {
		t.Fatal(err)
	}
	cases, err := recorded.Random2(vectors)
	if err != nil {
		t.Fatal(err)
	}
	g.AddRecorded(cases)
	return g.Of
}
