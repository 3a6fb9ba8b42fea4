// Package httpapi is the HTTP API of kube-apiserver over a [fakeapi.Server]. The same [Handler] serves a port
// ([Handler] is an http.Handler) and clients in the same process ([Handler.Transport]). It keeps 100,000
// revisions by default, and forgets older ones.
//
// A request passes the files in this order. serve.go accepts it, and respond.go determines its kind and verb.
// handler.go makes a [fakeapi.Request] and executes it. encode.go encodes the body of the response, and feed.go the
// frames of a watch.
//
// client-go's own clients and informers work over it, in the same process:
//
//	h := httpapi.New(fakeapi.New(fakeapi.Options{}), time.Now)
//	defer h.Close()
//	config := &rest.Config{Host: "http://fake", Transport: h.Transport()}
//	client, err := kubernetes.NewForConfig(config)
//
// [Handler.Load] stores the objects of a YAML file. If an object is refused, it returns a [LoadError]. [Handler.Dump]
// writes all objects. docs/evidence/fidelity.md lists what is served, and how it was verified.
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
)

// defaultHistory is the number of revisions kept for watches.
const defaultHistory = 100_000

// writeTimeout is how long a client may leave data unread before the connection is closed.
const writeTimeout = 10 * time.Second

// Handler serves one [fakeapi.Server]. It is safe for concurrent use and executes one request at a time.
type Handler struct {
	// Address is the server's address in discovery; "" for the host of the request.
	Address string
	// Version is the answer to /version.
	Version version.Info
	// History is the smallest number of revisions to keep; 0 keeps all. A watcher that is further behind gets 410
	// Expired.
	History uint64
	// Execute, if set, replaces the server's Do. It is called under the handler's lock.
	Execute func(req *fakeapi.Request) fakeapi.Response

	// Faults, if set, apply to requests about objects and to watches, except those through a [Gate].
	Faults *clientfault.List
	// Fail, if set, replaces Execute for a request that a fault makes fail. told is the response to return. If commits
	// is set, Fail executes the request first, and returns the server's own refusal if there is one. Fail is called
	// under the handler's lock.
	Fail func(req *fakeapi.Request, told fakeapi.Response, commits bool) fakeapi.Response

	// Created, if set, is called under the lock with each created object. It returns a warning, or "".
	Created func(req *fakeapi.Request, object metav1.Object) (warning string)
	// Log, if set, is called after each request over a connection. Calls may be concurrent.
	Log func(Exchange)

	mu      sync.Mutex
	server  *fakeapi.Server
	now     func() time.Time
	changed chan struct{} // closed at the next write
	kept    uint64        // revisions up to this one are forgotten
	closed  chan struct{}
	closing sync.Once
	encoded codec.Cache

	patience   time.Duration // how long the client may leave data unread
	docs       openapi.Documents
	aggregated discovery.Documents
}

// New returns a handler, which then owns the server; [Handler.With] gives access to it. now returns the time of each
// request.
func New(server *fakeapi.Server, now func() time.Time) *Handler {
	return &Handler{server: server, now: now, History: defaultHistory, Version: defaultVersion(),
		changed: make(chan struct{}), closed: make(chan struct{}), patience: writeTimeout}
}

func defaultVersion() version.Info {
	return version.Info{
		Major: "1", Minor: "36", EmulationMajor: "1", EmulationMinor: "36",
		MinCompatibilityMajor: "1", MinCompatibilityMinor: "35",
		GitVersion: "v1.36.3", GitCommit: "threelaws", GitTreeState: "clean", BuildDate: "2026-01-01T00:00:00Z",
		GoVersion: goruntime.Version(), Compiler: goruntime.Compiler, Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
	}
}

// Close ends all current and future watches. Other requests are still answered.
func (h *Handler) Close() { h.closing.Do(func() { close(h.closed) }) }

// With calls f while no request is executed, and wakes watches afterwards.
func (h *Handler) With(f func(s *fakeapi.Server)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	f(h.server)
	h.wake(before)
}

// wake notifies the watches of changes. It forgets old revisions in batches, so that each write costs little.
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

// doUnder executes one request under a fault; s is nil for no fault.
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

// readRequest reads the query and body of an HTTP request. A refused request may have warnings too.
func readRequest(
	r *http.Request, t *route.Target, verb fakeapi.Verb,
) (req *fakeapi.Request, warnings []string, err error) {
	req = &fakeapi.Request{Verb: verb, Kind: t.Kind, Subresource: t.Subresource, Namespace: t.Namespace, Name: t.Name,
		UserAgent: r.UserAgent()}
	warnings = deprecation(t.Kind)
	if verb == fakeapi.Get {
		if err := codec.Export(r); err != nil {
			return nil, warnings, err
		}
	}
	if verb == fakeapi.Get || verb == fakeapi.List {
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
			req.PatchType, err = patchType(r)
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

func patchType(r *http.Request) (types.PatchType, error) {
	switch t := types.PatchType(media.ContentType(r)); t {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType:
		return t, nil
	}
	return "", refusal.PatchFormat()
}

// deprecation warns about a deprecated version of a kind.
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

// CallWebhooks makes the server call the webhooks of CRDs and configurations over the network, without holding a lock.
// Call it before the first request. [Handler.Close] ends the calls.
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

// Webhook is the address of a webhook.
type Webhook struct {
	URL        string // for a service: https://NAME.NAMESPACE.svc:PORT/PATH
	Service    bool
	Unresolved error  // why a service has no ready endpoint
	CABundle   []byte // PEM; nil for the system's roots
}

// CallWebhooksVia is like [Handler.CallWebhooks], but sends the calls through the given transports, for a server behind
// a gate.
func (h *Handler) CallWebhooksVia(means func(Webhook) http.RoundTripper) {
	client := outbound.Via(func(to *webhook.Endpoint) http.RoundTripper {
		return means(Webhook{to.URL, to.Service, to.Unresolved, to.CABundle})
	})
	h.With(func(s *fakeapi.Server) {
		s.SetCaller(&webhook.Caller{Call: client.Call, Release: func() {}, Retake: func() {}})
	})
}
