// Package route reads what a request is about, from its path and method.
package route

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
)

// Target is what a path names.
type Target struct {
	schema.GroupVersionResource
	Kind        *fakeapi.Kind // nil when the resource is not of a kind the server has
	Namespace   string
	Name        string
	Subresource string
	Watch       bool // the old /watch/ paths
	GroupKnown  bool // some kind is served in the group and version
}

// Parse reads a path below /api/v1 or /apis/GROUP/VERSION. ok is false when it
// is not of that form. A path is taken as it stands: nothing in it is resolved
// or cleaned.
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

// find finds the kind, and whether there is anything in its group and version.
func (t *Target) find(kinds []*fakeapi.Kind) {
	for _, k := range kinds {
		if k.GVK.Version == t.Version && k.GVK.Group == t.Group {
			t.GroupKnown = true
			if k.Resource == t.Resource {
				t.Kind = k
			}
		}
	}
	t.GroupKnown = t.GroupKnown || discovery.Has(t.GroupVersion())
}

// namespaceSubresource tells /namespaces/x/finalize from /namespaces/x/pods.
func namespaceSubresource(parts []string) bool {
	return len(parts) == 3 && (parts[2] == "finalize" || parts[2] == "status")
}

// Custom says whether the path names a kind that was defined here.
func (t *Target) Custom() bool {
	if t.Kind == nil {
		return false
	}
	definition, _ := t.Kind.Definition()
	return definition != nil
}

// Reachable says whether the path fits the kind's scope: one that does not is one that is not
// there. A collection of all namespaces can be read; a built-in kind's exists for other methods too.
func (t *Target) Reachable(method string) bool {
	if !t.Kind.Namespaced {
		return t.Namespace == ""
	}
	return t.Namespace != "" || t.Name == "" && (method == http.MethodGet || !t.Custom())
}
