package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// defaultTimeout is how long a watch lasts that names no timeout.
const defaultTimeout = 30 * time.Minute

// stream writes a watch until it ends, its client goes or its time is up.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a *answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flusher, _ := w.(http.Flusher)
	if flusher != nil {
		flusher.Flush()
	}
	timeout := a.timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	end := time.NewTimer(timeout)
	defer end.Stop()
	for {
		h.mu.Lock()
		events := a.watch.Next()
		changed := h.changed
		h.mu.Unlock()
		for i := range events {
			frame, err := encodeEvent(&events[i])
			if err != nil {
				return
			}
			if _, err := w.Write(frame); err != nil {
				return
			}
		}
		if len(events) > 0 && flusher != nil {
			flusher.Flush()
		}
		if a.watch.Done() {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-end.C:
			return
		}
	}
}

// encodeEvent is one frame of a watch.
func encodeEvent(ev *watch.Event) ([]byte, error) {
	raw, err := json.Marshal(ev.Object)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"`)
	b.WriteString(string(ev.Type))
	b.WriteString(`","object":`)
	b.Write(raw)
	b.WriteString("}\n")
	return b.Bytes(), nil
}
