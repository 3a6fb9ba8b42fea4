package serverdiff

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/vectors"
)

// crdKind stands for sequences about one CRD and its objects. Other sequences create no CRDs.
var crdKind = &fakeapi.Kind{Resource: "customresourcedefinitions", GVK: schema.GroupVersionKind{
	Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}}

type object = map[string]any

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// custom makes requests about the objects of a CRD, changes the CRD between them, and keeps watches open.
type custom struct {
	*plan
	crd     object // as the server last returned it; nil if there is none
	revised bool   // the CRD was changed, and not read since
	watches int
	since   string // the query parameter with the revision of the last list
}

func (c *custom) group() string { return c.prefix + ".example.com" }

func (c *custom) name() string { return "widgets." + c.group() }

func (c *custom) next() *request {
	switch {
	case c.crd == nil:
		return &request{method: "POST", path: crds, contentType: "application/json", body: encoded(c.first())}
	case c.revised:
		return &request{method: "GET", path: crds + "/" + c.name()}
	}
	name, version := string("abc"[c.pick(3)]), fmt.Sprint("v", 1+c.pick(2))
	all := "/apis/" + c.group() + "/" + version + "/namespaces/" + c.namespace + "/widgets"
	one := all + "/" + name
	switch c.pick(16) {
	case 0, 1, 2, 3:
		return &request{method: "POST", path: all, contentType: "application/json", body: encoded(c.widget(version, name))}
	case 4:
		return &request{method: "GET", path: one, accept: c.form()}
	case 5:
		return &request{method: "GET", path: all, accept: c.form(), query: c.selection()}
	case 6:
		return c.update(one, c.widget(version, name))
	case 7:
		return &request{method: "PATCH", path: one, contentType: string(types.MergePatchType), body: encoded(object{
			"spec": c.spec()})}
	case 8:
		return &request{method: "PATCH", path: one, contentType: string(types.ApplyPatchType),
			query: "force=true&fieldManager=m" + fmt.Sprint(c.pick(2)), body: encoded(c.widget(version, name))}
	case 9:
		return &request{method: "PATCH", path: one + "/scale", contentType: string(types.MergePatchType),
			body: []byte(`{"spec":{"replicas":2}}`)}
	case 10:
		return c.delete(one)
	case 11, 12, 14:
		if c.since == "" { // a watch without a revision starts at a moment that depends on timing
			return &request{method: "GET", path: all}
		}
		if c.watches++; c.watches <= 3 {
			return &request{method: "GET", path: all, query: "watch=true" + c.since}
		}
	case 13:
		if c.pick(4) == 0 {
			return &request{method: "DELETE", path: crds + "/" + c.name()}
		}
	}
	return c.change()
}

// update returns an update of an object or its status. It has the resourceVersion of the last answer, if there was one.
func (c *custom) update(path string, w object) *request {
	var old struct {
		Metadata struct{ ResourceVersion string }
	}
	if json.Unmarshal(c.stored[path], &old) == nil {
		w["metadata"].(object)["resourceVersion"] = old.Metadata.ResourceVersion
	}
	return &request{method: "PUT", path: path + []string{"", "/status"}[c.pick(2)], contentType: "application/json",
		body: encoded(w)}
}

// first returns a CRD with one version.
func (c *custom) first() object {
	return object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": c.name()},
		"spec": object{"group": c.group(), "scope": "Namespaced",
			"names":    object{"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": []any{c.version("v1", true)}}}
}

func (c *custom) version(name string, storage bool) object {
	properties := object{}
	for _, p := range specProperties {
		properties[p.name] = p.schemas[0]
	}
	return object{"name": name, "served": true, "storage": storage, "subresources": object{"status": object{}},
		"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{
			"spec":   object{"type": "object", "properties": properties},
			"status": object{"type": "object", "properties": object{"replicas": object{"type": "integer"}}}}}}}
}

// specProperties lists the properties of a spec, each with the schemas that a change chooses from and values.
var specProperties = []struct {
	name    string
	schemas []any
	values  []any
}{
	{"size", []any{object{"type": "integer"}, object{"type": "integer", "maximum": 5}, object{"type": "integer", "default": 3},
		object{"type": "string"}}, []any{1, 7, "x", nil}},
	{"color", []any{object{"type": "string"}, object{"type": "string", "enum": []any{"red", "blue"}},
		object{"type": "string", "default": "red"}, object{"type": "string", "nullable": true}}, []any{"red", "green", nil}},
	{"tags", []any{object{"type": "array", "items": object{"type": "string"}},
		object{"type": "array", "items": object{"type": "string"}, "x-kubernetes-list-type": "set"}},
		[]any{[]any{"a", "b"}, []any{"a", "a"}}},
	{"parts", []any{object{"type": "array", "items": part}, object{"type": "array", "items": part,
		"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"key"}}},
		[]any{[]any{object{"key": "k"}, object{"key": "l", "count": 2}}, []any{object{"key": "k"}, object{"key": "k"}}}},
	{"free", []any{object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, object{"type": "object",
		"properties": object{"x": object{"type": "integer", "default": 4}}}, object{"type": "object",
		"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true}},
		[]any{object{"x": 1, "y": "z"}, object{}, object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "p"}}}},
}

var part = object{"type": "object", "required": []any{"key"}, "properties": object{"key": object{"type": "string"},
	"count": object{"type": "integer", "default": 1}}}

func (c *custom) spec() object {
	spec := object{}
	for range 1 + c.pick(3) {
		p := &specProperties[c.pick(len(specProperties))]
		spec[p.name] = p.values[c.pick(len(p.values))]
	}
	if c.pick(3) == 2 {
		spec["extra"] = "kept or pruned"
	}
	return spec
}

func (c *custom) widget(version, name string) object {
	w := object{"apiVersion": c.group() + "/" + version, "kind": "Widget", "metadata": object{"name": name}, "spec": c.spec()}
	if c.pick(4) == 3 {
		w["status"] = object{"replicas": 1 + c.pick(2)}
	}
	return w
}

// change returns an update of the CRD: of a property, a version, or what a version offers.
func (c *custom) change() *request {
	crd := copied(c.crd)
	spec := crd["spec"].(object)
	versions := spec["versions"].([]any)
	v := versions[c.pick(len(versions))].(object)
	root := v["schema"].(object)["openAPIV3Schema"].(object)
	field := root["properties"].(object)["spec"].(object)
	p := &specProperties[c.pick(len(specProperties))]
	switch c.pick(12) {
	case 0, 1, 2:
		in(field, "properties")[p.name] = p.schemas[c.pick(len(p.schemas))]
	case 3:
		delete(in(field, "properties"), p.name)
	case 4:
		toggle(field, "required", []any{p.name})
	case 5:
		toggle(field, "x-kubernetes-validations", []any{object{"rule": "!has(self.size) || self.size < 6",
			"message": "too large"}})
	case 6:
		if len(versions) == 1 {
			spec["versions"] = append(versions, c.version("v2", false))
		} else {
			spec["versions"] = versions[:1]
		}
	case 7:
		for _, each := range versions {
			each.(object)["storage"] = each.(object)["storage"] != true
		}
	case 8:
		v["served"] = v["served"] != true
	case 9:
		toggle(in(v, "subresources"), []string{"scale", "status"}[c.pick(2)], nil)
		if scale := in(v, "subresources"); scale["scale"] != nil {
			scale["scale"] = object{"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"}
		}
	case 10:
		toggle(v, "selectableFields", []any{object{"jsonPath": ".spec.color"}})
	case 11:
		toggle(v, "additionalPrinterColumns", []any{object{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}})
	}
	return &request{method: "PUT", path: crds + "/" + c.name(), contentType: "application/json", body: encoded(crd)}
}

// in returns the object in a field of an object, which it creates if there is none.
func in(o object, field string) object {
	if _, is := o[field].(object); !is {
		o[field] = object{}
	}
	return o[field].(object)
}

// toggle removes a field, or sets it if there is none. If value is nil, it is an empty object.
func toggle(o object, field string, value any) {
	if _, is := o[field]; is {
		delete(o, field)
		return
	}
	if value == nil {
		value = object{}
	}
	o[field] = value
}

func copied(o object) (out object) {
	if err := json.Unmarshal(encoded(o), &out); err != nil {
		panic(err)
	}
	return out
}

func encoded(o object) []byte {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return raw
}

// note keeps the CRD and the revision of lists.
func (c *custom) note(r *request, status int, body []byte) {
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	switch {
	case status >= 300:
	case !strings.HasPrefix(r.path, crds):
		if r.method == "GET" && strings.HasSuffix(r.path, "/widgets") && json.Unmarshal(body, &o) == nil {
			c.since = "&resourceVersion=" + o.Metadata.ResourceVersion
		}
		if !strings.HasSuffix(r.path, "/scale") {
			c.plan.note(r, status, body)
		}
	case r.method == "DELETE":
		c.crd, c.since = nil, ""
		delete(c.made, crds+"/"+c.name())
	default:
		c.crd = nil
		if err := json.Unmarshal(body, &c.crd); err != nil {
			panic(err)
		}
		c.revised, c.made[crds+"/"+c.name()] = r.method != "GET", true
	}
}

// await waits until a change of the CRD is in force: the real server needs some time for each change. If there are
// watches, await waits until the change has ended them.
func (s *remote) await(r *request, status int, watched bool) {
	if !strings.HasPrefix(r.path, crds) || r.method == "GET" || status >= 300 {
		return
	}
	path := crds + strings.TrimPrefix(r.path, crds)
	if r.method == "POST" {
		var crd struct{ Metadata struct{ Name string } }
		_ = json.Unmarshal(r.body, &crd)
		path += "/" + crd.Metadata.Name
	}
	for range 50 {
		a, err := s.send(&request{method: "GET", path: path})
		if err != nil || r.method != "DELETE" && established(a.body) || r.method == "DELETE" && a.status == http.StatusNotFound {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(s.settle)
	if watched {
		time.Sleep(s.drain)
	}
	_, group, _ := strings.Cut(path, "widgets.")
	for range 50 { // the cache of a changed version has to be filled
		old, err := s.send(&request{method: "GET", path: "/apis/" + group + "/v1/widgets"})
		now, err2 := s.send(&request{method: "GET", path: "/apis/" + group + "/v2/widgets"})
		if err != nil || err2 != nil || old.status != http.StatusTooManyRequests && now.status != http.StatusTooManyRequests {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func established(crd []byte) bool {
	var o struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	_ = json.Unmarshal(crd, &o)
	for _, c := range o.Status.Conditions {
		if c.Type == "Established" {
			return c.Status == "True"
		}
	}
	return false
}

// stream is an open watch.
type stream struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the server has ended the watch, or the client has
	events []vectors.Event
}

// watch opens a watch. If the server refuses it, the stream is nil.
func (s *remote) watch(r *request) (*stream, *answer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	req, err := s.request(ctx, r)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	resp, err := (&http.Client{Transport: s.client.Transport}).Do(req)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	a := &answer{status: resp.StatusCode}
	if a.status != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		a.body, err = io.ReadAll(resp.Body)
		return nil, a, err
	}
	w := &stream{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer resp.Body.Close()
		for d := json.NewDecoder(resp.Body); ; {
			var e vectors.Event
			if d.Decode(&e) != nil {
				return
			}
			w.events = append(w.events, e)
		}
	}()
	return w, a, nil
}

// finish ends a watch, and returns its events with placeholders.
func (w *stream) finish(n *notes) *vectors.Watch {
	out := &vectors.Watch{End: "client-closed"}
	select {
	case <-w.done:
		out.End = "server-closed"
	default:
	}
	w.cancel()
	<-w.done
	for _, e := range w.events {
		out.Events = append(out.Events, vectors.Event{Type: e.Type, Object: n.body(e.Object)})
	}
	return out
}
