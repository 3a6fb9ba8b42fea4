package upstream_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/recorded"
)

// seeds are good objects of each kind: those of testdata/seeds.yaml, and what the
// recorded server was sent and stored.
func seeds(t *testing.T, s *fakeapi.Server) map[schema.GroupVersionKind][]runtime.Object {
	all := map[schema.GroupVersionKind][]runtime.Object{}
	add := func(raw []byte) {
		var u unstructured.Unstructured
		if json.Unmarshal(raw, &u.Object) != nil || u.GetKind() == "" {
			return
		}
		k := s.Kind(u.GroupVersionKind())
		if k == nil {
			return
		}
		obj := k.New()
		if json.Unmarshal(raw, obj) != nil {
			return
		}
		obj.GetObjectKind().SetGroupVersionKind(k.GVK)
		all[k.GVK] = append(all[k.GVK], obj)
	}
	text, err := os.ReadFile("testdata/seeds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		raw, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			t.Fatal(err)
		}
		add(raw)
	}
	cases, err := recorded.Random2(vectors)
	if err != nil {
		t.Fatal(err)
	}
	b := recorded.NewBinding()
	b.Bind("$ns", "default")
	for _, c := range cases {
		for i := range c.Exchanges {
			if ex := &c.Exchanges[i]; ex.Method == "POST" && ex.Response.Status == 201 {
				add([]byte(b.Fill(string(ex.Body))))
			}
		}
	}
	return all
}
