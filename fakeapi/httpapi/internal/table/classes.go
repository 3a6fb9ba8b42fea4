package table

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	priority = schedulingv1.PriorityClass{}.SwaggerDoc()

	priorityClasses = prints(func(o *schedulingv1.PriorityClass, now time.Time) []any {
		policy := ""
		if o.PreemptionPolicy != nil {
			policy = string(*o.PreemptionPolicy)
		}
		return []any{o.Name, int64(o.Value), o.GlobalDefault, since(o.CreationTimestamp, now), policy}
	}, nameColumn, number("Value", priority["value"]), flag("Global-Default", priority["globalDefault"]), ageColumn,
		text("PreemptionPolicy", priority["preemptionPolicy"]))
	runtimeClasses = prints(func(o *nodev1.RuntimeClass, now time.Time) []any {
		return []any{o.Name, o.Handler, since(o.CreationTimestamp, now)}
	}, nameColumn, text("Handler", ""), ageColumn)

	validatingWebhooks = prints(func(o *admissionv1.ValidatingWebhookConfiguration, now time.Time) []any {
		return countedCells(&o.ObjectMeta, len(o.Webhooks), now)
	}, nameColumn, webhooks, ageColumn)
	mutatingWebhooks = prints(func(o *admissionv1.MutatingWebhookConfiguration, now time.Time) []any {
		return countedCells(&o.ObjectMeta, len(o.Webhooks), now)
	}, nameColumn, webhooks, ageColumn)

	webhooks = number("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration")
)

func countedCells(m *metav1.ObjectMeta, n int, now time.Time) []any {
	return []any{m.Name, int64(n), since(m.CreationTimestamp, now)}
}
