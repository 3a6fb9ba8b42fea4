package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is what a server says on standard error while it runs.
type heard struct {
	mu   sync.Mutex
	more *sync.Cond
	text bytes.Buffer
	late bool
}

func newHeard() *heard {
	h := &heard{}
	h.more = sync.NewCond(&h.mu)
	return h
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.more.Broadcast()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// untilSaid waits until a server has said something.
func (s *served) untilSaid(t *testing.T, want string) {
	t.Helper()
	h := s.heard
	h.mu.Lock()
	defer h.mu.Unlock()
	h.late = false
	defer time.AfterFunc(20*time.Second, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.late = true
		h.more.Broadcast()
	}).Stop()
	for !strings.Contains(h.text.String(), want) {
		if h.late {
			t.Fatalf("%q is not said:\n%s", want, h.text.String())
		}
		h.more.Wait()
	}
}
