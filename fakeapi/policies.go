package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/policy"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// judged evaluates the ValidatingAdmissionPolicies that have bindings, and returns the first denial, or nil.
func (c *call) judged(op admissionv1.Operation, obj, old runtime.Object, dryRun bool) error {
	a := c.attributes(op, obj, old, dryRun)
	var first error
	for _, p := range held[*registration.ValidatingAdmissionPolicy](c.s, policyKind, "") {
		if err := c.judgedBy(p, a); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// judgedBy evaluates one policy with each of its bindings and their parameters. It returns the first denial.
func (c *call) judgedBy(p *registration.ValidatingAdmissionPolicy, a *webhook.Attributes) (first error) {
	var bindings []*registration.ValidatingAdmissionPolicyBinding
	for _, b := range held[*registration.ValidatingAdmissionPolicyBinding](c.s, policyBindings, "") {
		if b.Spec.PolicyName == p.Name {
			bindings = append(bindings, b)
		}
	}
	if len(bindings) == 0 {
		return nil
	}
	note := func(binding string, d policy.Denial) {
		if first == nil {
			first = denied(a, p.Name, binding, d)
		}
	}
	misconfigured := func(binding, what string, err error) {
		if !policy.FailsOpen(p) {
			note(binding, policy.Denial{Message: "failed to configure " + what + ": " + err.Error()})
		}
	}
	to, ok, err := rulesOf(p.Spec.MatchConstraints).Match(a, c.others(), c.s.labelsOf)
	if err != nil {
		misconfigured("", "policy", err)
		return first
	}
	for _, b := range bindings {
		if !ok {
			break
		}
		if b.Spec.MatchResources != nil {
			_, meant, err := rulesOf(b.Spec.MatchResources).Match(a, c.others(), c.s.labelsOf)
			if err != nil {
				misconfigured(b.Name, "binding", err)
			}
			if err != nil || !meant {
				continue
			}
		}
		params, err := c.s.paramsOf(p, b, a.Namespace)
		if err != nil {
			misconfigured(b.Name, "binding", err)
			continue
		}
		f, err := c.formsOf(a, to)
		if err != nil {
			misconfigured(b.Name, "binding", fmt.Errorf("failed to convert object version: %w", err))
			continue
		}
		subject := &policy.Request{Versioned: a.Versioned(to, f.obj, f.old), Target: to}
		if c.k != namespaceKind && a.Namespace != "" {
			subject.Namespace, _ = c.s.Lookup(namespaceKind, "", a.Namespace).(*corev1.Namespace)
		}
		for _, subject.Params = range params {
			for _, d := range policy.Compile(p).Evaluate(p, subject) {
				c.enforce(p, b, d, note)
			}
		}
	}
	return first
}

func (c *call) enforce(p *registration.ValidatingAdmissionPolicy, b *registration.ValidatingAdmissionPolicyBinding,
	d policy.Denial, note func(string, policy.Denial)) {
	if d.Whatever {
		note(b.Name, d)
		return
	}
	for _, action := range b.Spec.ValidationActions {
		switch action {
		case registration.Deny:
			note(b.Name, d)
		case registration.Warn:
			c.warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", p.Name,
				b.Name, d.Message))
		}
	}
}

func denied(a *webhook.Attributes, name, binding string, d policy.Denial) error {
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", name, d.Message)
	if binding != "" {
		text = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", name, binding,
			d.Message)
	}
	object := a.Name
	if m, ok := a.Object.(metav1.Object); ok && object == "" {
		object = m.GetGenerateName()
	}
	err := apierrors.NewForbidden(a.Resource.GroupResource(), cmp.Or(object, "Unknown"), errors.New(text))
	err.ErrStatus.Reason = cmp.Or(d.Reason, metav1.StatusReasonInvalid)
	err.ErrStatus.Code = http.StatusUnprocessableEntity
	if code, ok := denialCodes[d.Reason]; ok {
		err.ErrStatus.Code = code
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Message: text})
	return err
}

// denialCodes holds the status codes of denials by reason. Other reasons have the code 422.
var denialCodes = map[metav1.StatusReason]int32{metav1.StatusReasonForbidden: http.StatusForbidden,
	metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge}

// rulesOf converts match constraints to rules. nil matches all requests.
func rulesOf(m *registration.MatchResources) *webhook.Rules {
	if m == nil {
		m = &registration.MatchResources{}
	}
	r := &webhook.Rules{Namespaces: m.NamespaceSelector, Objects: m.ObjectSelector,
		Equivalent: m.MatchPolicy != nil && *m.MatchPolicy == registration.Equivalent, All: len(m.ResourceRules) == 0}
	for i := range m.ResourceRules {
		r.Rules = append(r.Rules, m.ResourceRules[i].RuleWithOperations)
		r.Names = append(r.Names, m.ResourceRules[i].ResourceNames)
	}
	for i := range m.ExcludeResourceRules {
		r.Not = append(r.Not, m.ExcludeResourceRules[i].RuleWithOperations)
		r.NotNames = append(r.NotNames, m.ExcludeResourceRules[i].ResourceNames)
	}
	return r
}

// paramsOf returns the parameter objects of a binding. Without a paramKind or paramRef, it returns a list with one nil.
func (s *Server) paramsOf(p *registration.ValidatingAdmissionPolicy, b *registration.ValidatingAdmissionPolicyBinding,
	namespace string) (params []runtime.Object, err error) {
	kind, r := p.Spec.ParamKind, b.Spec.ParamRef
	if kind == nil {
		return []runtime.Object{nil}, nil
	}
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return nil, err
	}
	k := s.Kind(gv.WithKind(kind.Kind))
	switch {
	case k == nil:
		return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gv.WithKind(kind.Kind))
	case r == nil:
		return []runtime.Object{nil}, nil
	case r.Namespace != "" && !k.Namespaced:
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case r.Namespace != "":
		namespace = r.Namespace
	case k.Namespaced && namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	if !k.Namespaced {
		namespace = ""
	}
	switch {
	case r.Name != "":
		if obj := s.Lookup(k, namespace, r.Name); obj != nil {
			params = append(params, obj)
		}
	case r.Selector != nil:
		selector, err := metav1.LabelSelectorAsSelector(r.Selector)
		if err != nil {
			return nil, err
		}
		s.EachIn(k, namespace, func(obj runtime.Object) bool {
			if selector.Matches(labels.Set(obj.(metav1.Object).GetLabels())) {
				params = append(params, obj)
			}
			return true
		})
	default:
		return nil, errors.New("one of name or selector must be provided")
	}
	if len(params) == 0 && r.ParameterNotFoundAction != nil &&
		*r.ParameterNotFoundAction == registration.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return params, nil
}
