package webhook

import (
	"fmt"

	registration "k8s.io/api/admissionregistration/v1"
)

// Hook is a webhook of a configuration.
type Hook struct {
	ID       string // of all there are
	Mutating bool
	registration.MutatingWebhook
}

// Mutating are the webhooks of a configuration, in its order.
func Mutating(c *registration.MutatingWebhookConfiguration) []Hook {
	return named(c.Name, true, c.Webhooks)
}

// Validating are the webhooks of a configuration, in its order.
func Validating(c *registration.ValidatingWebhookConfiguration) []Hook {
	all := make([]registration.MutatingWebhook, len(c.Webhooks))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		all[i] = registration.MutatingWebhook{Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules,
			FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy, NamespaceSelector: w.NamespaceSelector,
			ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
			AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions}
	}
	return named(c.Name, false, all)
}

func named(configuration string, mutating bool, webhooks []registration.MutatingWebhook) []Hook {
	hooks, seen := make([]Hook, len(webhooks)), map[string]int{}
	for i, w := range webhooks {
		hooks[i] = Hook{fmt.Sprintf("%s/%s/%d", configuration, w.Name, seen[w.Name]), mutating, w}
		seen[w.Name]++
	}
	return hooks
}

// For says which requests the webhook is for.
func (h *Hook) For() *Rules {
	return &Rules{Namespaces: h.NamespaceSelector, Objects: h.ObjectSelector, Rules: h.Rules,
		Equivalent: h.MatchPolicy != nil && *h.MatchPolicy == registration.Equivalent}
}

// FailsOpen says that a request goes on when the webhook cannot be asked.
func (h *Hook) FailsOpen() bool {
	return h.FailurePolicy != nil && *h.FailurePolicy == registration.Ignore
}

// Dry says that the webhook may be asked about a dry run.
func (h *Hook) Dry() bool {
	return h.SideEffects != nil && (*h.SideEffects == registration.SideEffectClassNone ||
		*h.SideEffects == registration.SideEffectClassNoneOnDryRun)
}

// Again says that the webhook is asked once more when others have changed the object
// after it.
func (h *Hook) Again() bool {
	return h.ReinvocationPolicy != nil && *h.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
}
