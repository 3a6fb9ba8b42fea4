package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/table"
	"github.com/threelaws/threelaws/fakeapi/internal/resources"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

func (h *Handler) aboutServer(r *http.Request, _ []*fakeapi.Kind) *answer {
	path := strings.TrimSuffix(r.URL.Path, "/")
	name, check, one := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case name == "healthz" || name == "readyz" || name == "livez": // with any method, like the real server
		if one && check != "ping" && check != "log" && check != "etcd" {
			return notFoundText()
		}
		return &answer{code: http.StatusOK, text: health(r, name)}
	case path == "/version" && !reads(r):
		return failJSON(refusal.Method())
	case path == "/version":
		return document(media.Format{Pretty: true}, &h.Version)
	case r.URL.Path == "/metrics": // with any method too
		return &answer{code: http.StatusOK, binary: metrics(), contentType: metricsType}
	}
	return nil
}

const metricsType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// metrics returns the only metrics that clients are known to read: the feature gates, which component-base records in
// metrics/prometheus/feature. The gates are those of the packages of k8s.io/kubernetes in this program.
func metrics() []byte {
	gates := utilfeature.DefaultMutableFeatureGate
	var b bytes.Buffer
	b.WriteString("# HELP kubernetes_feature_enabled [BETA] This metric records the data about the stage and enablement of a " +
		"k8s feature.\n# TYPE kubernetes_feature_enabled gauge\n")
	all := gates.GetAll()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		enabled := 0
		if gates.Enabled(name) {
			enabled = 1
		}
		fmt.Fprintf(&b, "kubernetes_feature_enabled{name=%q,stage=%q} %d\n", name, all[name].PreRelease, enabled)
	}
	return b.Bytes()
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// health returns the response body for a health check. With the query parameter verbose, the body lists the checks.
func health(r *http.Request, name string) string {
	if _, verbose := r.URL.Query()["verbose"]; verbose {
		return "[+]ping ok\n" + name + " check passed\n"
	}
	return "ok"
}

// The media types of OpenAPI documents; kubectl asks for version 2 in protobuf.
const (
	v3Proto   = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	v3ProtoAt = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
	v2Proto   = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	v2ProtoAt = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

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
	case v3 && (strings.Contains(accept, v3Proto) || strings.Contains(accept, v3ProtoAt)):
		binary, err := h.docs.Version3Proto(kinds, below[1:])
		switch {
		case err != nil:
			return fail(f, err)
		case binary == nil:
			return notFoundText()
		}
		return &answer{code: http.StatusOK, binary: binary, contentType: v3Proto}
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

func (h *Handler) aboutResources(r *http.Request, kinds []*fakeapi.Kind) *answer {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	core := parts[0] == "api" && len(parts) <= 2
	if !core && (parts[0] != "apis" || len(parts) > 3) {
		return nil
	}
	f, ok := media.Negotiate(r, media.Discovery)
	switch {
	case !ok && f.Type == "" && (core || len(parts) == 3):
		return failJSON(refusal.NotAcceptable())
	case !ok:
		return failJSON(refusal.Negotiation())
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
		address := metav1.ServerAddressByClientCIDR{ClientCIDR: "0.0.0.0/0", ServerAddress: cmp.Or(h.Address, r.Host)}
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

func resourceList(f media.Format, all []resources.GroupVersion, gv schema.GroupVersion) *answer {
	if list := discovery.Resources(all, gv); list != nil {
		return document(f, list)
	}
	builtin := func(v resources.GroupVersion) bool { return v.Group == gv.Group }
	if !slices.ContainsFunc(resources.All, builtin) {
		return notFoundText()
	}
	return fail(f, refusal.NotFound())
}

// podLog returns the response to a request for the log of a container; nil for other paths. The log is always empty.
// The checks equal LogLocation in k8s.io/kubernetes/pkg/registry/core/pod.
func (h *Handler) podLog(r *http.Request, t *route.Target, f media.Format) *answer {
	switch {
	case t.Kind == nil || t.Kind.GVK.Kind != "Pod" || t.Custom() || t.Subresource != "log":
		return nil
	case r.Method != http.MethodGet:
		return fail(f, refusal.Method())
	}
	asked, errs, err := validation.LogOptions(r.URL.Query())
	if err != nil {
		return fail(f, apierrors.NewBadRequest(err.Error()))
	}
	if len(errs) > 0 {
		return fail(f, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, t.Name, errs))
	}
	resp := h.do(&fakeapi.Request{Verb: fakeapi.Get, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name})
	if resp.Err != nil {
		return fail(f, resp.Err)
	}
	if err := hasContainer(resp.Object.(*corev1.Pod), asked.Container); err != nil {
		return fail(f, err)
	}
	return &answer{code: http.StatusOK, binary: []byte{}, contentType: "text/plain"}
}

// hasContainer returns an error if the Pod has no container with this name. "" is allowed for a Pod with one container.
func hasContainer(p *corev1.Pod, name string) error {
	var names []string
	for i := range p.Spec.InitContainers {
		names = append(names, p.Spec.InitContainers[i].Name)
	}
	for i := range p.Spec.Containers {
		names = append(names, p.Spec.Containers[i].Name)
	}
	for i := range p.Spec.EphemeralContainers {
		names = append(names, p.Spec.EphemeralContainers[i].Name)
	}
	switch {
	case slices.Contains(names, name):
	case name != "":
		return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, p.Name))
	case len(p.Spec.Containers) > 1:
		return apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s",
			p.Name, names))
	}
	return nil
}

// respondUnmodelled responds to requests for resources that only the real server serves. A list is empty. For a
// subresource, the response is an error that names it.
func (h *Handler) respondUnmodelled(
	r *http.Request, t *route.Target, f media.Format, known *resources.Resource,
) *answer {
	switch {
	case t.Subresource != "":
		what := t.Resource
		if t.Group != "" {
			what += "." + t.Group
		}
		return fail(f, refusal.NotModelled(what+"/"+t.Subresource))
	case r.Method != http.MethodGet || t.Watches(r):
		return fail(f, refusal.Method())
	case t.Name != "":
		return fail(f, apierrors.NewNotFound(t.GroupResource(), t.Name))
	}
	return h.emptyList(f, known)
}

func (h *Handler) emptyList(f media.Format, known *resources.Resource) *answer {
	none := &fakeapi.Response{Version: h.revision()}
	switch f.As {
	case media.AsTable:
		return &answer{code: http.StatusOK, object: table.Empty(none, f), format: f.Plain()}
	case media.AsPartial:
		return fail(f, refusal.NotList(f.As, schema.GroupVersionKind{}, true, false))
	case media.AsPartialList:
		return &answer{code: http.StatusOK, object: table.PartialList(none, f), format: f.Plain()}
	}
	// an empty list has the same fields for all kinds
	list := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{}}
	list.SetGroupVersionKind(known.Kind.GroupVersion().WithKind(known.Kind.Kind + "List"))
	list.ResourceVersion = strconv.FormatUint(none.Version, 10)
	return &answer{code: http.StatusOK, object: list, format: f}
}

// mostWarned is the maximum total length of all warnings, in runes. If the total is higher, each warning is cut to 256
// runes (WithWarningRecorder of k8s.io/apiserver).
const (
	mostWarned    = 4096
	mostOfWarning = 256
)

// setWarnings adds warnings to the header. It drops empty, repeated and invalid warnings, and stops after 4096 runes.
func (a *answer) setWarnings(header http.Header) {
	texts, seen, total := []string(nil), map[string]bool{}, 0
	for _, text := range a.warnings {
		if _, err := utilnet.NewWarningHeader(299, "-", text); err != nil || text == "" || seen[text] {
			continue
		}
		seen[text] = true
		texts, total = append(texts, text), total+utf8.RuneCountInString(text)
	}
	for written, i := 0, 0; i < len(texts) && (total <= mostWarned || written < mostWarned); i++ {
		text := texts[i]
		if runes := []rune(text); total > mostWarned && len(runes) > mostOfWarning {
			text = string(runes[:mostOfWarning])
		}
		line, _ := utilnet.NewWarningHeader(299, "-", text)
		header.Add("Warning", line)
		written += utf8.RuneCountInString(text)
	}
}
