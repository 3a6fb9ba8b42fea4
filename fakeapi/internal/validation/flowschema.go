package validation

import (
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FlowSchema checks precedence, priority level, and rules. That the two schemas which the server
// makes for itself are as it makes them is not checked: nothing is made here.
func FlowSchema(f *flowcontrolv1.FlowSchema) (errs field.ErrorList) {
	s, at := &f.Spec, specPath.Child("matchingPrecedence")
	const most = flowcontrolv1.FlowSchemaMaxMatchingPrecedence
	if s.MatchingPrecedence <= 0 {
		errs = append(errs, field.Invalid(at, s.MatchingPrecedence, "must be a positive value"))
	}
	if s.MatchingPrecedence > most {
		errs = append(errs, field.Invalid(at, s.MatchingPrecedence, fmt.Sprintf("must not be greater than %v", most)))
	}
	if s.MatchingPrecedence == 1 && f.Name != "exempt" {
		errs = append(errs, field.Invalid(at, s.MatchingPrecedence,
			"only the schema named 'exempt' may have matchingPrecedence 1"))
	}
	if m := s.DistinguisherMethod; m != nil && m.Type != flowcontrolv1.FlowDistinguisherMethodByNamespaceType &&
		m.Type != flowcontrolv1.FlowDistinguisherMethodByUserType {
		errs = append(errs, field.NotSupported(specPath.Child("distinguisherMethod").Child("type"), asShown(m),
			[]string{"ByNamespace", "ByUser"}))
	}
	level := specPath.Child("priorityLevelConfiguration").Child("name")
	if name := s.PriorityLevelConfiguration.Name; name == "" {
		errs = append(errs, field.Required(level, "must reference a priority level"))
	} else {
		errs = append(errs, named(name, level, apivalidation.NameIsDNSSubdomain)...)
	}
	for i := range s.Rules {
		errs = append(errs, validateFlowRules(&s.Rules[i], specPath.Child("rules").Index(i))...)
	}
	return append(errs, FlowSchemaStatus(f, f)...)
}

// FlowSchemaStatus checks that there is one condition of each type.
func FlowSchemaStatus(f, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	types := make([]string, len(f.Status.Conditions))
	for i, c := range f.Status.Conditions {
		types[i] = string(c.Type)
	}
	return conditionTypes(types)
}

// conditionTypes checks that conditions have a type, each its own.
func conditionTypes(types []string) (errs field.ErrorList) {
	for i, t := range types {
		path := field.NewPath("status", "conditions").Index(i).Child("type")
		if slices.Contains(types[:i], t) {
			errs = append(errs, field.Duplicate(path, t))
		}
		errs = append(errs, required(t, path)...)
	}
	return errs
}

func validateFlowRules(r *flowcontrolv1.PolicyRulesWithSubjects, path *field.Path) (errs field.ErrorList) {
	if len(r.Subjects) == 0 {
		errs = append(errs, field.Required(path.Child("subjects"), "subjects must contain at least one value"))
	}
	for i := range r.Subjects {
		errs = append(errs, validateFlowSubject(&r.Subjects[i], path.Child("subjects").Index(i))...)
	}
	if len(r.ResourceRules) == 0 && len(r.NonResourceRules) == 0 {
		errs = append(errs, field.Required(path,
			"at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for i := range r.ResourceRules {
		errs = append(errs, validateFlowResources(&r.ResourceRules[i], path.Child("resourceRules").Index(i))...)
	}
	for i := range r.NonResourceRules {
		rule, at := &r.NonResourceRules[i], path.Child("nonResourceRules").Index(i)
		errs = append(errs, validateFlowVerbs(rule.Verbs, at.Child("verbs"))...)
		urls := at.Child("nonResourceURLs")
		errs = append(errs, someOf(rule.NonResourceURLs, urls, "nonResourceURLs must contain at least one value",
			"non-resource URLs")...)
		if slices.Contains(rule.NonResourceURLs, "*") {
			continue
		}
		for j, url := range rule.NonResourceURLs {
			if why := wrongURL(url); why != "" {
				errs = append(errs, field.Invalid(urls.Index(j), url, why))
			}
		}
	}
	return errs
}

// someOf checks that there are some, and that * is alone.
func someOf(list []string, path *field.Path, none, what string) field.ErrorList {
	if len(list) == 0 {
		return field.ErrorList{field.Required(path, none)}
	}
	return aloneOrSome(list, path, what)
}

var flowVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

func validateFlowVerbs(verbs []string, path *field.Path) field.ErrorList {
	if errs := someOf(verbs, path, "verbs must contain at least one value", "verbs"); len(errs) > 0 {
		return errs
	}
	for _, v := range verbs {
		if v != "*" && !slices.Contains(flowVerbs, v) {
			return field.ErrorList{field.NotSupported(path, verbs, flowVerbs)}
		}
	}
	return nil
}

func validateFlowResources(r *flowcontrolv1.ResourcePolicyRule, path *field.Path) field.ErrorList {
	errs := validateFlowVerbs(r.Verbs, path.Child("verbs"))
	errs = append(errs, someOf(r.APIGroups, path.Child("apiGroups"),
		"resource rules must supply at least one api group", "api groups")...)
	errs = append(errs, someOf(r.Resources, path.Child("resources"),
		"resource rules must supply at least one resource", "resources")...)
	at := path.Child("namespaces")
	switch {
	case len(r.Namespaces) == 0 && !r.ClusterScope:
		errs = append(errs, field.Required(at,
			"resource rules that are not cluster scoped must supply at least one namespace"))
	case len(r.Namespaces) > 1 && slices.Contains(r.Namespaces, "*"):
		errs = append(errs, field.Invalid(at, r.Namespaces, "if '*' is present, must not specify other namespaces"))
	case !slices.Contains(r.Namespaces, "*"):
		for i, ns := range r.Namespaces {
			for _, msg := range apivalidation.ValidateNamespaceName(ns, false) {
				errs = append(errs, field.Invalid(at.Index(i), ns,
					"each member of this list must be '*' or a DNS-1123 label; "+msg))
			}
		}
	}
	return errs
}

// wrongURL says what is wrong with the path of something that is no resource.
func wrongURL(path string) string {
	switch stars := strings.Count(path, "*"); {
	case path == "":
		return "must not be empty"
	case path == "/":
		return ""
	case path[0] != '/':
		return "must start with slash"
	case strings.Contains(path, " "):
		return "must not contain white-space"
	case strings.Contains(path, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(path, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}

func validateFlowSubject(s *flowcontrolv1.Subject, path *field.Path) (errs field.ErrorList) {
	members := [...]struct {
		kind  flowcontrolv1.SubjectKind
		name  string
		is    bool
		check func(*field.Path) field.ErrorList
	}{
		{flowcontrolv1.SubjectKindServiceAccount, "serviceAccount", s.ServiceAccount != nil,
			func(at *field.Path) field.ErrorList { return validateFlowAccount(s.ServiceAccount, at) }},
		{flowcontrolv1.SubjectKindUser, "user", s.User != nil,
			func(at *field.Path) field.ErrorList { return required(s.User.Name, at.Child("name")) }},
		{flowcontrolv1.SubjectKindGroup, "group", s.Group != nil,
			func(at *field.Path) field.ErrorList { return required(s.Group.Name, at.Child("name")) }},
	}
	known := false
	for _, m := range members {
		if m.kind != s.Kind {
			continue
		}
		known = true
		if at := path.Child(m.name); m.is {
			errs = append(errs, m.check(at)...)
		} else {
			errs = append(errs, field.Required(at, fmt.Sprintf("%s is required when subject kind is '%s'", m.name,
				m.kind)))
		}
	}
	if !known {
		return field.ErrorList{field.NotSupported(path.Child("kind"), s.Kind, []string{"Group", "ServiceAccount",
			"User"})}
	}
	// The order of the other two is the real server's.
	for _, i := range [...]int{1, 0, 2} {
		if m := members[i]; m.kind != s.Kind && m.is {
			errs = append(errs, field.Forbidden(path.Child(m.name),
				fmt.Sprintf("%s is forbidden when subject kind is not '%s'", m.name, m.kind)))
		}
	}
	return errs
}

func validateFlowAccount(a *flowcontrolv1.ServiceAccountSubject, path *field.Path) (errs field.ErrorList) {
	if a.Name != "*" {
		errs = mustName(a.Name, path.Child("name"), apivalidation.ValidateServiceAccountName)
	}
	if a.Namespace == "" {
		return append(errs, field.Required(path.Child("namespace"), "must specify namespace for service account"))
	}
	return append(errs, named(a.Namespace, path.Child("namespace"), apivalidation.ValidateNamespaceName)...)
}
