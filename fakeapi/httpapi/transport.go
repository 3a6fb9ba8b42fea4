package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport connects HTTP clients of the same process to a handler, without a
// connection: a request is executed on the goroutine that makes it, and a
// watch is read from the server's log when its body is read.
type Transport struct {
	h    *Handler
	gate Gate // nil for none
}

// Transport returns a RoundTripper that every request of which is answered by
// the handler, whatever host it names.
func (h *Handler) Transport() *Transport { return &Transport{h: h} }

// RoundTrip executes one request. It fails only when the request's context is
// over.
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

// watchBody is the body of a watch's response.
type watchBody struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex // of readers
	feed *feed
	part int // of the frame: what Read stands at
	err  error
}

// Read blocks until something happened, the request's context is over, the
// body is closed, or the watch has ended.
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

// copy moves what fits of the frame.
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

// Close ends the watch.
func (b *watchBody) Close() error {
	b.cancel()
	return nil
}
