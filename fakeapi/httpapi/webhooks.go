package httpapi

import (
	"context"
	"net/http"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/outbound"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// CallWebhooks makes the server call the webhooks of CRDs and configurations over the network, without a lock. Call it
// before the first request; calls end with [Handler.Close].
func (h *Handler) CallWebhooks() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-h.closed
		cancel()
	}()
	client := outbound.New(ctx)
	h.With(func(s *fakeapi.Server) {
		s.SetCaller(&webhook.Caller{Call: client.Call, Release: h.mu.Unlock, Retake: h.mu.Lock})
	})
}

// Webhook is where a webhook is called.
type Webhook struct {
	URL        string // of a service: https://NAME.NAMESPACE.svc:PORT/PATH
	Service    bool
	Unresolved error  // why a service has no ready endpoint
	CABundle   []byte // PEM, "" for the roots of the system
}

// CallWebhooksVia is [Handler.CallWebhooks] over other means than the network, for a server behind a gate.
func (h *Handler) CallWebhooksVia(means func(Webhook) http.RoundTripper) {
	client := outbound.Via(func(to *webhook.Endpoint) http.RoundTripper {
		return means(Webhook{to.URL, to.Service, to.Unresolved, to.CABundle})
	})
	h.With(func(s *fakeapi.Server) {
		s.SetCaller(&webhook.Caller{Call: client.Call, Release: func() {}, Retake: func() {}})
	})
}
