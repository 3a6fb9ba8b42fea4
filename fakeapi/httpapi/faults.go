package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/internal/clientfault"
)

var errLost = errors.New("httpapi: the connection is closed without an answer")

// strike returns the fault that applies to a request, or nil. It first waits for the fault's delay. If the client
// disconnects meanwhile, it returns an error.
func (h *Handler) strike(ctx context.Context, req *fakeapi.Request, isWatch bool) (*clientfault.Strike, error) {
	s := h.Faults.Strike(req, isWatch)
	if s == nil || s.Delay == 0 {
		return s, nil
	}
	timer := time.NewTimer(s.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.closed:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s, nil
}

// fail returns the response to a request that fails because of the fault s. If s.Commits is set, the server first
// executes the request, and an error of the server takes precedence. h.Fail, if set, replaces all this. Lock h.mu
// first.
func (h *Handler) fail(req *fakeapi.Request, s *clientfault.Strike) fakeapi.Response {
	failed := fakeapi.Response{Code: int(s.Err.ErrStatus.Code), Err: s.Err}
	if h.Fail != nil {
		return h.Fail(req, failed, s.Commits)
	}
	if s.Commits {
		if resp, _ := h.server.Do(h.now(), req); resp.Err != nil {
			return resp
		}
	}
	return failed
}

// struck returns the HTTP response to a request that fails because of the fault s. Like the real server, it ignores the
// Accept header if the code is 429 or 504.
func struck(f media.Format, s *clientfault.Strike) *answer {
	status := s.Err.ErrStatus
	switch {
	case s.Lost:
		return &answer{lost: errLost}
	case status.Code == http.StatusTooManyRequests:
		return &answer{code: int(status.Code), retryAfter: "1", text: "Too many requests, please try again later.\n"}
	case status.Code == http.StatusGatewayTimeout:
		text, err := json.Marshal(status)
		if err != nil {
			panic("httpapi: a Status does not encode: " + err.Error())
		}
		return &answer{code: int(status.Code), text: string(text) + "\n"}
	}
	a := fail(f, s.Err)
	if status.Code == http.StatusServiceUnavailable {
		a.retryAfter = "1"
	}
	return a
}

func (a *answer) setRetryAfter(header http.Header) {
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
}

// lists reports whether a watch begins with the existing objects.
func lists(o *metav1.ListOptions) bool {
	if o.SendInitialEvents != nil {
		return *o.SendInitialEvents
	}
	return o.ResourceVersion == "" || o.ResourceVersion == "0"
}

func (s *feed) pull() (show func() ([]watch.Event, error), changed <-chan struct{}) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if held, expired, woken := s.open.State(); held || expired {
		return nil, woken
	}
	return s.w.Pull(), s.h.changed
}

func (s *feed) expire() {
	s.h.mu.Lock()
	now := s.h.server.Version()
	s.h.mu.Unlock()
	at := "0"
	if m, ok := s.w.Bookmark(false).Object.(metav1.Object); ok {
		at = m.GetResourceVersion()
	}
	err := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %s (%d)", at, now))
	s.events = []watch.Event{{Type: watch.Error, Object: fail(s.frames.format, err).object}}
	s.w, s.open = nil, nil
	s.over = true
}
