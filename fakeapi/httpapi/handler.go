// Package httpapi is the wire of a [fakeapi.Server]: it decodes HTTP requests,
// executes them and encodes the answers as kube-apiserver v1.36 does.
package httpapi

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// maxBody is the largest request body the server reads, in bytes.
const maxBody = 3 << 20

// Handler serves one [fakeapi.Server]. It may be used by several goroutines.
type Handler struct {
	mu      sync.Mutex
	server  *fakeapi.Server
	now     func() time.Time
	changed chan struct{} // closed at the next write
}

// New returns a handler for a server, which from then on is the handler's:
// use [Handler.With] to touch it. now is the time of day of each request.
func New(server *fakeapi.Server, now func() time.Time) *Handler {
	return &Handler{server: server, now: now, changed: make(chan struct{})}
}

// With calls f with the server while no request is executed. Watches are
// woken afterwards.
func (h *Handler) With(f func(s *fakeapi.Server)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	f(h.server)
	h.wake(before)
}

func (h *Handler) wake(before uint64) {
	if h.server.Version() != before {
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// do executes one request.
func (h *Handler) do(req *fakeapi.Request) fakeapi.Response {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.server.Version()
	resp, _ := h.server.Do(h.now(), req)
	h.wake(before)
	return resp
}

// answer is what one HTTP request is answered with: an object, or text, or a
// watch.
type answer struct {
	code     int
	warnings []string
	object   runtime.Object
	text     string
	raw      []byte // JSON, instead of an object
	format   format
	watch    *fakeapi.Watch
	timeout  time.Duration // of a watch; 0 is the server's default
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := h.answer(r)
	for _, text := range a.warnings {
		w.Header().Add("Warning", warningHeader(text))
	}
	if a.watch != nil {
		h.stream(w, r, a)
		return
	}
	body, contentType, err := a.encode()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(a.code)
	w.Write(body)
}
