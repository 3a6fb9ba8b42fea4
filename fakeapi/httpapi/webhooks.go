package httpapi

import (
	"context"

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
