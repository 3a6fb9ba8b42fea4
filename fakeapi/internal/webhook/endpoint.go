// Package webhook is about the webhooks of admission: which of them a request is for, what
// they are asked, and what is made of their answers. Who calls them is not its affair.
package webhook

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Caller calls webhooks over the network.
type Caller struct {
	// Call posts a review to a webhook and decodes the answer into response.
	Call func(to *Endpoint, review, response runtime.Object) error
	// Release lets others use the server while a request waits for its webhook, which
	// may itself be the one who does; Retake ends that.
	Release, Retake func()
}

// Endpoint is where a webhook is called.
type Endpoint struct {
	URL        string // a service is HTTPS at NAME.NAMESPACE.svc
	Service    bool
	Address    string // HOST:PORT to connect to when it is a service
	Unresolved error  // why a service has no address
	CABundle   []byte // PEM; who is believed to be the webhook
	Timeout    time.Duration
}
