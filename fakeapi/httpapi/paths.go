package httpapi

import (
	"net/http"
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// aboutPaths answers the root, which lists what other paths there are, as index.go of
// k8s.io/apiserver's routes does; nil for any other path. Only those are listed that
// are answered.
func aboutPaths(r *http.Request, kinds []*fakeapi.Kind) *answer {
	if r.URL.Path != "/" && r.URL.Path != "/index.html" {
		return nil
	}
	if !reads(r) {
		return failJSON(refusal.Method())
	}
	paths := []string{"/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/openapi/v2", "/openapi/v3",
		"/readyz", "/version"}
	for _, v := range discovery.Served(kinds) {
		if v.Group != "" {
			paths = append(paths, "/apis/"+v.Group, "/apis/"+v.GroupVersion.String())
		}
	}
	slices.Sort(paths)
	return document(media.Format{Pretty: true}, map[string]any{"paths": slices.Compact(paths)})
}
