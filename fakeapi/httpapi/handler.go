// Package httpapi is the API server's wire: HTTP as kube-apiserver speaks it,
// over a [fakeapi.Server]. The same [Handler] serves a port ([Handler] is an
// http.Handler) and clients in the same process ([Handler.Transport]).
package httpapi

import (
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/threelaws/threelaws/fakeapi"
)

// Limits of the wire.
const (
	// maxBody is the largest request body the server reads, in bytes.
	maxBody = 3 << 20
	// gzipFrom is the size from which an answer is compressed, in bytes.
	gzipFrom = 128 << 10
)

// DefaultHistory is how many revisions are kept for watches to start from and
// for slow watchers to catch up with.
const DefaultHistory = 100_000

// Handler serves one [fakeapi.Server]. It may be used by several goroutines;
// requests are executed one at a time.
type Handler struct {
	// Address is what discovery gives as the server's address; empty for the
	// host that the client asked.
	Address string
	// Version is the answer to /version.
	Version version.Info
	// History is how many revisions are kept at least; older ones are
	// forgotten and a watcher that has not read them is sent 410 Expired. 0
	// keeps all.
	History uint64
	// Execute, if set, executes requests in the server's stead, under the
	// handler's lock: a world's host, which has to know of every change.
	Execute func(req *fakeapi.Request) fakeapi.Response

	mu      sync.Mutex
	server  *fakeapi.Server
	now     func() time.Time
	changed chan struct{} // closed at the next write
	kept    uint64        // revisions up to this are forgotten
	closed  chan struct{}
	closing sync.Once
	encoded encodings

	patience time.Duration // with a connection that is not read
	docs     documents
}

// New returns a handler for a server, which from then on is the handler's:
// use [Handler.With] to touch it. now is the time of day of each request.
func New(server *fakeapi.Server, now func() time.Time) *Handler {
	return &Handler{server: server, now: now, History: DefaultHistory, Version: defaultVersion(),
		changed: make(chan struct{}), closed: make(chan struct{}), patience: writeTimeout}
}

// Close ends all watches, now and to come. Other requests are still answered.
func (h *Handler) Close() { h.closing.Do(func() { close(h.closed) }) }

// With calls f with the server while no request is executed. Watches are
// woken afterwards.
func (h *Handler) With(f func(s *fakeapi.Server)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	f(h.server)
	h.wake(before)
}

// wake tells the watches that something changed and forgets old revisions, in
// bulk, so that forgetting costs each write little.
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
	}
}

// do executes one request.
func (h *Handler) do(req *fakeapi.Request) (resp fakeapi.Response) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	if h.Execute != nil {
		resp = h.Execute(req)
	} else {
		resp, _ = h.server.Do(h.now(), req)
	}
	h.wake(before)
	return resp
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := h.answer(r)
	setWarnings(w.Header(), a)
	if a.streams() {
		h.stream(w, r, a)
		return
	}
	body, contentType := h.body(a)
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-cache, private")
	if len(body) >= gzipFrom && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		header.Add("Vary", "Accept-Encoding")
		w.WriteHeader(a.code)
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		z.Write(body)
		z.Close()
		return
	}
	w.WriteHeader(a.code)
	if r.Method != http.MethodHead {
		w.Write(body)
	}
}

// body encodes an answer. What cannot be encoded, or not in the form that was
// asked for, is answered with the error.
func (h *Handler) body(a *answer) ([]byte, string) {
	body, contentType, err := h.encode(a)
	if err != nil {
		*a = *fail(a.format, err)
		if body, contentType, err = h.encode(a); err != nil {
			panic("httpapi: a Status does not encode: " + err.Error())
		}
	}
	return body, contentType
}

func setWarnings(header http.Header, a *answer) {
	for _, text := range a.warnings {
		header.Add("Warning", warningHeader(text))
	}
}
