package kubectltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// transport is the handler's own transport; in addition it can end the watches
// that are open, as a server does that closes its connections, and it keeps
// what was answered as not served.
type transport struct {
	http.RoundTripper

	mu      sync.Mutex
	watches []*openWatch // open or ended
	refused []string
	lists   []string // URIs of the collections that were listed
}

// RoundTrip sends one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" {
		resp, err := t.RoundTripper.RoundTrip(r)
		if err == nil {
			t.note(r, resp.StatusCode)
		}
		return resp, err
	}
	w := &openWatch{client: r.Context()}
	w.ctx, w.hangUp = context.WithCancel(r.Context())
	resp, err := t.RoundTripper.RoundTrip(r.WithContext(w.ctx))
	if err != nil {
		w.hangUp()
		return nil, err
	}
	w.ReadCloser, resp.Body = resp.Body, w
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches = append(t.watches, w)
	return resp, nil
}

// hangUp ends the watches that are open.
func (t *transport) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.watches {
		w.hangUp()
	}
	t.watches = nil
}

// note keeps the requests that list and those that are refused by name.
func (t *transport) note(r *http.Request, code int) {
	if strings.HasSuffix(r.URL.Path, "s") && strings.HasPrefix(r.URL.Path, "/api") && r.Method == http.MethodGet &&
		code == http.StatusOK {
		t.mu.Lock()
		t.lists = append(t.lists, r.URL.RequestURI())
		t.mu.Unlock()
	}
	if code != http.StatusNotImplemented && code != http.StatusInternalServerError {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = append(t.refused, fmt.Sprintf("%s %s: %d", r.Method, r.URL.RequestURI(), code))
}

// openWatch is the body of a watch's response.
type openWatch struct {
	io.ReadCloser
	client, ctx context.Context
	hangUp      context.CancelFunc
}

// Read reports the end when it was the server that hung up.
func (w *openWatch) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && w.ctx.Err() != nil && w.client.Err() == nil {
		err = io.EOF
	}
	return n, err
}
