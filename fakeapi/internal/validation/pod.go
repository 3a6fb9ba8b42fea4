package validation

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// Pod checks a new Pod.
func Pod(p *corev1.Pod) field.ErrorList {
	errs := validatePodSpec(&p.Spec, specPath)
	if len(p.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("nodeName"),
			"cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// PodUpdate lets images, deadlines, tolerations and scheduling gates
// change, each in its way, and nothing else.
func PodUpdate(p, old *corev1.Pod) field.ErrorList {
	errs := validatePodSpec(&p.Spec, specPath)
	for _, pair := range [...]struct {
		now, was []corev1.Container
		name     string
	}{{p.Spec.Containers, old.Spec.Containers, "containers"},
		{p.Spec.InitContainers, old.Spec.InitContainers, "initContainers"}} {
		if len(pair.now) != len(pair.was) {
			return append(errs, field.Forbidden(specPath.Child(pair.name),
				"pod updates may not add or remove containers"))
		}
	}
	if more, stop := validateDeadline(p, old); len(more) > 0 {
		errs = append(errs, more...)
		if stop {
			return errs
		}
	}
	errs = append(errs, validateTolerations(p.Spec.Tolerations, old.Spec.Tolerations)...)
	errs = append(errs, validateGates(p.Spec.SchedulingGates, old.Spec.SchedulingGates)...)
	if same.Value(&p.Spec, &old.Spec) {
		return errs
	}
	munged := p.Spec.DeepCopy()
	for i := range munged.Containers {
		munged.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range munged.InitContainers {
		munged.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	munged.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	munged.SchedulingGates = old.Spec.SchedulingGates
	munged.Tolerations = old.Spec.Tolerations
	if g := old.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 && munged.TerminationGracePeriodSeconds != nil &&
		*munged.TerminationGracePeriodSeconds == 1 {
		munged.TerminationGracePeriodSeconds = g
	}
	if !equality.Semantic.DeepEqual(munged, &old.Spec) {
		errs = append(errs, field.Forbidden(specPath,
			fmt.Sprintf("pod updates may not change fields other than %s\n%v", updatableSpec,
				specDiff(&old.Spec, munged))))
	}
	return errs
}

const updatableSpec = "`spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

func validateDeadline(p, old *corev1.Pod) (errs field.ErrorList, stop bool) {
	path := specPath.Child("activeDeadlineSeconds")
	now, was := p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds
	switch {
	case now == nil && was != nil:
		return field.ErrorList{field.Invalid(path, now, "must not update from a positive integer to nil value")}, false
	case now == nil:
		return nil, false
	case *now < 0 || *now > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, *now, utilvalidation.InclusiveRangeError(0, math.MaxInt32))}, true
	case was != nil && *was < *now:
		return field.ErrorList{field.Invalid(path, *now, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// validateTolerations: tolerations may only be added.
func validateTolerations(now, was []corev1.Toleration) field.ErrorList {
	for i := range was {
		kept := slices.ContainsFunc(now, func(t corev1.Toleration) bool {
			t.TolerationSeconds = was[i].TolerationSeconds
			return equality.Semantic.DeepEqual(t, was[i])
		})
		if !kept {
			return field.ErrorList{field.Forbidden(specPath.Child("tolerations"),
				"existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

// validateGates: scheduling gates may only be taken away.
func validateGates(now, was []corev1.PodSchedulingGate) (errs field.ErrorList) {
	for _, g := range now {
		if !slices.Contains(was, g) {
			errs = append(errs, field.Forbidden(specPath.Child("schedulingGates").Child(g.Name),
				"only deletion is allowed, but found new scheduling gate '"+g.Name+"'"))
		}
	}
	return errs
}

// PodStatus checks a write to the status.
func PodStatus(p, old *corev1.Pod) (errs field.ErrorList) {
	if p.Spec.NodeName != old.Spec.NodeName {
		errs = append(errs, field.Forbidden(statusPath.Child("nodeName"), "may not be changed directly"))
	}
	if p.Status.ObservedGeneration < 0 {
		errs = append(errs, field.Invalid(statusPath.Child("observedGeneration"), p.Status.ObservedGeneration,
			"must be a non-negative integer"))
	}
	return append(errs, apivalidation.ValidateImmutableField(p.Status.QOSClass, old.Status.QOSClass,
		statusPath.Child("qosClass"))...)
}

// specDiff names what differs, as JSON.
func specDiff(a, b *corev1.PodSpec) string { return diff.Diff(shownSpec(a), shownSpec(b)) }
