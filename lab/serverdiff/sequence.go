package serverdiff

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/randomobject"
)

type request struct {
	method, path, query, contentType string
	accept                           string // "" is JSON
	body                             []byte
}

// plan makes requests, each based on the answers so far.
type plan struct {
	kinds     []*fakeapi.Kind
	good      func(*fakeapi.Kind) []runtime.Object
	mutator   *randomobject.Mutator
	namespace string
	prefix    string            // prefix of the names of cluster-scoped objects
	stored    map[string][]byte // path -> the body of the last answer with the object
	made      map[string]bool   // paths of all objects ever stored
}

func (p *plan) base() *plan { return p }

func (p *plan) pick(n int) int { return p.mutator.Pick(n) }

func (p *plan) next() *request {
	k := p.kinds[p.pick(len(p.kinds))]
	name := string("abc"[p.pick(3)])
	if !k.Namespaced {
		name = p.prefix + "." + name
	}
	path := p.collection(k) + "/" + name
	old := p.stored[path]
	switch what := p.pick(12); {
	case what < 4 || old == nil && what < 9:
		return p.create(k, name)
	case what == 4:
		return &request{method: "GET", path: path, accept: p.form()}
	case what == 5 && k.Namespaced:
		return &request{method: "GET", path: p.collection(k), accept: p.form(), query: p.selection()}
	case what < 8 && old != nil:
		return p.put(k, path, old)
	case what < 10 && old != nil:
		return p.patch(k, path, old)
	case what == 10:
		return p.apply(k, path, name)
	}
	return p.delete(path)
}

// form returns a random value of the header Accept. It asks for objects, a table, or metadata.
func (p *plan) form() string {
	return []string{"", asTable, asTable + ",application/json", "application/json;as=PartialObjectMetadataList;" +
		"v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}[p.pick(4)]
}

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

func (p *plan) selection() string {
	return []string{"", "", "limit=1", "fieldSelector=metadata.name%3Da", "fieldSelector=metadata.name%21%3Da&limit=1",
		"labelSelector=app", "labelSelector=app%20notin%20(x)", "fieldSelector=spec.none%3Dx"}[p.pick(8)]
}

func (p *plan) collection(k *fakeapi.Kind) string {
	path := "/apis/" + k.GVK.Group
	if k.GVK.Group == "" {
		path = "/api"
	}
	path += "/" + k.GVK.Version
	if k.Namespaced {
		path += "/namespaces/" + p.namespace
	}
	return path + "/" + k.Resource
}

// object returns an object of a kind. Half of the objects are mutated, so they may be invalid.
func (p *plan) object(k *fakeapi.Kind, name string) runtime.Object {
	all := p.good(k)
	obj := all[p.pick(len(all))].DeepCopyObject()
	acc, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	acc.SetName(name)
	acc.SetGenerateName("")
	acc.SetNamespace("")
	acc.SetOwnerReferences(nil)
	acc.SetResourceVersion("")
	if p.pick(2) == 1 {
		p.mutator.Mutate(obj, false)
	}
	return obj
}

func (p *plan) create(k *fakeapi.Kind, name string) *request {
	r := &request{method: "POST", path: p.collection(k), contentType: "application/json",
		body: encode(p.object(k, name))}
	if p.pick(8) == 7 {
		r.query = "dryRun=All"
	}
	return r
}

// changed returns a stored object, and a copy with some fields changed. If the fields are in the status, subresource is
// "/status".
func (p *plan) changed(k *fakeapi.Kind, old []byte) (was, now runtime.Object, subresource string) {
	was = k.New()
	if err := json.Unmarshal(old, was); err != nil {
		panic(err)
	}
	now = was.DeepCopyObject()
	acc, err := meta.Accessor(now)
	if err != nil {
		panic(err)
	}
	acc.SetManagedFields(nil)
	status := k.Status && p.pick(4) == 3
	p.mutator.Mutate(now, status)
	if status {
		subresource = "/status"
	}
	return was, now, subresource
}

func (p *plan) put(k *fakeapi.Kind, path string, old []byte) *request {
	_, now, sub := p.changed(k, old)
	return &request{method: "PUT", path: path + sub, contentType: "application/json", body: encode(now)}
}

func (p *plan) patch(k *fakeapi.Kind, path string, old []byte) *request {
	was, now, sub := p.changed(k, old)
	acc, _ := meta.Accessor(was)
	acc.SetManagedFields(nil)
	r := &request{method: "PATCH", path: path + sub, contentType: string(types.MergePatchType)}
	patch, err := jsonpatch.CreateMergePatch(encode(was), encode(now))
	if p.pick(2) == 1 {
		r.contentType = string(types.StrategicMergePatchType)
		patch, err = strategicpatch.CreateTwoWayMergePatch(encode(was), encode(now), k.New())
	}
	if err != nil {
		patch = []byte("{}")
	}
	r.body = patch
	return r
}

func (p *plan) apply(k *fakeapi.Kind, path, name string) *request {
	r := &request{method: "PATCH", path: path, contentType: string(types.ApplyPatchType),
		query: "fieldManager=m" + fmt.Sprint(p.pick(2)), body: encode(p.object(k, name))}
	if p.pick(2) == 1 {
		r.query = "force=true&" + r.query
	}
	return r
}

func (p *plan) delete(path string) *request {
	body := []string{"", `"propagationPolicy":"Background"`, `"propagationPolicy":"Foreground"`,
		`"propagationPolicy":"Orphan"`, `"preconditions":{"uid":"` + wrongUID + `"}`, `"dryRun":["All"]`}[p.pick(6)]
	return &request{method: "DELETE", path: path, contentType: "application/json",
		body: []byte(`{"kind":"DeleteOptions","apiVersion":"v1"` + comma(body) + "}")}
}

const wrongUID = "00000000-0000-4000-8000-00000000dead"

func comma(s string) string {
	if s == "" {
		return ""
	}
	return "," + s
}

func encode(obj runtime.Object) []byte {
	raw, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return raw
}

// note updates the stored objects after a successful request. Later requests are based on these objects.
func (p *plan) note(r *request, status int, body []byte) {
	var obj struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if status >= 300 || r.query == "dryRun=All" || json.Unmarshal(body, &obj) != nil {
		return
	}
	path := strings.TrimSuffix(r.path, "/status")
	switch {
	case r.method == "POST":
		p.stored[path+"/"+obj.Metadata.Name], p.made[path+"/"+obj.Metadata.Name] = body, true
	case r.method == "PUT" || r.method == "PATCH":
		p.stored[path], p.made[path] = body, true
	case r.method == "DELETE" && !strings.Contains(string(r.body), "dryRun"):
		delete(p.stored, path)
	}
}
