package httpapi

import (
	"context"
	"net/http"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/outbound"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// CallWebhooks makes the server call, over the network, the webhooks that definitions and
// configurations name. No lock is held meanwhile: a webhook may use the server. It is
// called before the first request; calls end with [Handler.Close].
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

// CallWebhooksVia is [Handler.CallWebhooks] for a server behind a gate, whose webhooks are reached by other
// means than the network. Webhooks may use the server while they answer.
func (h *Handler) CallWebhooksVia(means func(Webhook) http.RoundTripper) {
	client := outbound.Via(func(to *webhook.Endpoint) http.RoundTripper {
		return means(Webhook{to.URL, to.Service, to.Unresolved, to.CABundle})
	})
	h.With(func(s *fakeapi.Server) {
		s.SetCaller(&webhook.Caller{Call: client.Call, Release: func() {}, Retake: func() {}})
	})
}
