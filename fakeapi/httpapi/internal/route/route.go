// Package route finds the resource and the verb of a request in its path and method.
package route

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/internal/resources"
)

// Target is the resource or object that a path names.
type Target struct {
	schema.GroupVersionResource
	Kind        *fakeapi.Kind // nil if the server does not know the resource's kind
	Namespace   string
	Name        string
	Subresource string
	Watch       bool // the path is a deprecated /watch/ path
	GroupKnown  bool // this server or the real server has a resource in the group and version
}

// Parse parses the path /api/VERSION or /apis/GROUP/VERSION, or a path below it. ok is false for other paths. Parse
// does not clean the path.
func Parse(kinds []*fakeapi.Kind, path string) (t Target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if slices.Contains(parts, "") {
		return t, false
	}
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
	case len(parts) >= 3 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if len(parts) > 0 && parts[0] == "watch" {
		t.Watch, parts = true, parts[1:]
	}
	if len(parts) >= 3 && parts[0] == "namespaces" && !namespaceSubresource(parts) {
		t.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 0 && len(parts) <= 3 {
		t.Resource = parts[0]
	}
	t.find(kinds)
	if t.Resource == "" {
		return t, true
	}
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	if len(parts) > 2 {
		t.Subresource = parts[2]
	}
	return t, true
}

func (t *Target) find(kinds []*fakeapi.Kind) {
	for _, k := range kinds {
		if k.GVK.Version == t.Version && k.GVK.Group == t.Group {
			t.GroupKnown = true
			if k.Resource == t.Resource {
				t.Kind = k
			}
		}
	}
	t.GroupKnown = t.GroupKnown || resources.In(t.GroupVersion()) != nil
}

func namespaceSubresource(parts []string) bool {
	return len(parts) == 3 && (parts[2] == "finalize" || parts[2] == "status")
}

// Custom reports whether the path names a custom kind.
func (t *Target) Custom() bool {
	if t.Kind == nil {
		return false
	}
	definition, _ := t.Kind.Definition()
	return definition != nil
}

// Reachable reports whether the namespace in the path fits the kind. The path of a namespaced kind has one, except to
// list all namespaces (for a custom kind, only with GET).
func (t *Target) Reachable(method string) bool {
	if !t.Kind.Namespaced {
		return t.Namespace == ""
	}
	return t.Namespace != "" || t.Name == "" && (method == http.MethodGet || !t.Custom())
}

// Verb returns the API verb of a request, from its method and path.
func (t *Target) Verb(r *http.Request) (fakeapi.Verb, error) {
	all := t.Kind.Namespaced && t.Namespace == ""
	posted := t.Subresource == "eviction" || t.Subresource == "binding" // clients can only create these subresources
	switch {
	case t.Watch && r.Method == http.MethodGet:
		return fakeapi.List, nil
	case t.Name == "" && r.Method == http.MethodGet:
		return fakeapi.List, nil
	case t.Name == "" && r.Method == http.MethodPost && !all:
		return fakeapi.Create, nil
	case t.Name == "" && r.Method == http.MethodDelete && !all && t.deletes():
		return fakeapi.DeleteCollection, nil
	case t.Name == "" || all:
		return "", refusal.Method()
	case posted && r.Method == http.MethodPost:
		return fakeapi.Create, nil
	case posted && t.Kind.Serves(t.Subresource):
		return "", refusal.Method()
	case r.Method == http.MethodGet:
		return fakeapi.Get, nil
	case r.Method == http.MethodPut:
		return fakeapi.Update, nil
	case r.Method == http.MethodPatch:
		return fakeapi.Patch, nil
	case r.Method == http.MethodDelete && t.Subresource == "":
		return fakeapi.Delete, nil
	}
	return "", refusal.Method()
}

// deletes reports whether the kind supports deletecollection. Every custom kind does.
func (t *Target) deletes() bool {
	r := resources.Find(t.GroupVersionResource, "")
	return r == nil || slices.Contains(r.Verbs, "deletecollection")
}

// Watches reports whether a list request is a watch. A watch has a deprecated /watch/ path, or the query parameter
// watch with a value other than "false" and "0".
func (t *Target) Watches(r *http.Request) bool {
	if t.Watch {
		return true
	}
	values, ok := r.URL.Query()["watch"]
	if !ok || len(values) == 0 {
		return false
	}
	switch values[0] {
	case "false", "0":
		return false
	}
	return true
}
