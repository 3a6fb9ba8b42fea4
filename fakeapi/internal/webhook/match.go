package webhook

import (
	"slices"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
)

// Rules selects the requests for a webhook or a policy.
type Rules struct {
	Namespaces, Objects *metav1.LabelSelector
	Equivalent          bool // the rules also match requests for another version of a resource
	Rules               []registration.RuleWithOperations
	Not                 []registration.RuleWithOperations // a request that matches one of these is not selected
	Names, NotNames     [][]string                        // by index of Rules and Not: the object names; nil for all
	All                 bool                              // all requests are selected, except those that match Not
}

// Match returns the version in which a webhook receives the object. ok is false if the rules do not select the request.
// others are the other versions of the request's kind. labelsOf returns the labels of a namespace.
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

func (r *Rules) any(list []registration.RuleWithOperations, names [][]string, a *Attributes,
	as schema.GroupVersionResource) bool {
	request := admission.NewAttributesRecord(nil, nil, a.Kind, a.Namespace, a.Name, as, a.Subresource,
		admission.Operation(a.Operation), nil, false, nil)
	for i := range list {
		matcher := rules.Matcher{Rule: list[i], Attr: request}
		named := len(names) == 0 || len(names[i]) == 0 || slices.Contains(names[i], a.Name)
		if named && matcher.Matches() {
			return true
		}
	}
	return false
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
