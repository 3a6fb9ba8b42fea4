// Package httpapi serves the HTTP API of kube-apiserver for a [fakeapi.Server]. A [Handler] serves a port (it is an
// http.Handler) and clients in the same process ([Handler.Transport]). By default a Handler keeps 100,000 revisions.
//
// A request passes the files in this order. serve.go accepts it. respond.go determines its kind and verb. handler.go
// makes a [fakeapi.Request] and executes it. encode.go encodes the response. feed.go sends the events of a watch.
//
// client-go's own clients and informers work with a Handler in the same process:
//
//	h := httpapi.New(fakeapi.New(fakeapi.Options{}), time.Now)
//	defer h.Close()
//	config := &rest.Config{Host: "http://fake", Transport: h.Transport()}
//	client, err := kubernetes.NewForConfig(config)
//
// [Handler.Load] stores the objects of a YAML file, and returns a [LoadError] for a refused object. [Handler.Dump]
// writes all objects. docs/evidence/fidelity.md lists what is served, and how this was verified.
package httpapi

import (
	"context"
	"fmt"
	"net/http"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/openapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/outbound"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
	"github.com/threelaws/threelaws/internal/clientfault"
	"github.com/threelaws/threelaws/internal/kubernetes"
)

// defaultHistory is the default of [Handler].History.
const defaultHistory = 100_000

// writeTimeout is the time after which the connection is closed if the client of a watch does not read.
const writeTimeout = 10 * time.Second

// Handler serves one [fakeapi.Server]. It is safe for concurrent use and executes one request at a time.
type Handler struct {
	// Address is the server's address in discovery documents; "" stands for the host of each request.
	Address string
	// Version is the answer to /version.
	Version version.Info
	// History is the minimum number of revisions to keep; 0 keeps all. A watch from an older revision gets 410 Expired.
	History uint64
	// Execute, if set, replaces the server's Do. It is called with the handler's lock held.
	Execute func(req *fakeapi.Request) fakeapi.Response

	// Faults, if set, applies to requests about objects and to watches, except those through a [Gate].
	Faults *clientfault.List
	// Fail, if set, replaces Execute for a request that fails because of a fault. It must return failed. If commits is
	// set, it must first execute the request. If the server refuses the request, Fail must return the server's
	// response. The handler's lock is held.
	Fail func(req *fakeapi.Request, failed fakeapi.Response, commits bool) fakeapi.Response

	// Created, if set, is called with each created object, with the lock held. It returns a warning, or "".
	Created func(req *fakeapi.Request, object metav1.Object) (warning string)
	// Log, if set, is called after each request over a connection. Calls may be concurrent.
	Log func(Exchange)

	mu      sync.Mutex
	server  *fakeapi.Server
	now     func() time.Time
	changed chan struct{} // closed at the next write
	kept    uint64        // revisions up to this one are compacted
	closed  chan struct{}
	closing sync.Once
	encoded codec.Cache

	patience   time.Duration // equal to writeTimeout, except in tests
	docs       openapi.Documents
	aggregated discovery.Documents
}

// New returns a handler for a server. Use the server only through the handler and [Handler.With] afterwards. The
// parameter now is called for the time of each request.
func New(server *fakeapi.Server, now func() time.Time) *Handler {
	return &Handler{server: server, now: now, History: defaultHistory, Version: defaultVersion(),
		changed: make(chan struct{}), closed: make(chan struct{}), patience: writeTimeout}
}

func defaultVersion() version.Info {
	return version.Info{
		Major: kubernetes.Major, Minor: kubernetes.Minor, EmulationMajor: kubernetes.Major, EmulationMinor: kubernetes.Minor,
		MinCompatibilityMajor: kubernetes.Major, MinCompatibilityMinor: kubernetes.MinCompatibleMinor,
		GitVersion: kubernetes.Version, GitCommit: "threelaws", GitTreeState: "clean", BuildDate: "2026-01-01T00:00:00Z",
		GoVersion: goruntime.Version(), Compiler: goruntime.Compiler, Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
	}
}

// Close ends all current and later watches. Other requests are still answered.
func (h *Handler) Close() { h.closing.Do(func() { close(h.closed) }) }

// With calls f while no request is being executed. Watches receive the changes that f makes.
func (h *Handler) With(f func(s *fakeapi.Server)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	f(h.server)
	h.wake(before)
}

// wake notifies the watches of changes. If more than 2*History revisions are kept, it keeps only the last History.
func (h *Handler) wake(before uint64) {
	now := h.server.Version()
	if now == before {
		return
	}
	close(h.changed)
	h.changed = make(chan struct{})
	if h.History > 0 && now > h.kept+2*h.History {
		h.kept = now - h.History
		h.server.Compact(h.kept)
		h.server.ForgetNames(h.kept)
	}
}

func (h *Handler) do(req *fakeapi.Request) fakeapi.Response { return h.doUnder(nil, req) }

// doUnder executes one request. s is the fault that strikes it, or nil.
func (h *Handler) doUnder(s *clientfault.Strike, req *fakeapi.Request) (resp fakeapi.Response) {
	defer resp.Finish()
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	switch {
	case s != nil && s.Err != nil:
		resp = h.fail(req, s)
	case h.Execute != nil:
		resp = h.Execute(req)
	default:
		resp, _ = h.server.Do(h.now(), req)
	}
	h.wake(before)
	return resp
}

func (h *Handler) served() []*fakeapi.Kind {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server.Served()
}

func (h *Handler) revision() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server.Version()
}

// readRequest reads the query and body of an HTTP request. It may return warnings together with an error.
func readRequest(
	r *http.Request, t *route.Target, verb fakeapi.Verb,
) (req *fakeapi.Request, warnings []string, err error) {
	req = &fakeapi.Request{Verb: verb, Kind: t.Kind, Subresource: t.Subresource, Namespace: t.Namespace, Name: t.Name,
		UserAgent: r.UserAgent()}
	warnings = deprecation(t.Kind)
	if verb == fakeapi.Get {
		req.List.ResourceVersion = r.URL.Query().Get("resourceVersion") // a get has no other option
		return req, warnings, codec.Export(r)
	}
	if verb == fakeapi.List {
		return req, warnings, codec.ListOptions(r, &req.List)
	}
	body, err := codec.Body(r)
	if err != nil {
		return nil, warnings, err
	}
	bodyKind := t.Kind.BodyKind(t.Subresource)
	switch verb {
	case fakeapi.Create, fakeapi.Update:
		options, strict := runtime.Object(&req.Create), &req.Create.FieldValidation
		if verb == fakeapi.Update {
			options, strict = &req.Update, &req.Update.FieldValidation
		}
		if err = codec.WriteOptions(r, options); err == nil {
			var ofBody []string
			req.Object, ofBody, err = codec.Decode(r, bodyKind, body, *strict)
			warnings = append(warnings, ofBody...)
		}
	case fakeapi.Patch:
		if err = codec.WriteOptions(r, &req.PatchO); err == nil {
			req.Patch = body
			req.PatchType, err = patchType(r, t.Custom())
		}
	case fakeapi.DeleteCollection:
		if err = codec.ListOptions(r, &req.List); err == nil {
			req.Delete, err = codec.DeleteOptions(r, body)
		}
	case fakeapi.Delete:
		req.Delete, err = codec.DeleteOptions(r, body)
	}
	return req, warnings, err
}

func patchType(r *http.Request, custom bool) (types.PatchType, error) {
	switch t := types.PatchType(media.ContentType(r)); t {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType:
		return t, nil
	}
	return "", refusal.PatchFormat(custom)
}

// deprecation returns a warning if the version of a kind is deprecated.
func deprecation(k *fakeapi.Kind) []string {
	d, v := k.Definition()
	switch {
	case k.Deprecation() != "":
		return []string{k.Deprecation()}
	case d == nil || !v.Deprecated:
		return nil
	case v.DeprecationWarning != nil:
		return []string{*v.DeprecationWarning}
	}
	var better []string
	for _, other := range d.Spec.Versions {
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			better = append(better, other.Name)
		}
	}
	slices.SortFunc(better, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	text := fmt.Sprintf("%s/%s %s is deprecated", d.Spec.Group, v.Name, d.Spec.Names.Kind)
	if len(better) > 0 {
		text += fmt.Sprintf("; use %s/%s %s", d.Spec.Group, better[0], d.Spec.Names.Kind)
	}
	return []string{text}
}

func aboutPaths(r *http.Request, kinds []*fakeapi.Kind) *answer {
	if r.URL.Path != "/" && r.URL.Path != "/index.html" {
		return nil
	}
	if !reads(r) {
		return failJSON(refusal.Method())
	}
	paths := []string{"/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/metrics", "/openapi/v2",
		"/openapi/v3", "/readyz", "/version"}
	for _, v := range discovery.Served(kinds) {
		if v.Group != "" {
			paths = append(paths, "/apis/"+v.Group, "/apis/"+v.GroupVersion.String())
		}
	}
	slices.Sort(paths)
	return document(media.Format{Pretty: true}, map[string]any{"paths": slices.Compact(paths)})
}

// CallWebhooks makes the server call the webhooks of CRDs and webhook configurations over the network. The handler is
// not locked during a call. Call CallWebhooks before the first request. [Handler.Close] ends these calls.
func (h *Handler) CallWebhooks() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-h.closed
		cancel()
	}()
	client := outbound.New(ctx)
	h.With(func(s *fakeapi.Server) {
		s.SetCaller(&webhook.Caller{Call: client.Call, Release: h.mu.Unlock, Retake: h.mu.Lock})
	})
}

// Webhook is the address of a webhook, for [Handler.CallWebhooksVia].
type Webhook struct {
	URL        string // for a service: https://NAME.NAMESPACE.svc:PORT/PATH
	Service    bool
	Unresolved error  // why a service has no address; nil if it has one
	CABundle   []byte // PEM certificates; nil for those of the system
}

// CallWebhooksVia is [Handler.CallWebhooks] for a server with a [Gate]. transportTo returns the transport to a webhook.
// The handler stays locked during a call.
func (h *Handler) CallWebhooksVia(transportTo func(Webhook) http.RoundTripper) {
	client := outbound.Via(func(to *webhook.Endpoint) http.RoundTripper {
		return transportTo(Webhook{to.URL, to.Service, to.Unresolved, to.CABundle})
	})
	h.With(func(s *fakeapi.Server) {
		s.SetCaller(&webhook.Caller{Call: client.Call})
	})
}
