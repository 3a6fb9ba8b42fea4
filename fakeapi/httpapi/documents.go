package httpapi

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// aboutServer answers the paths about the server itself; nil for any other.
func (h *Handler) aboutServer(r *http.Request) *answer {
	path := strings.TrimSuffix(r.URL.Path, "/")
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case name == "healthz" || name == "readyz" || name == "livez":
		if !reads(r) {
			return failJSON(refusal.Method())
		}
		return &answer{code: http.StatusOK, text: health(r, name)}
	case path == "/version":
		return document(media.Format{Pretty: true}, &h.Version)
	}
	return nil
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// health is the answer to a health check; with verbose it says what was checked.
func health(r *http.Request, name string) string {
	if _, verbose := r.URL.Query()["verbose"]; verbose {
		return "[+]ping ok\n" + name + " check passed\n"
	}
	return "ok"
}

// The media types of OpenAPI documents; kubectl asks for version 2 in protobuf.
const (
	v2Proto   = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	v2ProtoAt = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

// aboutSchemas answers the paths of OpenAPI; nil for any other.
func (h *Handler) aboutSchemas(r *http.Request, kinds []*fakeapi.Kind) *answer {
	path := strings.TrimSuffix(r.URL.Path, "/")
	below, v3 := strings.CutPrefix(path, "/openapi/v3")
	if path != "/openapi/v2" && (!v3 || below != "" && below[0] != '/') {
		return nil
	}
	f := media.Format{Type: media.JSON}
	if !reads(r) {
		return fail(f, refusal.Method())
	}
	accept := r.Header.Get("Accept")
	switch {
	case v3 && below == "":
		return document(f, h.docs.Index(kinds))
	case v3:
		if text := h.docs.Version3(kinds, below[1:]); text != nil {
			return &answer{code: http.StatusOK, raw: text, format: f}
		}
		return notFoundText()
	case !strings.Contains(accept, v2Proto) && !strings.Contains(accept, v2ProtoAt):
		return &answer{code: http.StatusOK, raw: h.docs.Version2(kinds), format: f}
	}
	binary, err := h.docs.Version2Proto(kinds)
	if err != nil {
		return fail(f, err)
	}
	return &answer{code: http.StatusOK, binary: binary, contentType: v2Proto}
}

// aboutResources answers the paths of discovery; nil for any other.
func (h *Handler) aboutResources(r *http.Request, kinds []*fakeapi.Kind) *answer {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	core := parts[0] == "api" && len(parts) <= 2
	if !core && (parts[0] != "apis" || len(parts) > 3) {
		return nil
	}
	f, ok := media.Negotiate(r, media.Discovery)
	if !ok {
		return fail(media.Format{}, refusal.NotAcceptable())
	}
	if len(parts) == 1 && f.As != "" {
		contentType := media.JSON + ";g=" + f.Group + ";v=" + f.Version + ";as=" + f.As
		text := h.aggregated.Aggregated(kinds, core, schema.GroupVersion{Group: f.Group, Version: f.Version})
		f.Type = media.JSON
		return &answer{code: http.StatusOK, raw: text, format: f.Plain(), contentType: contentType}
	}
	all := discovery.Served(kinds)
	switch {
	case !reads(r):
		return fail(f, refusal.Method())
	case core && len(parts) == 1:
		address := metav1.ServerAddressByClientCIDR{ClientCIDR: "0.0.0.0/0", ServerAddress: h.address(r)}
		return document(f, map[string]any{"kind": "APIVersions", "versions": []string{"v1"},
			"serverAddressByClientCIDRs": []metav1.ServerAddressByClientCIDR{address}})
	case core:
		return resourceList(f, all, schema.GroupVersion{Version: parts[1]})
	case len(parts) == 1:
		return document(f, discovery.Groups(all))
	case len(parts) == 2:
		if g := discovery.Group(all, parts[1]); g != nil {
			return document(f, g)
		}
		return notFoundText()
	}
	return resourceList(f, all, schema.GroupVersion{Group: parts[1], Version: parts[2]})
}

func resourceList(f media.Format, all []discovery.GroupVersion, gv schema.GroupVersion) *answer {
	if list := discovery.Resources(all, gv); list != nil {
		return document(f, list)
	}
	return fail(f, refusal.NotFound())
}

// address is the address the server says it has.
func (h *Handler) address(r *http.Request) string {
	if h.Address != "" {
		return h.Address
	}
	return r.Host
}
