package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/expression"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// ValidatingPolicy returns the errors in a ValidatingAdmissionPolicy.
func ValidatingPolicy(p *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	s, params, x := &p.Spec, p.Spec.ParamKind != nil, expression.New(len(p.Spec.Variables) > 0)
	errs := validateCommon(s.FailurePolicy, s.ParamKind, s.MatchConstraints)
	errs = append(errs, validateConditions(params, s.MatchConditions, specPath.Child("matchConditions"))...)
	errs = append(errs, validateVariables(x, params, s.Variables)...)
	validations, annotations := specPath.Child("validations"), specPath.Child("auditAnnotations")
	if len(s.Validations) == 0 && len(s.AuditAnnotations) == 0 {
		const none = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(validations, none), field.Required(annotations, none))
	}
	for i := range s.Validations {
		errs = append(errs, validateValidation(x, params, &s.Validations[i], validations.Index(i))...)
	}
	if len(s.AuditAnnotations) > 20 {
		type annotation struct{ Key, ValueExpression string } // the error text contains these field names
		var shown []annotation
		for _, a := range s.AuditAnnotations {
			shown = append(shown, annotation(a))
		}
		errs = append(errs, field.Invalid(annotations, shown,
			"must not have more than 20 auditAnnotations"))
	}
	for i, a := range s.AuditAnnotations {
		at := annotations.Index(i)
		errs = append(errs, qualified(p.Name+"/"+a.Key, at.Child("key"))...)
		switch text := strings.TrimSpace(a.ValueExpression); {
		case text == "":
			errs = append(errs, field.Required(at.Child("valueExpression"), "valueExpression is not specified"))
		case len(text) > 5*1024:
			errs = append(errs, field.Required(at.Child("valueExpression"), "must not exceed 5120 bytes in length"))
		default:
			errs = append(errs, compiles(x, expression.Expression{Text: text, Yields: expression.Annotation, Params: params},
				a.ValueExpression, at.Child("valueExpression"))...)
		}
		if slices.ContainsFunc(s.AuditAnnotations[:i],
			func(o admissionv1.AuditAnnotation) bool { return o.Key == a.Key }) {
			errs = append(errs, field.Duplicate(at.Child("key"), a.Key))
		}
	}
	return errs
}

// ValidatingPolicyStatus returns the errors in the conditions and type-checking warnings of a policy's status.
func ValidatingPolicyStatus(p *admissionv1.ValidatingAdmissionPolicy) (errs field.ErrorList) {
	if t := p.Status.TypeChecking; t != nil {
		path := field.NewPath("status").Child("typeChecking", "expressionWarnings")
		for i, w := range t.ExpressionWarnings {
			errs = append(errs, required(w.Warning, path.Index(i).Child("warning"))...)
			errs = append(errs, required(strings.TrimSpace(w.FieldRef), path.Index(i).Child("fieldRef"))...)
		}
	}
	return append(errs, metav1validation.ValidateConditions(p.Status.Conditions, field.NewPath("status").Child("conditions"))...)
}

func validateCommon(failure *admissionv1.FailurePolicyType, kind *admissionv1.ParamKind,
	match *admissionv1.MatchResources) field.ErrorList {
	errs := among(failure, specPath.Child("failurePolicy"), admissionv1.Fail, admissionv1.Ignore)
	if kind != nil {
		errs = append(errs, validateParamKind(kind, specPath.Child("paramKind"))...)
	}
	path := specPath.Child("matchConstraints")
	if match == nil {
		return append(errs, field.Required(path, ""))
	}
	errs = append(errs, validateMatch(match, path)...)
	if len(match.ResourceRules) == 0 {
		errs = append(errs, field.Required(path.Child("resourceRules"), ""))
	}
	return errs
}

func validateParamKind(k *admissionv1.ParamKind, path *field.Path) (errs field.ErrorList) {
	at := path.Child("apiVersion")
	group, version, both := strings.Cut(k.APIVersion, "/")
	if !both {
		group, version = "", k.APIVersion
	}
	switch {
	case k.APIVersion == "":
		errs = append(errs, field.Required(at, ""))
	case strings.Count(k.APIVersion, "/") > 1:
		errs = append(errs, field.Invalid(at, k.APIVersion, "unexpected GroupVersion string: "+k.APIVersion))
	default:
		if msgs := utilvalidation.IsDNS1123Subdomain(group); group != "" && len(msgs) > 0 {
			errs = append(errs, field.Invalid(at, group, strings.Join(msgs, ",")))
		}
		if version == "" {
			errs = append(errs, field.Invalid(at, k.APIVersion, "version must be specified"))
		} else if msgs := utilvalidation.IsDNS1035Label(version); len(msgs) > 0 {
			errs = append(errs, field.Invalid(at, version, strings.Join(msgs, ",")))
		}
	}
	if k.Kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), ""))
	} else if msgs := utilvalidation.IsDNS1035Label(strings.ToLower(k.Kind)); len(msgs) > 0 {
		errs = append(errs, field.Invalid(path.Child("kind"), k.Kind,
			"may have mixed case, but should otherwise match: "+strings.Join(msgs, ",")))
	}
	return errs
}

func validateMatch(m *admissionv1.MatchResources, path *field.Path) field.ErrorList {
	errs := among(m.MatchPolicy, path.Child("matchPolicy"), admissionv1.Equivalent, admissionv1.Exact)
	errs = append(errs, validateSelectors(m.NamespaceSelector, m.ObjectSelector, path)...)
	check := func(rules []admissionv1.NamedRuleWithOperations, path *field.Path) {
		for i := range rules {
			names := path.Index(i).Child("resourceNames")
			for j, name := range rules[i].ResourceNames {
				errs = append(errs, named(name, names.Index(j), metadata.PathSegment)...)
				if slices.Contains(rules[i].ResourceNames[:j], name) {
					errs = append(errs, field.Duplicate(names.Index(j), name))
				}
			}
			errs = append(errs, validateRule(&rules[i].RuleWithOperations, path.Index(i))...)
		}
	}
	check(m.ResourceRules, path.Child("resourceRules"))
	check(m.ExcludeResourceRules, path.Child("excludeResourceRules"))
	return errs
}

func validateSelectors(namespaces, objects *metav1.LabelSelector, path *field.Path) field.ErrorList {
	var opts metav1validation.LabelSelectorValidationOptions
	return append(metav1validation.ValidateLabelSelector(namespaces, opts, path.Child("namespaceSelector")),
		metav1validation.ValidateLabelSelector(objects, opts, path.Child("objectSelector"))...)
}

var (
	identifier = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	reserved   = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
		"if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"}
)

func validateVariables(x *expression.Language, params bool, all []admissionv1.Variable) (errs field.ErrorList) {
	for i, v := range all {
		path := specPath.Child("variables").Index(i)
		if strings.TrimSpace(v.Name) == "" {
			errs = append(errs, field.Required(path.Child("name"), "name is not specified"))
		} else if !identifier.MatchString(v.Name) || slices.Contains(reserved, v.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), v.Name, "must be a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, field.Required(path.Child("expression"), "expression is not specified"))
			continue
		}
		errs = append(errs, compiles(x, expression.Expression{Text: v.Expression, Name: v.Name, Yields: expression.Any,
			Params: params}, v.Expression, path.Child("expression"))...)
	}
	return errs
}

func validateValidation(x *expression.Language, params bool, v *admissionv1.Validation,
	path *field.Path) (errs field.ErrorList) {
	if at := path.Child("expression"); strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(at, "expression is not specified"))
	} else {
		errs = append(errs, compiles(x, expression.Expression{Text: v.Expression, Params: params}, v.Expression, at)...)
	}
	switch at := path.Child("messageExpression"); {
	case v.MessageExpression == "":
	case strings.TrimSpace(v.MessageExpression) == "":
		errs = append(errs, field.Invalid(at, v.MessageExpression, "must be non-empty if specified"))
	default:
		errs = append(errs, compiles(x, expression.Expression{Text: v.MessageExpression, Yields: expression.Text, Params: params},
			v.MessageExpression, at)...)
	}
	switch text := strings.TrimSpace(v.Message); {
	case v.Message != "" && text == "":
		errs = append(errs, field.Invalid(path.Child("message"), v.Message, "must be non-empty if specified"))
	case strings.ContainsAny(text, "\n\r"):
		errs = append(errs, field.Invalid(path.Child("message"), v.Message, "must not contain line breaks"))
	}
	return append(errs, among(v.Reason, path.Child("reason"), metav1.StatusReasonForbidden, metav1.StatusReasonInvalid,
		metav1.StatusReasonRequestEntityTooLarge)...)
}

// MutatingPolicy returns the errors in a MutatingAdmissionPolicy.
func MutatingPolicy(p *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	s, params, x := &p.Spec, p.Spec.ParamKind != nil, expression.New(true)
	errs := validateCommon(s.FailurePolicy, s.ParamKind, s.MatchConstraints)
	if s.MatchConstraints != nil {
		errs = append(errs, mutable(s.MatchConstraints, specPath.Child("matchConstraints"))...)
	}
	errs = append(errs, validateConditions(params, s.MatchConditions, specPath.Child("matchConditions"))...)
	errs = append(errs, validateVariables(x, params, s.Variables)...)
	path := specPath.Child("mutations")
	if len(s.Mutations) == 0 {
		errs = append(errs, field.Required(path, "mutations must contain at least one item"))
	}
	for i := range s.Mutations {
		errs = append(errs, validateMutation(x, params, &s.Mutations[i], path.Index(i))...)
	}
	return append(errs, OneOf(s.ReinvocationPolicy, specPath.Child("reinvocationPolicy"),
		admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)...)
}

func mutable(m *admissionv1.MatchResources, path *field.Path) (errs field.ErrorList) {
	for _, r := range m.ResourceRules {
		for _, op := range r.Operations {
			errs = append(errs, among(&op, path.Child("resourceRules", "operations"), admissionv1.OperationAll,
				admissionv1.Connect, admissionv1.Create, admissionv1.Update)...)
		}
	}
	return errs
}

func validateMutation(x *expression.Language, params bool, m *admissionv1.Mutation, path *field.Path) (errs field.ErrorList) {
	ways := [...]struct {
		kind       admissionv1.PatchType
		name       string
		is         bool
		yields     expression.Yield
		expression string
	}{{kind: admissionv1.PatchTypeApplyConfiguration, name: "applyConfiguration", is: m.ApplyConfiguration != nil,
		yields: expression.Object},
		{kind: admissionv1.PatchTypeJSONPatch, name: "jsonPatch", is: m.JSONPatch != nil, yields: expression.JSONPatch}}
	if m.ApplyConfiguration != nil {
		ways[0].expression = m.ApplyConfiguration.Expression
	}
	if m.JSONPatch != nil {
		ways[1].expression = m.JSONPatch.Expression
	}
	if m.PatchType != ways[0].kind && m.PatchType != ways[1].kind {
		return OneOf(m.PatchType, path.Child("patchType"), ways[0].kind, ways[1].kind)
	}
	own, other := ways[0], ways[1]
	if m.PatchType == ways[1].kind {
		own, other = other, own
	}
	switch at := path.Child(own.name); {
	case !own.is:
		errs = append(errs, field.Required(at, fmt.Sprintf("must be specified when patchType is %s", own.kind)))
	case strings.TrimSpace(own.expression) == "":
		errs = append(errs, field.Required(at.Child("expression"), ""))
	default:
		text := strings.TrimSpace(own.expression)
		errs = append(errs, compiles(x, expression.Expression{Text: text, Yields: own.yields, Params: params}, text,
			at.Child("expression"))...)
	}
	if other.is {
		errs = append(errs, field.Invalid(path.Child(other.name), "{"+other.name+"}",
			fmt.Sprintf("must not be specified when patchType is %s", own.kind)))
	}
	return errs
}

// ValidatingBinding returns the errors in a ValidatingAdmissionPolicyBinding.
func ValidatingBinding(b *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	errs := validateBound(b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources)
	path, actions := specPath.Child("validationActions"), b.Spec.ValidationActions
	for i, a := range actions {
		errs = append(errs, among(&a, path.Index(i), admissionv1.Audit, admissionv1.Deny, admissionv1.Warn)...)
		if slices.Contains(actions[:i], a) {
			errs = append(errs, field.Duplicate(path.Index(i), a))
		}
	}
	if slices.Contains(actions, admissionv1.Deny) && slices.Contains(actions, admissionv1.Warn) {
		errs = append(errs, field.Invalid(path, actions, "must not contain both Deny and Warn (repeating the same "+
			"validation failure information in the API response and headers serves no purpose)"))
	}
	if len(actions) == 0 {
		errs = append(errs, field.Required(path, "at least one validation action is required"))
	}
	return errs
}

// MutatingBinding returns the errors in a MutatingAdmissionPolicyBinding.
func MutatingBinding(b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	errs := validateBound(b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources)
	if b.Spec.MatchResources != nil {
		errs = append(errs, mutable(b.Spec.MatchResources, specPath.Child("matchResources"))...)
	}
	return errs
}

func validateBound(policy string, ref *admissionv1.ParamRef, match *admissionv1.MatchResources) field.ErrorList {
	errs := mustName(policy, specPath.Child("policyName"), apivalidation.NameIsDNSSubdomain)
	if ref != nil {
		errs = append(errs, validateParamRef(ref, specPath.Child("paramRef"))...)
	}
	if match != nil {
		errs = append(errs, validateMatch(match, specPath.Child("matchResources"))...)
	}
	return errs
}

func validateParamRef(r *admissionv1.ParamRef, path *field.Path) (errs field.ErrorList) {
	const one = "name and selector are mutually exclusive"
	if r.Name != "" {
		errs = named(r.Name, path.Child("name"), metadata.PathSegment)
		if r.Selector != nil {
			errs = append(errs, field.Forbidden(path.Child("name"), one))
		}
	}
	if r.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(r.Selector,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
		if r.Name != "" {
			errs = append(errs, field.Forbidden(path.Child("selector"), one))
		}
	}
	if r.Name == "" && r.Selector == nil {
		errs = append(errs, field.Required(path, "one of name or selector must be specified"))
	}
	action := r.ParameterNotFoundAction
	switch at := path.Child("parameterNotFoundAction"); {
	case action == nil || *action == "":
		errs = append(errs, field.Required(at, ""))
	case *action != admissionv1.DenyAction && *action != admissionv1.AllowAction:
		errs = append(errs, field.NotSupported(at, action, []string{"Deny", "Allow"}))
	}
	return errs
}
