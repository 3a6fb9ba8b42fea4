package httpapi

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// A metadata client gets PartialObjectMetadata, in JSON and in protobuf.
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

// metaCodecs decodes responses to a metadata client, and Statuses.
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

// A Table of a custom kind has the columns of the CRD, and a cell for each column.
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

// The scale of a custom resource has the columns of a Scale, and its patches have other media types than those of
// built-in kinds.
func TestCustomScale(t *testing.T) {
	h := newHandler()
	must(t, h, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"bs.example.com"},
		"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"bs","kind":"B"},"versions":[{"name":"v1",
		"served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
		"subresources":{"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}}]}}`)
	must(t, h, "POST", "/apis/example.com/v1/bs", `{"apiVersion":"example.com/v1","kind":"B","metadata":{"name":"b"},"spec":{"n":1}}`)
	text := string(request(t, h, "GET", "/apis/example.com/v1/bs/b/scale", media.JSON+";as=Table;g=meta.k8s.io;v=v1"))
	if !strings.Contains(text, `"description":"Number of desired replicas"`) || !strings.Contains(text, `"cells":["b",1,`) {
		t.Error(text)
	}
	code, text, _ := told(h, "PATCH", "/apis/example.com/v1/bs/b", "application/json", "{}")
	if code != 415 || !strings.Contains(text, "accepted media types include: application/json-patch+json, application/merge") {
		t.Errorf("%d %s", code, text)
	}
}

// A dry run in another version than the storage version shows what would be read after the write.
func TestDryRunInAnotherVersion(t *testing.T) {
	h := newHandler()
	const schema = `"served":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
		"a":{"type":"string"},"FIELD":{"type":"integer","default":7}}}}}}}`
	must(t, h, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"gs.example.com"},
		"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"gs","kind":"G"},"versions":[
		{"name":"v1","storage":true,`+strings.Replace(schema, "FIELD", "b", 1)+`,
		{"name":"v2","storage":false,`+strings.Replace(schema, "FIELD", "c", 1)+`]}}`)
	const body = `{"apiVersion":"example.com/v2","kind":"G","metadata":{"name":"g"},"spec":{"a":"1","c":3}}`
	patch := func(q string) string {
		_, text, _ := told(h, "PATCH", "/apis/example.com/v2/gs/g?fieldManager=m&force=true&"+q, "application/apply-patch+yaml",
			strings.Replace(body, `"1"`, `"2"`, 1))
		return text
	}
	post := func(q string) string {
		_, text, _ := told(h, "POST", "/apis/example.com/v2/gs?"+q, "", body)
		return text
	}
	for _, write := range []func(string) string{post, patch} {
		dry, real := write("dryRun=All"), write("")
		if dry, real = dry[strings.Index(dry, `"spec"`):], real[strings.Index(real, `"spec"`):]; dry != real {
			t.Errorf("a dry run shows %s, the write %s", dry, real)
		}
	}
}

// Discovery of custom resources names the group and version of each kind, and hashes the storage version.
func TestCustomDiscovery(t *testing.T) {
	h := newHandler()
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	const version = `,"served":true,"schema":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}}}`
	must(t, h, "POST", crds, `{"metadata":{"name":"bs.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"bs","kind":"B"},"versions":[{"name":"v1","storage":true`+version+`,{"name":"v2","storage":false`+version+`]}}`)
	const kind = `"responseKind":{"group":"example.com","version":"v2","kind":"B"}`
	aggregated := string(request(t, h, "GET", "/apis", media.JSON+";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"))
	if strings.Count(aggregated, kind) != 2 {
		t.Errorf("no resource and subresource with %s in %s", kind, aggregated)
	}
	var hashes []string
	for _, v := range []string{"v1", "v2"} {
		var list metav1.APIResourceList
		if err := json.Unmarshal(request(t, h, "GET", "/apis/example.com/"+v, media.JSON), &list); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, list.APIResources[0].StorageVersionHash)
	}
	if hashes[0] == "" || hashes[0] != hashes[1] {
		t.Errorf("the hashes of v1 and v2 are %q", hashes)
	}
	for path, want := range map[string]string{"/apis/example.com/v3": "404 page not found\n", "/apis/apps/v3": "NotFound"} {
		if code, text, _ := told(h, "GET", path, "", ""); code != 404 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %q, want %q", path, code, text, want)
		}
	}
}

// A response about a deprecated kind has a warning about the kind, and the warnings about the body.
func TestWarningsOfKindAndBody(t *testing.T) {
	const kind = `299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"`
	const field = `299 - "unknown field \"oops\""`
	h := newHandler()
	for _, c := range []struct {
		method, path, body string
		want               []string
	}{
		{"POST", "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"a"},"oops":1}`, []string{kind, field}},
		{"PUT", "/api/v1/namespaces/default/endpoints/a", `{"metadata":{"name":"a"}}`, []string{kind}},
		{"GET", "/api/v1/namespaces/default/endpoints/a", "", []string{kind}},
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"},"oops":1}`, []string{field}},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path+"?fieldValidation=Warn", strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Result().Header["Warning"]; w.Code > 201 || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %d, warnings %q, want %q", c.method, c.path, w.Code, got, c.want)
		}
	}
}

var update = flag.Bool("update", false, "rewrite what docs/evidence/fidelity.md holds of the server's own")

const fidelity = "../../docs/evidence/fidelity.md"

// documentPart writes a part of docs/evidence/fidelity.md if the flag -update is set.
func documentPart(t *testing.T, name, part string) {
	t.Helper()
	if !*update {
		return
	}
	raw, err := os.ReadFile(fidelity)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part %s", fidelity, name)
	}
	if err := os.WriteFile(fidelity, []byte(before+begin+part+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// With the flag -update, the tables of kinds in docs/evidence/fidelity.md are written again.
func TestDocumentedKinds(t *testing.T) {
	if !*update {
		t.Skip("this test only writes tables, with -update")
	}
	h := newHandler()
	var kinds []*fakeapi.Kind
	h.With(func(s *fakeapi.Server) { kinds = s.Served() })
	modelled := map[string]*fakeapi.Kind{}
	for _, k := range kinds {
		modelled[k.GVR().String()] = k
	}
	var served, inert, refused strings.Builder
	served.WriteString("| apiVersion | kinds, with their subresources |\n| --- | --- |\n")
	inert.WriteString("| kinds that are only stored | what they do not do here |\n| --- | --- |\n")
	var whys []string
	stored := map[string][]string{}
	refused.WriteString("| apiVersion | refused |\n| --- | --- |\n")
	for _, v := range discovery.Served(nil) {
		var yes, no []string
		for _, r := range v.Resources {
			k := modelled[v.WithResource(r.Name).String()]
			if k == nil {
				for _, s := range r.Sub {
					no = append(no, r.Name+"/"+s.Name)
				}
				continue
			}
			why := k.Inert()
			if why != "" && !slices.Contains(stored[why], k.GVK.Kind) {
				if stored[why] == nil {
					whys = append(whys, why)
				}
				stored[why] = append(stored[why], k.GVK.Kind)
			}
			name := r.Kind.Kind
			var subs []string
			for _, s := range r.Sub {
				if k.Serves(s.Name) || reviews[schema.GroupResource{Resource: r.Name + "/" + s.Name}] != nil {
					subs = append(subs, s.Name)
				} else {
					no = append(no, r.Name+"/"+s.Name)
				}
			}
			if len(subs) > 0 {
				name += " (" + strings.Join(subs, ", ") + ")"
			}
			yes = append(yes, name)
		}
		if len(yes) > 0 {
			fmt.Fprintf(&served, "| %s | %s |\n", v.GroupVersion, strings.Join(yes, ", "))
		}
		if len(no) > 0 {
			fmt.Fprintf(&refused, "| %s | %s |\n", v.GroupVersion, strings.Join(no, ", "))
		}
	}
	for _, why := range whys {
		fmt.Fprintf(&inert, "| %s | %s |\n", strings.Join(stored[why], ", "), why)
	}
	documentPart(t, "kinds", served.String())
	documentPart(t, "stored", inert.String())
	documentPart(t, "refused", refused.String())
}
