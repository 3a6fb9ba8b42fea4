package validation

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// Pod checks a new Pod.
func Pod(p *corev1.Pod) field.ErrorList {
	errs := validatePod(p)
	if len(p.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("nodeName"),
			"cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// validatePod checks the spec, and what is asked of Pods and not of templates.
func validatePod(p *corev1.Pod) field.ErrorList {
	scope := podScope{spec: &p.Spec, pod: p.Name, isPod: true}
	errs := scope.validate(specPath)
	if p.Spec.ServiceAccountName == "" {
		for i := range p.Spec.Volumes {
			if s := p.Spec.Volumes[i].Projected; s != nil {
				errs = append(errs, withoutAccount(s,
					specPath.Child("volumes").Index(i).Child("projected", "sources"))...)
			}
		}
	}
	for i := range p.Spec.Containers {
		if c := &p.Spec.Containers[i]; padded(c.Image) {
			errs = append(errs, paddedImage(c, specPath.Child("containers").Index(i))...)
		}
	}
	for i := range p.Spec.InitContainers {
		errs = append(errs, paddedImage(&p.Spec.InitContainers[i], specPath.Child("initContainers").Index(i))...)
	}
	return errs
}

func withoutAccount(s *corev1.ProjectedVolumeSource, path *field.Path) (errs field.ErrorList) {
	for i := range s.Sources {
		if s.Sources[i].ServiceAccountToken != nil {
			errs = append(errs, field.Forbidden(path.Index(i).Child("serviceAccountToken"),
				"must not be specified when serviceAccountName is not set"))
		}
	}
	return errs
}

// PodUpdate lets images, deadlines, tolerations and scheduling gates
// change, each in its way, and nothing else.
func PodUpdate(p, old *corev1.Pod) field.ErrorList {
	errs := validatePod(p)
	for _, pair := range [...]struct {
		now, was []corev1.Container
		name     string
	}{{p.Spec.Containers, old.Spec.Containers, "containers"},
		{p.Spec.InitContainers, old.Spec.InitContainers, "initContainers"}} {
		if len(pair.now) != len(pair.was) {
			return append(errs, field.Forbidden(specPath.Child(pair.name),
				"pod updates may not add or remove containers"))
		}
		for i := range pair.now {
			if image := pair.now[i].Image; image == "" || padded(image) {
				at := specPath.Child(pair.name).Index(i)
				errs = append(append(errs, required(image, at.Child("image"))...), paddedImage(&pair.now[i], at)...)
			}
		}
	}
	if more, stop := validateDeadline(p, old); len(more) > 0 {
		errs = append(errs, more...)
		if stop {
			return errs
		}
	}
	errs = append(errs, onlyMoreTolerations(p.Spec.Tolerations, old.Spec.Tolerations)...)
	errs = append(errs, validateGates(p.Spec.SchedulingGates, old.Spec.SchedulingGates)...)
	if same.Value(&p.Spec, &old.Spec) {
		return errs
	}
	return append(errs, onlyUpdatable(p, old)...)
}

// onlyUpdatable puts back what may change, and looks whether anything is left.
func onlyUpdatable(p, old *corev1.Pod) (errs field.ErrorList) {
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
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, narrowed(munged, &old.Spec)...)
	}
	if !equality.Semantic.DeepEqual(munged, &old.Spec) {
		errs = append(errs, field.Forbidden(specPath,
			fmt.Sprintf("pod updates may not change fields other than %s\n%v", updatableSpec,
				specDiff(&old.Spec, munged))))
	}
	return errs
}

// narrowed: while a gate is closed the nodes on which a Pod may run can become fewer.
// What is said of it is put back in the new spec.
func narrowed(now, old *corev1.PodSpec) (errs field.ErrorList) {
	if !equality.Semantic.DeepEqual(now.NodeSelector, old.NodeSelector) {
		for key, value := range old.NodeSelector { //detcheck:ordered the error is the same for each key
			if kept, ok := now.NodeSelector[key]; !ok || kept != value {
				errs = field.ErrorList{field.Invalid(specPath.Child("nodeSelector"), now.NodeSelector,
					"only additions to spec.nodeSelector are allowed (no mutations or deletions)")}
			}
		}
		now.NodeSelector = old.NodeSelector
	}
	var was, is *corev1.NodeAffinity
	if old.Affinity != nil {
		was = old.Affinity.NodeAffinity
	}
	if now.Affinity != nil {
		is = now.Affinity.NodeAffinity
	}
	if equality.Semantic.DeepEqual(is, was) {
		return errs
	}
	errs = append(errs, narrowedTerms(termsOf(is), termsOf(was),
		specPath.Child("affinity", "nodeAffinity", mustBe, "nodeSelectorTerms"))...)
	switch a := now.Affinity; {
	case a == nil:
		now.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil:
		now.Affinity = nil
	default:
		a.NodeAffinity = was
	}
	return errs
}

func termsOf(a *corev1.NodeAffinity) []corev1.NodeSelectorTerm {
	if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

func narrowedTerms(now, was []corev1.NodeSelectorTerm, path *field.Path) (errs field.ErrorList) {
	if len(was) > 0 && len(was) != len(now) {
		return field.ErrorList{field.Invalid(path, shownList(now),
			"no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	begins := func(now, was []corev1.NodeSelectorRequirement) bool {
		return len(now) >= len(was) && equality.Semantic.DeepEqual(now[:len(was)], was)
	}
	for i := range was {
		w, n := &was[i], &now[i]
		empty := len(w.MatchExpressions)+len(w.MatchFields) == 0
		if empty && len(n.MatchExpressions)+len(n.MatchFields) > 0 ||
			!begins(n.MatchExpressions, w.MatchExpressions) || !begins(n.MatchFields, w.MatchFields) {
			errs = append(errs, field.Invalid(path.Index(i), asShown(n),
				"only additions are allowed (no mutations or deletions)"))
		}
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

// onlyMoreTolerations: tolerations may only be added.
func onlyMoreTolerations(now, was []corev1.Toleration) field.ErrorList {
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
	if len(now) == 0 {
		return nil
	}
	return validateTolerations(now, specPath)
}

// validateGates: scheduling gates may only be taken away.
func validateGates(now, was []corev1.PodSchedulingGate) (errs field.ErrorList) {
	for i, g := range now {
		if !slices.Contains(was, g) && !slices.Contains(now[i+1:], g) {
			errs = append(errs, field.Forbidden(specPath.Child("schedulingGates").Index(i).Child("name"),
				"only deletion is allowed, but found new scheduling gate '"+g.Name+"'"))
		}
	}
	return errs
}

// specDiff names what differs, as JSON.
func specDiff(a, b *corev1.PodSpec) string { return diff.Diff(asShown(a), asShown(b)) }
