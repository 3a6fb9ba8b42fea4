package host

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/objectdiff"
	"github.com/threelaws/threelaws/sim"
)

// say reports the program's requests to the world, for the run's hash and for the comparison of two runs. Requests that
// are pending at the same time are sorted by digest, because goroutines send them in random order. Answers are not
// reported, because they follow from the world's state.
func (g *hosted) say(calls []*Call, queries []Query) {
	said := make([]sim.Request, 0, len(calls)+len(queries))
	for _, c := range calls {
		r := sent{c.Request, c.Watches}
		said = append(said, sim.Request{Process: g.process.Name, Digest: r.digest(), Content: r})
	}
	for i := range queries {
		said = append(said, sim.Request{Process: g.process.Name, Digest: queries[i].digest(), Content: &queries[i]})
	}
	slices.SortFunc(said, func(a, b sim.Request) int { return cmp.Compare(a.Digest, b.Digest) })
	for _, r := range said {
		g.process.cluster.world.Request(r)
	}
}

type sent struct {
	*fakeapi.Request
	watches bool
}

// String returns the verb and the object: "create secrets default/web".
func (r sent) String() string {
	verb, name := string(r.Verb), r.Name
	if r.watches {
		verb = "watch"
	}
	if m, ok := r.Object.(metav1.Object); ok && name == "" {
		if name = m.GetName(); name == "" {
			name = m.GetGenerateName() + "*"
		}
	}
	of := r.Kind.Resource
	if r.Subresource != "" {
		of += "/" + r.Subresource
	}
	at := strings.Trim(r.Namespace+"/"+name, "/")
	return strings.Join(strings.Fields(verb+" "+of+" "+at+" "+scopeOf(&fakeapi.Request{List: r.List})), " ")
}

// digest returns a digest of the whole request. Unlike [Call.content], it includes resource versions.
func (r sent) digest() uint64 {
	var h sim.Hash
	h.String(string(r.Verb))
	h.Bool(r.watches)
	h.String(r.Kind.GVK.Group)
	h.String(r.Kind.GVK.Version)
	h.String(r.Kind.GVK.Kind)
	h.String(r.Subresource)
	h.String(r.Namespace)
	h.String(r.Name)
	h.String(r.User)
	h.String(r.UserAgent)
	digestObject(r.Object, &h)
	if r.Verb == fakeapi.Patch {
		h.String(string(r.PatchType))
		digestValue(tree(r.Patch, r.PatchType), &h)
	}
	for _, o := range r.options() {
		h.Word(sim.HashBytes(encode(o)))
	}
	return uint64(h)
}

func (r sent) options() []runtime.Object {
	switch r.Verb {
	case fakeapi.Create:
		return []runtime.Object{&r.Create}
	case fakeapi.Update:
		return []runtime.Object{&r.Update}
	case fakeapi.Patch:
		return []runtime.Object{&r.PatchO}
	case fakeapi.Delete:
		return []runtime.Object{&r.Delete}
	case fakeapi.DeleteCollection:
		return []runtime.Object{&r.Delete, &r.List}
	}
	if r.watches && r.List.TimeoutSeconds != nil {
		list := r.List
		list.TimeoutSeconds = nil // client-go chooses this timeout at random, and the host ignores it
		return []runtime.Object{&list}
	}
	return []runtime.Object{&r.List}
}

// Differences lists the fields that differ: first fields of the object or patch, then fields of the options, then
// others.
func (r sent) Differences(other sim.Content) []string {
	o := other.(sent)
	all := append(leaves("", content(r.Object), content(o.Object)),
		leaves("", tree(r.Patch, r.PatchType), tree(o.Patch, o.PatchType))...)
	for i, options := range r.options() {
		all = append(all, leaves("options.", options, o.options()[i])...)
	}
	for _, f := range [...]struct{ name, was, is string }{
		{"version", r.Kind.GVK.GroupVersion().String(), o.Kind.GVK.GroupVersion().String()},
		{"type of the patch", string(r.PatchType), string(o.PatchType)},
		{"user", r.User, o.User}, {"user agent", r.UserAgent, o.UserAgent},
	} {
		all = append(all, leaves(f.name, f.was, f.is)...)
	}
	return all
}

func content(obj runtime.Object) any {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent()
	}
	return obj
}

// leaves describes each field in which two values differ. The parameter at is the prefix of the paths.
func leaves(at string, a, b any) (all []string) {
	for _, l := range objectdiff.Of(a, b) {
		was, is := objectdiff.Shorten(text(l.Was), text(l.Is))
		all = append(all, fmt.Sprintf("%s: %s then %s", cmp.Or(at+l.Path, "body"), was, is))
	}
	return all
}

// text returns a value as JSON. It writes a []byte in valid UTF-8 as a string, not as base64.
func text(v reflect.Value) string {
	if v.IsValid() && v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 && utf8.Valid(v.Bytes()) {
		v = reflect.ValueOf(string(v.Bytes()))
	}
	return objectdiff.JSON(v)
}

// String returns the method and the path: "GET /apis".
func (q *Query) String() string { return q.Method + " " + q.URI }

func (q *Query) digest() uint64 {
	var h sim.Hash
	h.String(q.Method)
	h.String(q.URI)
	digestObject(q.Object, &h)
	digestValue(tree(q.Body, ""), &h)
	return uint64(h)
}

// Differences lists the fields of the body that differ.
func (q *Query) Differences(other sim.Content) []string {
	o := other.(*Query)
	return append(leaves("", content(q.Object), content(o.Object)), leaves("", tree(q.Body, ""), tree(o.Body, ""))...)
}

// tree decodes a body as JSON, or as YAML for an apply. A body that cannot be decoded is returned as a string.
func tree(body []byte, form types.PatchType) (v any) {
	if len(body) == 0 {
		return nil
	}
	if form == types.ApplyPatchType || form == types.ApplyYAMLPatchType {
		if data, err := yaml.ToJSON(body); err == nil {
			body = data
		}
	}
	if json.Unmarshal(body, &v) != nil {
		return string(body)
	}
	return v
}

// digestObject adds an object, including its resource version.
func digestObject(obj runtime.Object, h *sim.Hash) {
	switch o := obj.(type) {
	case nil:
	case runtime.Unstructured:
		digestValue(o.UnstructuredContent(), h)
	default:
		h.Word(sim.HashBytes(encode(obj)))
	}
}
