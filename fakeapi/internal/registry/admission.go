package registry

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/expression"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Webhooks of admission.

var validatingWebhooks = goType[admissionv1.ValidatingWebhookConfiguration,
	admissionv1.ValidatingWebhookConfigurationList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"),
	Resource: "validatingwebhookconfigurations", Singular: "validatingwebhookconfiguration",
	Categories: apiExtensions, MustVersion: true,
	Default: On(func(c *admissionv1.ValidatingWebhookConfiguration) {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			defaultWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector,
				&w.TimeoutSeconds, &w.ClientConfig, w.Rules)
		}
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true, PrepareCreate: first,
		ValidateCreate: Check(spoken(validation.ValidatingWebhooks)), WarnCreate: warnStatic,
		Canonicalize: asStored,
		Main: Update{
			Prepare:  RecountExactly(func(c *admissionv1.ValidatingWebhookConfiguration) any { return c.Webhooks }),
			Validate: again(spoken(validation.ValidatingWebhooks)), again: checks{onCreate}, Warn: warnStaticAgain,
		},
	},
})

var mutatingWebhooks = goType[admissionv1.MutatingWebhookConfiguration,
	admissionv1.MutatingWebhookConfigurationList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"),
	Resource: "mutatingwebhookconfigurations", Singular: "mutatingwebhookconfiguration",
	Categories: apiExtensions, MustVersion: true,
	Default: On(func(c *admissionv1.MutatingWebhookConfiguration) {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			defaultWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector,
				&w.TimeoutSeconds, &w.ClientConfig, w.Rules)
			orDefault(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		}
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true, PrepareCreate: first,
		ValidateCreate: Check(spoken(validation.MutatingWebhooks)), WarnCreate: warnStatic,
		Canonicalize: asStored,
		Main: Update{
			Prepare:  RecountExactly(func(c *admissionv1.MutatingWebhookConfiguration) any { return c.Webhooks }),
			Validate: again(spoken(validation.MutatingWebhooks)), again: checks{onCreate}, Warn: warnStaticAgain,
		},
	},
})

func warnStatic(obj runtime.Object) []string { return validation.WarnStaticName(metadata.Of(obj)) }

func warnStaticAgain(obj, _ runtime.Object) []string { return warnStatic(obj) }

var apiExtensions = []string{"api-extensions"}

func defaultWebhook(failure **admissionv1.FailurePolicyType, match **admissionv1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector, timeout **int32, client *admissionv1.WebhookClientConfig,
	rules []admissionv1.RuleWithOperations) {
	orDefault(failure, admissionv1.Fail)
	orDefault(match, admissionv1.Equivalent)
	orDefault(namespaces, metav1.LabelSelector{})
	orDefault(objects, metav1.LabelSelector{})
	orDefault(timeout, 10)
	if client.Service != nil {
		orDefault(&client.Service.Port, 443)
	}
	for i := range rules {
		orDefault(&rules[i].Scope, admissionv1.AllScopes)
	}
}

// defaultMatch completes what a policy or its binding matches.
func defaultMatch(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	orDefault(&m.MatchPolicy, admissionv1.Equivalent)
	orDefault(&m.NamespaceSelector, metav1.LabelSelector{})
	orDefault(&m.ObjectSelector, metav1.LabelSelector{})
	for i := range m.ResourceRules {
		orDefault(&m.ResourceRules[i].Scope, admissionv1.AllScopes)
	}
	for i := range m.ExcludeResourceRules {
		orDefault(&m.ExcludeResourceRules[i].Scope, admissionv1.AllScopes)
	}
}

// spoken makes a validation of what has expressions one that compiles them.
func spoken[T any](f func(validation.Language, T) field.ErrorList) func(T) field.ErrorList {
	return func(obj T) field.ErrorList { return f(expression.Language, obj) }
}
