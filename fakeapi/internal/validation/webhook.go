package validation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidatingWebhooks returns the errors in the webhooks of a configuration.
func ValidatingWebhooks(c *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(AsMutating(c.Webhooks))
}

// AsMutating converts validating webhooks to mutating webhooks, which have all fields of validating ones.
func AsMutating(webhooks []admissionv1.ValidatingWebhook) []admissionv1.MutatingWebhook {
	all := make([]admissionv1.MutatingWebhook, len(webhooks))
	for i := range webhooks {
		w := &webhooks[i]
		all[i] = admissionv1.MutatingWebhook{Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules,
			FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy, NamespaceSelector: w.NamespaceSelector,
			ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
			AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions}
	}
	return all
}

// MutatingWebhooks returns the errors in the webhooks of a configuration.
func MutatingWebhooks(c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(c.Webhooks)
}

func validateWebhooks(all []admissionv1.MutatingWebhook) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i := range all {
		w, path := &all[i], field.NewPath("webhooks").Index(i)
		errs = append(errs, validateWebhook(w, path)...)
		errs = append(errs, ReviewVersions(w.AdmissionReviewVersions, path.Child("admissionReviewVersions"),
			"must specify one of v1, v1beta1")...)
		if w.Name != "" && seen[w.Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), w.Name))
		}
		seen[w.Name] = true
	}
	return errs
}

func validateWebhook(w *admissionv1.MutatingWebhook, path *field.Path) field.ErrorList {
	errs := utilvalidation.IsFullyQualifiedName(path.Child("name"), w.Name)
	for i := range w.Rules {
		errs = append(errs, validateRule(&w.Rules[i], path.Child("rules").Index(i))...)
	}
	errs = append(errs, among(w.FailurePolicy, path.Child("failurePolicy"), admissionv1.Fail, admissionv1.Ignore)...)
	errs = append(errs, among(w.MatchPolicy, path.Child("matchPolicy"), admissionv1.Equivalent,
		admissionv1.Exact)...)
	if w.SideEffects == nil {
		errs = append(errs, field.Required(path.Child("sideEffects"), "must specify one of None, NoneOnDryRun"))
	}
	errs = append(errs, among(w.SideEffects, path.Child("sideEffects"), admissionv1.SideEffectClassNone,
		admissionv1.SideEffectClassNoneOnDryRun)...)
	if t := w.TimeoutSeconds; t != nil && (*t > 30 || *t < 1) {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *t,
			"the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, validateSelectors(w.NamespaceSelector, w.ObjectSelector, path)...)
	errs = append(errs, among(w.ReinvocationPolicy, path.Child("reinvocationPolicy"),
		admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)...)
	errs = append(errs, WebhookClient(&w.ClientConfig, path.Child("clientConfig"))...)
	return append(errs, validateConditions(false, w.MatchConditions, path.Child("matchConditions"))...)
}

// ReviewVersions returns the errors in a webhook's list of review versions. none is the error text for an empty list.
func ReviewVersions(versions []string, path *field.Path, none string) (errs field.ErrorList) {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, none)}
	}
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(path.Index(i), v, "duplicate version"))
			continue
		}
		errs = append(errs, named(v, path.Index(i), plain(utilvalidation.IsDNS1035Label))...)
	}
	if !slices.Contains(versions, "v1") && !slices.Contains(versions, "v1beta1") {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of v1, v1beta1"))
	}
	return errs
}

// WebhookClient returns the errors in the address of a webhook.
func WebhookClient(c *admissionv1.WebhookClientConfig, path *field.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(path, "exactly one of url or service is required")}
	case c.URL != nil:
		return validateURL(*c.URL, path.Child("url"))
	}
	return validateService(c.Service, path.Child("service"))
}

func validateURL(text string, path *field.Path) (errs field.ErrorList) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(path, "url must be a valid URL: "+err.Error()+form)}
	}
	if u.Scheme != "https" {
		errs = append(errs, field.Invalid(path, u.Scheme, "'https' is the only allowed URL scheme"+form))
	}
	if u.Host == "" {
		errs = append(errs, field.Invalid(path, u.Host, "host must be specified"+form))
	}
	if u.User != nil {
		errs = append(errs, field.Invalid(path, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Fragment != "" {
		errs = append(errs, field.Invalid(path, u.Fragment, "fragments are not permitted in the URL"))
	}
	if u.RawQuery != "" {
		errs = append(errs, field.Invalid(path, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	return errs
}

// validateService returns the errors in a service reference. Like the real server, it reports a missing namespace as
// a missing name, and a missing name as a missing namespace.
func validateService(s *admissionv1.ServiceReference, path *field.Path) (errs field.ErrorList) {
	if s.Namespace == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	if s.Name == "" {
		errs = append(errs, field.Required(path.Child("namespace"), ""))
	}
	if msgs := utilvalidation.IsValidPortNum(int(*s.Port)); msgs != nil {
		errs = append(errs, field.Invalid(path.Child("port"), *s.Port, "port is not valid: "+strings.Join(msgs, ", ")))
	}
	at := path.Child("path")
	if s.Path == nil || *s.Path == "" || *s.Path == "/" {
		return errs
	}
	if *s.Path == "//" {
		return append(errs, field.Invalid(at, *s.Path, "segment[0] may not be empty"))
	}
	if (*s.Path)[0] != '/' {
		errs = append(errs, field.Invalid(at, *s.Path, "must start with a '/'"))
	}
	for i, step := range strings.Split(strings.TrimSuffix((*s.Path)[1:], "/"), "/") {
		if step == "" {
			errs = append(errs, field.Invalid(at, *s.Path, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, msg := range utilvalidation.IsDNS1123Subdomain(step) {
			errs = append(errs, field.Invalid(at, *s.Path, fmt.Sprintf("segment[%d]: %v", i, msg)))
		}
	}
	return errs
}
