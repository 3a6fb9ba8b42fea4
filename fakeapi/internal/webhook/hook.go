// Package webhook selects the admission webhooks for a request, creates the reviews that are sent to them, and checks
// their responses. The caller sends the reviews.
package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/expression"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Hook is a webhook in a configuration.
type Hook struct {
	ID       string // unique among the mutating webhooks, and among the validating ones
	Mutating bool
	registration.MutatingWebhook
}

// Mutating returns the webhooks of a configuration, in order.
func Mutating(c *registration.MutatingWebhookConfiguration) []Hook {
	return named(c.Name, true, c.Webhooks)
}

// Validating returns the webhooks of a configuration, in order.
func Validating(c *registration.ValidatingWebhookConfiguration) []Hook {
	return named(c.Name, false, validation.AsMutating(c.Webhooks))
}

func named(configuration string, mutating bool, webhooks []registration.MutatingWebhook) []Hook {
	hooks, seen := make([]Hook, len(webhooks)), map[string]int{}
	for i, w := range webhooks {
		hooks[i] = Hook{fmt.Sprintf("%s/%s/%d", configuration, w.Name, seen[w.Name]), mutating, w}
		seen[w.Name]++
	}
	return hooks
}

// For returns the Rules that select the requests for which the webhook is called.
func (h *Hook) For() *Rules {
	return &Rules{Namespaces: h.NamespaceSelector, Objects: h.ObjectSelector, Rules: h.Rules,
		Equivalent: h.MatchPolicy != nil && *h.MatchPolicy == registration.Equivalent}
}

// FailsOpen reports whether a request is allowed if the call of the webhook, or a match condition, fails.
func (h *Hook) FailsOpen() bool {
	return h.FailurePolicy != nil && *h.FailurePolicy == registration.Ignore
}

// Dry reports whether the webhook may be called in a dry run: it has no side effects there.
func (h *Hook) Dry() bool {
	return h.SideEffects != nil && (*h.SideEffects == registration.SideEffectClassNone ||
		*h.SideEffects == registration.SideEffectClassNoneOnDryRun)
}

// Again reports whether the webhook is called again if later webhooks changed the object.
func (h *Hook) Again() bool {
	return h.ReinvocationPolicy != nil && *h.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
}

// Review returns the kind of the AdmissionReviews for the webhook. Its version is the first in the webhook's list that
// is v1 or v1beta1. Both versions have the same fields.
func (h *Hook) Review() schema.GroupVersionKind {
	gv := admissionv1.SchemeGroupVersion
	known := func(version string) bool { return version == "v1" || version == "v1beta1" }
	if i := slices.IndexFunc(h.AdmissionReviewVersions, known); i >= 0 {
		gv.Version = h.AdmissionReviewVersions[i]
	}
	return gv.WithKind("AdmissionReview")
}

// Caller calls webhooks over the network.
type Caller struct {
	// Call posts a review to a webhook and decodes its response.
	Call func(to *Endpoint, review, response runtime.Object) error
	// Release unlocks the server during a call, because the webhook may itself send requests. Retake locks it again. They
	// are nil if the server stays locked.
	Release, Retake func()
}

// Endpoint is the address of a webhook.
type Endpoint struct {
	URL        string // for a service: https://NAME.NAMESPACE.svc:PORT/PATH
	Service    bool
	Address    string // HOST:PORT to connect to, for a service
	Unresolved error  // why a service has no address; nil if it has one
	CABundle   []byte // PEM certificates that verify the webhook
	Timeout    time.Duration
}

// Attributes describes a request. Rules select requests by these values, and AdmissionReviews contain them.
type Attributes struct {
	Operation       admissionv1.Operation
	Kind            schema.GroupVersionKind
	Resource        schema.GroupVersionResource
	Subresource     string
	Namespace, Name string         // for a namespace, both are its name
	Object, Old     runtime.Object // nil if the request has no new or no old object
	Options         runtime.Object
	DryRun          bool
	User            authenticationv1.UserInfo
}

// Target is the version of a resource in which a webhook receives the object.
type Target struct {
	Kind     schema.GroupVersionKind
	Resource schema.GroupVersionResource
}

// Exempt reports whether a kind configures webhooks or policies. No webhook is called for objects of such a kind, so
// that a webhook cannot prevent its own removal.
func Exempt(k schema.GroupVersionKind) bool {
	return k.Group == registration.GroupName && rules.IsExemptAdmissionConfigurationResource(
		admission.NewAttributesRecord(nil, nil, k, "", "", schema.GroupVersionResource{}, "", "", nil, false, nil))
}

// Request returns the request in an AdmissionReview. The parameter to is the version of obj and old.
func (a *Attributes) Request(to Target, obj, old runtime.Object) *admissionv1.AdmissionRequest {
	kind, resource := metav1.GroupVersionKind(a.Kind), metav1.GroupVersionResource(a.Resource)
	dryRun := a.DryRun
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(to.Kind), Resource: metav1.GroupVersionResource(to.Resource),
		SubResource: a.Subresource, RequestKind: &kind, RequestResource: &resource, RequestSubResource: a.Subresource,
		Name: a.Name, Namespace: a.Namespace, Operation: a.Operation, UserInfo: a.User,
		Object: runtime.RawExtension{Object: obj}, OldObject: runtime.RawExtension{Object: old},
		DryRun: &dryRun, Options: runtime.RawExtension{Object: a.Options},
	}
}

// JSON encodes an object for an AdmissionReview.
func JSON(obj runtime.Object) ([]byte, error) { return json.Marshal(obj) }

// Encode replaces the objects in a request with their JSON, which an HTTP handler receives.
func Encode(r *admissionv1.AdmissionRequest) error {
	for _, part := range []*runtime.RawExtension{&r.Object, &r.OldObject, &r.Options} {
		if part.Object == nil {
			continue
		}
		raw, err := json.Marshal(part.Object)
		if err != nil {
			return err
		}
		*part = runtime.RawExtension{Raw: raw}
	}
	return nil
}

var compiler = sync.OnceValue(func() cel.ConditionCompiler {
	return cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

var compiledConditions crdschema.Memo[cel.ConditionEvaluator]

// Everybody is the authorizer of CEL expressions. It allows every access.
var Everybody = authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string,
	error) {
	return authorizer.DecisionAllow, "", nil
})

// Versioned returns the request as the CEL evaluator needs it. The parameter to is the version of obj and old.
func (a *Attributes) Versioned(to Target, obj, old runtime.Object) *admission.VersionedAttributes {
	who := &user.DefaultInfo{Name: a.User.Username, UID: a.User.UID, Groups: a.User.Groups}
	record := admission.NewAttributesRecord(obj, old, a.Kind, a.Namespace, a.Name, a.Resource, a.Subresource,
		admission.Operation(a.Operation), a.Options, a.DryRun, who)
	return &admission.VersionedAttributes{Attributes: record, VersionedObject: obj, VersionedOldObject: old,
		VersionedKind: to.Kind}
}

// Meets reports whether a request meets all match conditions. A false condition hides the errors of other conditions.
func Meets(conditions []registration.MatchCondition, v *admission.VersionedAttributes, to Target) (bool, error) {
	if len(conditions) == 0 {
		return true, nil
	}
	evaluator := compiledConditions.Of(conditions, "", func() cel.ConditionEvaluator {
		all := make([]cel.ExpressionAccessor, len(conditions))
		for i := range conditions {
			all[i] = expression.Expression{Text: conditions[i].Expression}
		}
		return compiler().CompileCondition(all, cel.OptionalVariableDeclarations{HasAuthorizer: true},
			environment.StoredExpressions)
	})
	request := cel.CreateAdmissionRequest(v.Attributes, metav1.GroupVersionResource(to.Resource),
		metav1.GroupVersionKind(to.Kind))
	results, _, err := evaluator.ForInput(context.Background(), v, request,
		cel.OptionalVariableBindings{Authorizer: Everybody}, nil, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return false, err
	}
	return Hold(results)
}

// Hold reports whether all results are true. A false result hides the errors of other results.
func Hold(results []cel.EvaluationResult) (bool, error) {
	var failed []error
	for _, r := range results {
		if r.Error != nil {
			failed = append(failed, r.Error)
		}
		if r.EvalResult == celtypes.False {
			return false, nil
		}
	}
	return len(failed) == 0, utilerrors.NewAggregate(failed)
}

// Failure is the error of a webhook that cannot be called, or that sends an invalid response. The failure policy
// decides whether the request is refused.
type Failure struct {
	Webhook string
	Reason  error
}

// Error returns a text with the webhook and the cause.
func (f *Failure) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", f.Webhook, f.Reason)
}

// Verify returns an error if a webhook's response is invalid. A response in version v1beta1 needs no UID, version or
// patch type. The patch of a validating webhook is ignored in v1beta1.
func (h *Hook) Verify(uid types.UID, r *admissionv1.AdmissionReview) error {
	want, answer, mutating := h.Review(), r.Response, h.Mutating
	switch {
	case answer == nil:
		return errors.New("webhook response was absent")
	case want.Version == "v1beta1":
		if answer.PatchType = nil; len(answer.Patch) > 0 {
			answer.PatchType = new(admissionv1.PatchTypeJSONPatch)
		}
	case answer.UID != uid:
		return fmt.Errorf("expected response.uid=%q, got %q", uid, answer.UID)
	case r.GroupVersionKind() != want:
		return fmt.Errorf("expected webhook response of %v, got %v", want, r.GroupVersionKind())
	case !mutating && len(answer.Patch) > 0:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && answer.PatchType != nil:
		return errors.New("validating webhook may not return response.patchType")
	case len(answer.Patch) > 0 && answer.PatchType == nil:
		return errors.New("webhook returned response.patch but not response.patchType")
	case len(answer.Patch) == 0 && answer.PatchType != nil:
		return errors.New("webhook returned response.patchType but not response.patch")
	case answer.PatchType != nil && *answer.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *answer.PatchType)
	}
	return nil
}

// Denial returns the error for a request that the webhook with this name does not allow.
func Denial(name string, result *metav1.Status) *apierrors.StatusError {
	if result == nil {
		return webhookerrors.ToStatusErr(name, nil)
	}
	status := *result
	if status.Code > 999 { // invalid in HTTP; the real server panics
		status.Code = http.StatusInternalServerError
	}
	return webhookerrors.ToStatusErr(name, &status)
}

// NoDryRun returns the error of a dry run for which a webhook with side effects must be called.
func NoDryRun(name string) *apierrors.StatusError { return webhookerrors.NewDryRunUnsupportedErr(name) }
