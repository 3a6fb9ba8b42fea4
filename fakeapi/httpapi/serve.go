package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/websocket"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
)

// gzipFrom is the size, in bytes, from which responses are compressed.
const gzipFrom = 128 << 10

// ServeHTTP responds to one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	a := h.respond(r)
	if h.Log != nil {
		defer h.log(r, a, began)
	}
	if a.lost != nil {
		panic(http.ErrAbortHandler) // closes the connection without a response
	}
	a.setWarnings(w.Header())
	a.setRetryAfter(w.Header())
	if a.watch != nil {
		h.stream(w, r, a)
		return
	}
	body, contentType := h.body(a)
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-cache, private")
	zips := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	if len(body) >= gzipFrom && r.Method == http.MethodGet && zips {
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

// stream writes the events of a watch until the watch ends or times out, or the client disconnects or stops reading.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a *answer) {
	s := h.newFeed(a)
	defer s.open.Close()
	w.Header().Set("Content-Type", s.frames.contentType())
	w.Header().Set("Cache-Control", "no-cache, private")
	if wsstream.IsWebSocketRequest(r) {
		websocket.Handler(s.send).ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	control.Flush()
	for s.wait(r.Context()) == nil {
		control.SetWriteDeadline(time.Now().Add(h.patience))
		for {
			for _, part := range s.frame {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
			if ok, _, _, err := s.ready(); !ok || err != nil {
				break
			}
		}
		if control.Flush() != nil {
			return
		}
	}
}

// send writes the events of a watch over WebSocket. Each event is a message: text for JSON, binary for protobuf.
func (s *feed) send(c *websocket.Conn) {
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	defer c.Close()
	go func() {
		wsstream.IgnoreReceives(c, 0)
		cancel()
	}()
	for s.wait(ctx) == nil {
		var message any = string(bytes.Join(s.frame[:], nil))
		if s.frames.format.Type == media.Proto {
			message = bytes.Join(s.frame[:], nil)[frameLength:]
		}
		c.SetWriteDeadline(time.Now().Add(s.h.patience))
		if websocket.Message.Send(c, message) != nil {
			return
		}
	}
}

// Transport connects HTTP clients in the same process to a handler. It executes a request on the caller's goroutine.
// The response body of a watch reads the server's log when the client reads the body.
type Transport struct {
	h    *Handler
	gate Gate // nil if the client has no gate
}

// Transport returns a RoundTripper that executes every request with the handler. It ignores the host in the URL.
func (h *Handler) Transport() *Transport { return &Transport{h: h} }

// RoundTrip executes one request. An error comes from the context, from a gate, or from a fault that drops the
// connection.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var p *passage
	if t.gate != nil {
		p = &passage{gate: t.gate}
		r = r.WithContext(context.WithValue(r.Context(), passageKey{}, p))
	}
	a := t.h.respond(r)
	if p != nil && !p.passed {
		t.gate.Answered(r, p.object)
	}
	if a.lost != nil {
		return nil, a.lost
	}
	var gated *gatedFeed
	if a.watch != nil && a.watch.gated != nil {
		var err error
		if gated, a, err = t.watchGated(r.Context(), a); err != nil {
			return nil, err
		}
	}
	resp := &http.Response{
		Status: strconv.Itoa(a.code) + " " + http.StatusText(a.code), StatusCode: a.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header, 2), Request: r, ContentLength: -1,
	}
	a.setWarnings(resp.Header)
	a.setRetryAfter(resp.Header)
	if gated != nil {
		resp.Header["Content-Type"] = []string{gated.frames.contentType()}
		resp.Body = feedBody{gated, r.Context()}
		return resp, nil
	}
	if a.watch != nil {
		ctx, cancel := context.WithCancel(r.Context())
		feed := t.h.newFeed(a)
		context.AfterFunc(ctx, feed.open.Close)
		resp.Header["Content-Type"] = []string{feed.frames.contentType()}
		resp.Body = &watchBody{feed: feed, ctx: ctx, cancel: cancel}
		return resp, nil
	}
	body, contentType := t.h.body(a)
	if a.code != resp.StatusCode {
		resp.Status, resp.StatusCode = strconv.Itoa(a.code)+" "+http.StatusText(a.code), a.code
	}
	resp.Header["Content-Type"] = []string{contentType}
	resp.ContentLength = int64(len(body))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	return resp, nil
}

type watchBody struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex // serializes calls of Read
	feed *feed
	part int // index of the part of the frame that Read copies next
	err  error
}

// Read blocks until an event arrives, the watch or the context ends, or Close is called.
func (b *watchBody) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		n += b.copy(p[n:])
		switch {
		case n == len(p) && n > 0:
			return n, nil
		case b.err != nil && n == 0:
			return 0, b.err
		case n > 0:
			if ok, _, _, err := b.feed.ready(); !ok {
				return n, nil
			} else if err != nil {
				b.err = err
				return n, nil
			}
		default:
			if b.err = b.feed.wait(b.ctx); b.err != nil {
				return 0, b.err
			}
		}
		b.part = 0
	}
}

func (b *watchBody) copy(p []byte) (n int) {
	for b.part < len(b.feed.frame) {
		part := &b.feed.frame[b.part]
		m := copy(p[n:], *part)
		n += m
		if *part = (*part)[m:]; len(*part) > 0 {
			return n
		}
		b.part++
	}
	return n
}

func (b *watchBody) Close() error {
	b.cancel()
	return nil
}

// Exchange is one entry of the log of HTTP requests, with the same values as in the real server's log.
type Exchange struct {
	Verb      string // LIST, WATCH, PATCH, ...; the HTTP method if the request is not about objects
	URI       string // path and query
	User      string // "" if the token or the impersonation is refused
	UserAgent string
	Code      int
	Took      time.Duration
}

func (h *Handler) log(r *http.Request, a *answer, began time.Time) {
	e := Exchange{Verb: r.Method, URI: r.URL.RequestURI(), UserAgent: r.UserAgent(), Code: a.code,
		Took: time.Since(began)}
	if t, ok := route.Parse(h.served(), r.URL.Path); ok && t.Kind != nil {
		if verb, err := t.Verb(r); err == nil {
			e.Verb = strings.ToUpper(string(verb))
			if verb == fakeapi.List && t.Watches(r) {
				e.Verb = "WATCH"
			}
		}
	}
	if user, err := h.user(r); err == nil {
		e.User = user
		if user == "" {
			e.User = h.userNamed(user).Username
		}
	}
	h.Log(e)
}
