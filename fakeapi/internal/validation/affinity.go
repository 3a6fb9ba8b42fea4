package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	mustBe = "requiredDuringSchedulingIgnoredDuringExecution"
	better = "preferredDuringSchedulingIgnoredDuringExecution"
)

// validateAffinity checks beside what a Pod has to run, and beside what it had better.
func validateAffinity(a *corev1.Affinity, path *field.Path) (errs field.ErrorList) {
	if n := a.NodeAffinity; n != nil {
		at := path.Child("nodeAffinity")
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			errs = append(errs, validateNodeSelector(n.RequiredDuringSchedulingIgnoredDuringExecution,
				at.Child(mustBe))...)
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			term, of := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child(better).Index(i)
			errs = append(errs, validateWeight(term.Weight, of)...)
			errs = append(errs, validateNodeTerm(&term.Preference, true, of.Child("preference"))...)
		}
	}
	if p := a.PodAffinity; p != nil {
		errs = append(errs, validatePodTerms(p.RequiredDuringSchedulingIgnoredDuringExecution,
			p.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAffinity"))...)
	}
	if p := a.PodAntiAffinity; p != nil {
		errs = append(errs, validatePodTerms(p.RequiredDuringSchedulingIgnoredDuringExecution,
			p.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAntiAffinity"))...)
	}
	return errs
}

func validateWeight(weight int32, path *field.Path) field.ErrorList {
	if weight > 0 && weight <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("weight"), weight, "must be in the range 1-100")}
}

func validatePodTerms(must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm,
	path *field.Path) (errs field.ErrorList) {
	for i := range must {
		errs = append(errs, validatePodTerm(&must[i], path.Child(mustBe).Index(i))...)
	}
	for i := range may {
		at := path.Child(better).Index(i)
		errs = append(errs, validateWeight(may[i].Weight, at)...)
		errs = append(errs, validatePodTerm(&may[i].PodAffinityTerm, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodTerm(t *corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{}
	errs := metav1validation.ValidateLabelSelector(t.LabelSelector, opts, path.Child("labelSelector"))
	errs = append(errs, metav1validation.ValidateLabelSelector(t.NamespaceSelector, opts,
		path.Child("namespaceSelector"))...)
	for _, name := range t.Namespaces {
		errs = append(errs, named(name, path.Child("namespace"), apivalidation.ValidateNamespaceName)...)
	}
	errs = append(errs, validateLabelKeys(t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector, path)...)
	at := path.Child("topologyKey")
	if t.TopologyKey == "" {
		errs = append(errs, field.Required(at, "can not be empty"))
	}
	return append(errs, metav1validation.ValidateLabelName(t.TopologyKey, at)...)
}

// validateLabelKeys checks the keys whose values are taken from the Pod's own labels.
func validateLabelKeys(match, mismatch []string, sel *metav1.LabelSelector, path *field.Path) (errs field.ErrorList) {
	for _, one := range [...]struct {
		name string
		keys []string
	}{{"matchLabelKeys", match}, {"mismatchLabelKeys", mismatch}} {
		if len(one.keys) > 0 && sel == nil {
			errs = append(errs, field.Forbidden(path.Child(one.name),
				"must not be specified when labelSelector is not set"))
			continue
		}
		for i, key := range one.keys {
			errs = append(errs, metav1validation.ValidateLabelName(key, path.Child(one.name).Index(i))...)
		}
	}
	if sel != nil {
		seen := map[string]bool{}
		for i := range sel.MatchExpressions {
			key := sel.MatchExpressions[i].Key
			_, labelled := sel.MatchLabels[key]
			if at := lastIndex(match, key); at >= 0 && (labelled || seen[key]) {
				errs = append(errs, field.Invalid(path.Index(at), key,
					"exists in both matchLabelKeys and labelSelector"))
			}
			seen[key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key,
				"exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func lastIndex(list []string, text string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == text {
			return i
		}
	}
	return -1
}

// validateNodeSelector checks which nodes are good.
func validateNodeSelector(s *corev1.NodeSelector, path *field.Path) (errs field.ErrorList) {
	at := path.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(at, "must have at least one node selector term")}
	}
	for i := range s.NodeSelectorTerms {
		errs = append(errs, validateNodeTerm(&s.NodeSelectorTerms[i], false, at.Index(i))...)
	}
	return errs
}

// validateNodeTerm checks one of several ways to be good. loose: values need not be those of labels.
func validateNodeTerm(t *corev1.NodeSelectorTerm, loose bool, path *field.Path) (errs field.ErrorList) {
	for i := range t.MatchExpressions {
		r, at := &t.MatchExpressions[i], path.Child("matchExpressions").Index(i)
		errs = append(errs, validateOperator(r, at)...)
		errs = append(errs, metav1validation.ValidateLabelName(r.Key, at.Child("key"))...)
		for j, value := range r.Values {
			if !loose {
				errs = append(errs, named(value, at.Child("values").Index(j),
					plain(utilvalidation.IsValidLabelValue))...)
			}
		}
	}
	for i := range t.MatchFields {
		r, at := &t.MatchFields[i], path.Child("matchFields").Index(i)
		if r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn {
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		} else if len(r.Values) != 1 {
			errs = append(errs, field.Required(at.Child("values"),
				"must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
		if r.Key != metav1.ObjectNameField {
			errs = append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
			continue
		}
		for j, value := range r.Values {
			errs = append(errs, named(value, at.Child("values").Index(j), apivalidation.NameIsDNSSubdomain)...)
		}
	}
	return errs
}

func validateOperator(r *corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	at := path.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			return field.ErrorList{field.Required(at, "must be specified when `operator` is 'In' or 'NotIn'")}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return field.ErrorList{field.Forbidden(at,
				"may not be specified when `operator` is 'Exists' or 'DoesNotExist'")}
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			return field.ErrorList{field.Required(at,
				"must be specified single value when `operator` is 'Lt' or 'Gt'")}
		}
	default:
		return field.ErrorList{field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator")}
	}
	return nil
}

// validateSpread checks how evenly Pods are to be spread.
func validateSpread(list []corev1.TopologySpreadConstraint, path *field.Path) (errs field.ErrorList) {
	for i := range list {
		c, at := &list[i], path.Index(i)
		errs = append(errs, positiveField(int64(c.MaxSkew), at.Child("maxSkew"))...)
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		}
		errs = append(errs, among(&c.WhenUnsatisfiable, at.Child("whenUnsatisfiable"), corev1.DoNotSchedule,
			corev1.ScheduleAnyway)...)
		if slices.ContainsFunc(list[i+1:], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"),
				fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		if least := c.MinDomains; least != nil {
			errs = append(errs, positiveField(int64(*least), at.Child("minDomains"))...)
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(at.Child("minDomains"), least,
					fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule,
						c.WhenUnsatisfiable)))
			}
		}
		for _, one := range [...]struct {
			name   string
			policy *corev1.NodeInclusionPolicy
		}{{"nodeAffinityPolicy", c.NodeAffinityPolicy}, {"nodeTaintsPolicy", c.NodeTaintsPolicy}} {
			errs = append(errs, among(one.policy, at.Child(one.name), corev1.NodeInclusionPolicyHonor,
				corev1.NodeInclusionPolicyIgnore)...)
		}
		errs = append(errs, validateLabelKeys(c.MatchLabelKeys, nil, c.LabelSelector, at)...)
		errs = append(errs, metav1validation.ValidateLabelSelector(c.LabelSelector,
			metav1validation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
	}
	return errs
}

// validateTolerations checks which taints a Pod does not mind.
func validateTolerations(list []corev1.Toleration, spec *field.Path) (errs field.ErrorList) {
	for i := range list {
		if !plainToleration(&list[i]) {
			errs = append(errs, validateToleration(&list[i], spec.Child("tolerations").Index(i))...)
		}
	}
	return errs
}

// plainToleration knows the two that every Pod gets.
func plainToleration(t *corev1.Toleration) bool {
	return (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable) && t.Value == "" &&
		t.Operator == corev1.TolerationOpExists && t.Effect == corev1.TaintEffectNoExecute
}

func validateToleration(t *corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	at := path.Child("operator")
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, path.Child("key"))...)
	} else if t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(at, t.Operator,
			"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), t.Effect,
			"effect must be 'NoExecute' when `tolerationSeconds` is set"))
	}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if msgs := utilvalidation.IsValidLabelValue(t.Value); len(msgs) > 0 {
			errs = append(errs, field.Invalid(at, t.Value, strings.Join(msgs, ";")))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(at, t.Value, "value must be empty when `operator` is 'Exists'"))
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		errs = append(errs, field.NotSupported(at, t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual,
			corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt}))
	default:
		errs = append(errs, field.NotSupported(at, t.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
	}
	if t.Effect != "" {
		errs = append(errs, among(&t.Effect, path.Child("effect"), taintEffects...)...)
	}
	return errs
}

var taintEffects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
	corev1.TaintEffectNoExecute}
