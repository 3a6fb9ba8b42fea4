package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

const definitionYAML = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, nullable: true, description: how large it is}
              not: {type: string}
---
`

const widgetYAML = `apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: default, finalizers: [example.com/hold]}
spec: {size: 3}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: b}
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: h}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: ReplicaSet, name: r}}
`

func load(t *testing.T, h *Handler, text string) {
	t.Helper()
	if err := h.Load([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func dump(t *testing.T, h *Handler) string {
	t.Helper()
	var b bytes.Buffer
	if err := h.Dump(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A dump can be loaded unchanged, with custom resources, deletion timestamps and uids. Objects that are created later
// have new uids.
func TestDumpAndLoad(t *testing.T) {
	h := newHandler()
	load(t, h, definitionYAML+widgetYAML)
	const widgets, maps = "/apis/example.com/v1/namespaces/default/widgets", "/api/v1/namespaces/default/configmaps"
	if code, text := send(h, "DELETE", widgets+"/w", "", nil, ""); code != 200 {
		t.Fatal(code, text)
	}
	before := dump(t, h)
	if !strings.Contains(before, "deletionTimestamp") {
		t.Fatalf("the widget is not terminating:\n%s", before)
	}
	if n := strings.Count(before, "\nkind: HorizontalPodAutoscaler"); n != 1 {
		t.Errorf("an object of two versions is dumped %d times", n)
	}
	again := newHandler()
	load(t, again, before)
	if after := dump(t, again); after != before {
		t.Errorf("dumped again:\n%s\nwant\n%s", after, before)
	}
	uidOf := func() string {
		_, text := send(again, "GET", maps+"/c", "", nil, "")
		var m metav1.PartialObjectMetadata
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return string(m.UID)
	}
	seen := map[string]bool{uidOf(): true}
	send(again, "DELETE", maps+"/c", "", nil, "")
	send(again, "POST", maps, "", map[string]string{"Content-Type": media.JSON},
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`)
	if seen[uidOf()] {
		t.Errorf("the recreated object has the same uid")
	}
}

func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":                                "1: ",
		"\n---\napiVersion: v1\nkind: Teapot\n": "3: the kind",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndatum: {}\n": "datum",
		widgetYAML: "1: the kind \"Widget\"",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n":                             "1: ConfigMap A: ",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: u, resourceVersion: x}\n": "its namespace",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n, uid: u}\n":       "is not a revision",
	} {
		var bad *LoadError
		if err := newHandler().Load([]byte(text)); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestOpenAPI(t *testing.T) {
	h := newHandler()
	load(t, h, definitionYAML)
	_, text := send(h, "GET", "/openapi/v3", "", nil, "")
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal([]byte(text), &index); err != nil {
		t.Fatal(err)
	}
	h.With(func(s *fakeapi.Server) {
		for _, k := range s.Kinds() {
			name := "apis/" + k.GVK.GroupVersion().String()
			if k.GVK.Group == "" {
				name = "api/v1"
			}
			if index.Paths[name].ServerRelativeURL == "" {
				t.Errorf("there is no document for %s", name)
			}
		}
	})
	url, _, _ := strings.Cut(index.Paths["apis/example.com/v1"].ServerRelativeURL, "?")
	if code, text := send(h, "GET", url, "", nil, ""); code != 200 || !strings.Contains(text, "how large it is") {
		t.Errorf("%d %.500s", code, text)
	}
	_, text = send(h, "GET", "/openapi/v3/api/v1", "", nil, "")
	for _, part := range []string{`"enum":["Always","Never","OnFailure"]`, `"default":"TCP"`,
		`"spec":{"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"}],"default":{}`} {
		if !strings.Contains(text, part) {
			t.Errorf("version 3 of the core group lacks %s", part)
		}
	}
	if _, text := send(h, "GET", "/openapi/v2", "", nil, ""); strings.Contains(text, `"default":"TCP"`) {
		t.Error("version 2 has a default")
	}
	resp := request(t, h, "GET", "/openapi/v2", v2ProtoAt)
	doc := new(openapiv2.Document)
	if err := proto.Unmarshal(resp, doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, d := range doc.Definitions.AdditionalProperties {
		found[d.Name] = true
	}
	for _, name := range []string{"io.k8s.api.core.v1.Pod", "io.k8s.api.apps.v1.ReplicaSetList",
		"com.example.v1.Widget"} {
		if !found[name] {
			t.Errorf("version 2 does not define %s", name)
		}
	}
}

func request(t *testing.T, h *Handler, method, path, accept string) []byte {
	t.Helper()
	code, text := send(h, method, path, "", map[string]string{"Accept": accept}, "")
	if code != http.StatusOK {
		t.Fatal(code, text)
	}
	return []byte(text)
}
