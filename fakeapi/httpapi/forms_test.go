package httpapi

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// Partial objects are asked for by metadata clients, in every encoding.
func TestPartialObjects(t *testing.T) {
	h := newHandler()
	const as = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	var one metav1.PartialObjectMetadata
	text := request(t, h, "GET", "/api/v1/namespaces/default", media.JSON+as)
	if err := json.Unmarshal(text, &one); err != nil || one.Kind != "PartialObjectMetadata" || one.Name != "default" {
		t.Errorf("%+v %v", one, err)
	}
	var list metav1.PartialObjectMetadataList
	const asList = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	text = request(t, h, "GET", "/api/v1/namespaces", media.Proto+asList+","+media.JSON)
	_, _, err := metaCodecs.Decode(text, nil, &list)
	if err != nil || len(list.Items) != 2 || list.ResourceVersion == "" {
		t.Errorf("%+v %v", list, err)
	}
}

// metaCodecs decodes what a metadata client is sent, a Status among it.
var metaCodecs = func() runtime.Decoder {
	s := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(s); err != nil {
		panic(err)
	}
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(s).UniversalDeserializer()
}()

const queueYAML = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: queues.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: queues, kind: Queue}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Two, type: string, jsonPath: ".spec.items[0:2].name"}
    - {name: Deep, type: string, jsonPath: ".spec.deep..name", priority: 1}
    - {name: Over, type: string, jsonPath: ".spec.items[?(@.count>1)].name"}
    - {name: Gone, type: string, jsonPath: .spec.gone.further}
    - {name: Beyond, type: integer, jsonPath: ".spec.items[7].count"}
    - {name: Note, type: string, jsonPath: ".metadata.annotations['a\\.b/c']", description: what is noted}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: example.com/v1
kind: Queue
metadata: {name: q, namespace: default, annotations: {a.b/c: "yes"}}
spec: {size: 3, items: [{name: one, count: 1}, {name: two, count: 2}], deep: {most: {name: z}}}
`

// A custom kind's Table has all the columns that its definition asks for,
// whatever leads to them, and a cell for each.
func TestCustomTable(t *testing.T) {
	h := newHandler()
	load(t, h, queueYAML)
	text := request(t, h, "GET", "/apis/example.com/v1/namespaces/default/queues",
		media.JSON+";as=Table;g=meta.k8s.io;v=v1")
	var table metav1.Table
	if err := json.Unmarshal(text, &table); err != nil || len(table.Rows) != 1 {
		t.Fatal(string(text), err)
	}
	want := map[string]any{"Name": "q", "Size": 3.0, "Two": "one", "Deep": "z", "Over": "two", "Gone": nil,
		"Beyond": nil, "Note": "yes", "Ready": nil}
	got := map[string]any{}
	for i, c := range table.ColumnDefinitions {
		got[c.Name] = table.Rows[0].Cells[i]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
}
