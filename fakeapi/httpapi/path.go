package httpapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// target is what a path names.
type target struct {
	gv          schema.GroupVersion
	kind        *fakeapi.Kind
	namespace   string
	name        string
	subresource string
	watch       bool // the old /watch/ paths
	groupKnown  bool // some kind is served in the group and version
}

// parsePath reads a path below /api/v1 or /apis/GROUP/VERSION. ok is false
// when it is not of that form.
func parsePath(kinds []*fakeapi.Kind, path string) (t target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		t.gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) >= 3 && parts[0] == "apis":
		t.gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return t, false
	}
	for _, k := range kinds {
		if k.GVK.GroupVersion() == t.gv {
			t.groupKnown = true
		}
	}
	if len(parts) > 0 && parts[0] == "watch" {
		t.watch, parts = true, parts[1:]
	}
	if len(parts) >= 3 && parts[0] == "namespaces" && !namespaceSubresource(parts) {
		t.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) == 0 || len(parts) > 3 {
		return t, true
	}
	for _, k := range kinds {
		if k.GVK.GroupVersion() == t.gv && k.Resource == parts[0] {
			t.kind = k
		}
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
