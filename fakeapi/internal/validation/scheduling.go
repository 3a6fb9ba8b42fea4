package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	systemPrefix   = "system-"
	highestOfUsers = 1000000000
)

// systemClasses are the priority classes of the system, whose names are reserved.
var systemClasses = map[string]int32{"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}

// PriorityClass checks the value, and who may use which name.
func PriorityClass(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	switch {
	case strings.HasPrefix(c.Name, systemPrefix):
		if why := notSystem(c); why != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"), "priority class names with '"+
				systemPrefix+"' prefix are reserved for system use only. error: "+why))
		}
	case c.Value > highestOfUsers:
		errs = append(errs, field.Forbidden(field.NewPath("value"),
			fmt.Sprintf("maximum allowed value of a user defined priority is %v", highestOfUsers)))
	}
	return append(errs, among(c.PreemptionPolicy, field.NewPath("preemptionPolicy"), corev1.PreemptLowerPriority,
		corev1.PreemptNever)...)
}

func notSystem(c *schedulingv1.PriorityClass) string {
	value, ok := systemClasses[c.Name]
	switch {
	case !ok:
		return c.Name + " is not a known system priority class"
	case value != c.Value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", c.Name)
	}
	return ""
}

// PriorityClassUpdate checks that value and policy stay the same.
func PriorityClassUpdate(c, old *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if c.Value != old.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, apivalidation.ValidateImmutableField(c.PreemptionPolicy, old.PreemptionPolicy,
		field.NewPath("preemptionPolicy"))...)
}

// RuntimeClass checks the handler of a class, what it needs and where it runs.
func RuntimeClass(c *nodev1.RuntimeClass) field.ErrorList {
	errs := mustName(c.Handler, field.NewPath("handler"), apivalidation.NameIsDNSLabel)
	if c.Overhead != nil {
		errs = append(errs, validateRequirements(&corev1.ResourceRequirements{Limits: c.Overhead.PodFixed},
			containerResource, nil, field.NewPath("overhead"))...)
	}
	if s := c.Scheduling; s != nil {
		path := field.NewPath("scheduling")
		if s.NodeSelector != nil {
			errs = append(errs, metav1validation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
		}
		errs = append(errs, validateTolerations(s.Tolerations, path)...)
		for i, t := range s.Tolerations {
			if slices.ContainsFunc(s.Tolerations[:i], func(o corev1.Toleration) bool {
				return o.Key == t.Key && o.Operator == t.Operator && o.Value == t.Value && o.Effect == t.Effect
			}) {
				errs = append(errs, field.Duplicate(path.Child("tolerations").Index(i), asShown(&t)))
			}
		}
	}
	return errs
}

// RuntimeClassUpdate checks that it stays the same.
func RuntimeClassUpdate(c, old *nodev1.RuntimeClass) field.ErrorList {
	return append(RuntimeClass(c), apivalidation.ValidateImmutableField(c.Handler, old.Handler,
		field.NewPath("handler"))...)
}
