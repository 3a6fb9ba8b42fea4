package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/threelaws/threelaws/internal/recorded"
)

// watching is an open watch. Its client reads nothing until the end, so the result does not depend on timing.
type watching struct {
	code   int
	begun  chan struct{} // closed when the server has answered
	read   chan struct{} // closed when the client starts reading
	done   chan struct{} // closed when the server has returned
	header http.Header
	text   bytes.Buffer
	cancel context.CancelFunc
}

// open opens a watch and waits until the server has answered.
func open(h http.Handler, r *http.Request) *watching {
	ctx, cancel := context.WithCancel(r.Context())
	w := &watching{begun: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}),
		header: http.Header{}, cancel: cancel}
	go func() {
		defer close(w.done)
		h.ServeHTTP(w, r.WithContext(ctx))
	}()
	select {
	case <-w.begun:
	case <-w.done:
	}
	return w
}

// finish reads the events of the watch, and ends it.
func (w *watching) finish() []byte {
	w.cancel()
	select {
	case <-w.read:
	default:
		close(w.read)
	}
	<-w.done
	return w.text.Bytes()
}

// peek reads the initial events of a watch.
func peek(h http.Handler, r *http.Request) (int, []byte) {
	w := open(h, r)
	return w.code, w.finish()
}

// Header implements http.ResponseWriter.
func (w *watching) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *watching) WriteHeader(code int) { w.code = code }

// Write implements http.ResponseWriter.
func (w *watching) Write(b []byte) (int, error) { return w.text.Write(b) }

// Flush implements http.Flusher: a server flushes the header of a watch first.
func (w *watching) Flush() {
	select {
	case <-w.begun:
	default:
		close(w.begun)
		<-w.read
	}
}

// closedEarly are cases whose client closed a watch before the last exchange.
var closedEarly = map[string]bool{"listwatch/watch-list-no-bookmarks": true, "listwatch/accept-table": true}

// event is one line of a watch.
type event struct {
	Type   string
	Object json.RawMessage
}

func compareWatch(v *recorded.Case, b *recorded.Binding, ex *recorded.Exchange, text []byte) error {
	var events []event
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var e event
		if err := d.Decode(&e); err != nil {
			return err
		}
		events = append(events, e)
	}
	for i, want := range ex.Watch.Events {
		if i >= len(events) {
			if want.Type == "BOOKMARK" {
				continue // how many come late depends on time
			}
			return fmt.Errorf("event %d of %d is missing: %s %s", i, len(ex.Watch.Events), want.Type, want.Object)
		}
		got := events[i]
		if got.Type != want.Type {
			return fmt.Errorf("event %d is %s, want %s: %s", i, got.Type, want.Type, got.Object)
		}
		if err := b.CompareJSON(want.Object, got.Object); err != nil {
			return fmt.Errorf("event %d%w", i, err)
		}
	}
	if n := len(ex.Watch.Events); len(events) > n && !closedEarly[v.Name()] {
		return fmt.Errorf("%d events, want %d; first too many: %s %s", len(events), n, events[n].Type, events[n].Object)
	}
	return nil
}
