package httpapi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// target is what a path names.
type target struct {
	gv          schema.GroupVersion
	resource    string
	kind        *fakeapi.Kind // nil when the resource is not of a kind the server has
	namespace   string
	name        string
	subresource string
	watch       bool // the old /watch/ paths
	groupKnown  bool // some kind is served in the group and version
}

// parsePath reads a path below /api/v1 or /apis/GROUP/VERSION. ok is false
// when it is not of that form. A path is taken as it stands: nothing in it is
// resolved or cleaned.
func parsePath(kinds []*fakeapi.Kind, path string) (t target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if slices.Contains(parts, "") {
		return t, false
	}
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		t.gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) >= 3 && parts[0] == "apis":
		t.gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return t, false
	}
	if len(parts) > 0 && parts[0] == "watch" {
		t.watch, parts = true, parts[1:]
	}
	if len(parts) >= 3 && parts[0] == "namespaces" && !namespaceSubresource(parts) {
		t.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 0 && len(parts) <= 3 {
		t.resource = parts[0]
	}
	for _, k := range kinds {
		if k.GVK.Version == t.gv.Version && k.GVK.Group == t.gv.Group {
			t.groupKnown = true
			if k.Resource == t.resource {
				t.kind = k
			}
		}
	}
	for i := range real {
		t.groupKnown = t.groupKnown || real[i].gv == t.gv
	}
	if t.resource == "" {
		return t, true
	}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	return t, true
}

// namespaceSubresource tells /namespaces/x/finalize from /namespaces/x/pods.
func namespaceSubresource(parts []string) bool {
	return len(parts) == 3 && (parts[2] == "finalize" || parts[2] == "status")
}
