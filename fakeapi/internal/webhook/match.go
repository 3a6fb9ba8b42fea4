package webhook

import (
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules say which requests something is for: a webhook, or a policy.
type Rules struct {
	Namespaces, Objects *metav1.LabelSelector
	Equivalent          bool // any form of a resource will do
	Rules               []registration.RuleWithOperations
	Not                 []registration.RuleWithOperations // that are not meant after all
	Names, NotNames     [][]string                        // by rule: the names that are meant; none: all
	All                 bool                              // whatever is not meant after all
}

// Match returns the form in which a webhook gets the object; ok is false if the rules do not match. others are the
// other versions.
func (r *Rules) Match(a *Attributes, others []Target, labelsOf func(namespace string) (map[string]string, error)) (
	to Target, ok bool, err error) {
	inNamespace, nsErr := r.matchNamespace(a, labelsOf)
	if !inNamespace && nsErr == nil {
		return to, false, nil
	}
	selected, err := matchObject(r.Objects, a)
	if err == nil && !selected {
		return to, false, nil
	}
	if to, ok = r.target(a, others); !ok {
		return to, false, nil
	}
	if nsErr != nil {
		return to, false, nsErr
	}
	return to, err == nil, err
}

func (r *Rules) target(a *Attributes, others []Target) (Target, bool) {
	own := Target{a.Kind, a.Resource}
	if r.any(r.Not, r.NotNames, a, a.Resource) {
		return own, false
	}
	for i := 0; r.Equivalent && i < len(others); i++ {
		if r.any(r.Not, r.NotNames, a, others[i].Resource) {
			return own, false
		}
	}
	if r.All || r.any(r.Rules, r.Names, a, a.Resource) {
		return own, true
	}
	if !r.Equivalent {
		return own, false
	}
	for i := range r.Rules {
		for _, other := range others {
			if r.any(r.Rules[i:i+1], r.namesOf(i), a, other.Resource) {
				return other, true
			}
		}
	}
	return own, false
}

func (r *Rules) namesOf(i int) [][]string {
	if r.Names == nil {
		return nil
	}
	return r.Names[i : i+1]
}

func (r *Rules) any(rules []registration.RuleWithOperations, names [][]string, a *Attributes,
	as schema.GroupVersionResource) bool {
	for i := range rules {
		named := len(names) == 0 || len(names[i]) == 0 || slices.Contains(names[i], a.Name)
		if named && matchRule(&rules[i], a, as) {
			return true
		}
	}
	return false
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func matchRule(r *registration.RuleWithOperations, a *Attributes, as schema.GroupVersionResource) bool {
	if r.Scope != nil && *r.Scope != registration.AllScopes {
		clusterwide := as == namespaces || a.Namespace == ""
		if clusterwide != (*r.Scope == registration.ClusterScope) {
			return false
		}
	}
	operation := slices.Contains(r.Operations, registration.OperationAll) ||
		slices.Contains(r.Operations, registration.OperationType(a.Operation))
	return operation && wild(r.APIGroups, as.Group) && wild(r.APIVersions, as.Version) &&
		slices.ContainsFunc(r.Resources, func(both string) bool {
			resource, sub, _ := strings.Cut(both, "/")
			return (resource == "*" || resource == as.Resource) && (sub == "*" || sub == a.Subresource)
		})
}

func wild(items []string, asked string) bool {
	return slices.Contains(items, "*") || slices.Contains(items, asked)
}

func (r *Rules) matchNamespace(a *Attributes, labelsOf func(string) (map[string]string, error)) (bool, error) {
	if a.Namespace == "" && a.Resource.Resource != "namespaces" {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(r.Namespaces)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if selector.Empty() {
		return true, nil
	}
	if a.Resource.Resource == "namespaces" && a.Subresource == "" && a.Object != nil {
		return selector.Matches(labels.Set(a.Object.(metav1.Object).GetLabels())), nil
	}
	of, err := labelsOf(a.Namespace)
	if err != nil {
		return false, err
	}
	return selector.Matches(labels.Set(of)), nil
}

func matchObject(s *metav1.LabelSelector, a *Attributes) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if selector.Empty() {
		return true, nil
	}
	is := func(obj runtime.Object) bool {
		m, ok := obj.(metav1.Object)
		return ok && selector.Matches(labels.Set(m.GetLabels()))
	}
	return is(a.Object) || is(a.Old), nil
}
