package controllerruntime

import (
	"context"
	"errors"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/threelaws/threelaws/sim/host"
)

// webhooks is a webhook server that serves nothing. A controller whose webhooks are
// silently missing would be another one.
type webhooks struct {
	webhook.Server
	m *recordingManager
}

// Register refuses a webhook by name, unless it is to be left out.
func (w webhooks) Register(path string, _ http.Handler) {
	if !w.m.leaves(path) {
		panic(host.Misuse("the setup registers the webhook " + path + ": webhooks do not run here; the world's " +
			"server has its own (simtest.Case.Server). Name it in Options.LeaveOut, or set webhooks up elsewhere"))
	}
}

// Start is refused.
func (w webhooks) Start(context.Context) error {
	return errors.New("controllerruntime: no webhook server runs here")
}
