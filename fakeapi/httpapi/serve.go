package httpapi

import (
	"compress/gzip"
	"net/http"
	"strings"
	"time"
)

// gzipFrom is the size from which an answer is compressed, in bytes.
const gzipFrom = 128 << 10

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	a := h.respond(r)
	if h.Log != nil {
		defer h.log(r, a, began)
	}
	if a.lost != nil {
		panic(http.ErrAbortHandler) // the connection is closed, and nothing said
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

// stream writes a watch to a connection until it ends, its client goes or does
// not read, or its time is up.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a *answer) {
	s := h.newFeed(a)
	defer s.open.Close()
	w.Header().Set("Content-Type", s.frames.contentType())
	w.Header().Set("Cache-Control", "no-cache, private")
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
