package fakeapi

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func warnName(name, text string) []string {
	if msgs := utilvalidation.IsDNS1123Label(name); len(msgs) > 0 {
		return []string{fmt.Sprintf("%s%v", text, msgs)}
	}
	return nil
}

func validateConfigMap(c *corev1.ConfigMap) (errs field.ErrorList) {
	total := 0
	for _, key := range sortedKeys(c.Data) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, msg))
		}
		if _, ok := c.BinaryData[key]; ok {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		total += len(c.Data[key])
	}
	for _, key := range sortedKeys(c.BinaryData) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("binaryData").Key(key), key, msg))
		}
		total += len(c.BinaryData[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func validateConfigMapUpdate(c, old *corev1.ConfigMap) (errs field.ErrorList) {
	if old.Immutable != nil && *old.Immutable {
		const msg = "field is immutable when `immutable` is set"
		if c.Immutable == nil || !*c.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), msg))
		}
		if !sameMap(c.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), msg))
		}
		if !sameBytes(c.BinaryData, old.BinaryData) {
			errs = append(errs, field.Forbidden(field.NewPath("binaryData"), msg))
		}
	}
	return append(errs, validateConfigMap(c)...)
}

func sameBytes(a, b map[string][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || !bytes.Equal(v, w) {
			return false
		}
	}
	return true
}

func validateReplicationController(rc *corev1.ReplicationController) field.ErrorList {
	s := &rc.Spec
	errs := nonNegative(int64(s.MinReadySeconds), specPath, "minReadySeconds")
	if len(s.Selector) == 0 {
		errs = append(errs, field.Required(specPath.Child("selector"), ""))
	}
	errs = append(errs, nonNegative(int64(*s.Replicas), specPath, "replicas")...)
	path := specPath.Child("template")
	if s.Template == nil {
		return append(errs, field.Required(path, ""))
	}
	if len(s.Selector) > 0 && !labels.SelectorFromSet(s.Selector).Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, validateTemplate(s.Template, path)...)
	return append(errs, alwaysRestarts(s.Template, path, "ReplicationController")...)
}

// alwaysRestarts checks a template whose Pods are to run for ever.
func alwaysRestarts(t *corev1.PodTemplateSpec, path *field.Path, kind string) (errs field.ErrorList) {
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), t.Spec.RestartPolicy, []string{string(corev1.RestartPolicyAlways)}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

func validateReplicationControllerUpdate(rc, _ *corev1.ReplicationController) field.ErrorList {
	return validateReplicationController(rc)
}

func validateReplicationControllerStatus(rc, _ *corev1.ReplicationController) field.ErrorList {
	s := &rc.Status
	return validateReplicaCounts(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration, nil)
}

// validateReplicaCounts checks the status of a kind that counts Pods.
func validateReplicaCounts(replicas, labelled, ready, available int32, observed int64, terminating *int32) field.ErrorList {
	errs := nonNegative(int64(replicas), statusPath, "replicas")
	errs = append(errs, nonNegative(int64(labelled), statusPath, "fullyLabeledReplicas")...)
	errs = append(errs, nonNegative(int64(ready), statusPath, "readyReplicas")...)
	errs = append(errs, nonNegative(int64(available), statusPath, "availableReplicas")...)
	errs = append(errs, nonNegative(observed, statusPath, "observedGeneration")...)
	if terminating != nil {
		errs = append(errs, nonNegative(int64(*terminating), statusPath, "terminatingReplicas")...)
	}
	const msg = "cannot be greater than status.replicas"
	if labelled > replicas {
		errs = append(errs, field.Invalid(statusPath.Child("fullyLabeledReplicas"), labelled, msg))
	}
	if ready > replicas {
		errs = append(errs, field.Invalid(statusPath.Child("readyReplicas"), ready, msg))
	}
	if available > replicas {
		errs = append(errs, field.Invalid(statusPath.Child("availableReplicas"), available, msg))
	}
	if available > ready {
		errs = append(errs, field.Invalid(statusPath.Child("availableReplicas"), available, "cannot be greater than readyReplicas"))
	}
	return errs
}

func validatePod(p *corev1.Pod) field.ErrorList {
	errs := validatePodSpec(&p.Spec, specPath)
	if len(p.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// validatePodUpdate lets images, deadlines, tolerations and scheduling gates
// change, each in its way, and nothing else.
func validatePodUpdate(p, old *corev1.Pod) field.ErrorList {
	errs := validatePodSpec(&p.Spec, specPath)
	for _, pair := range [...]struct {
		now, was []corev1.Container
		name     string
	}{{p.Spec.Containers, old.Spec.Containers, "containers"}, {p.Spec.InitContainers, old.Spec.InitContainers, "initContainers"}} {
		if len(pair.now) != len(pair.was) {
			return append(errs, field.Forbidden(specPath.Child(pair.name), "pod updates may not add or remove containers"))
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
	if same(&p.Spec, &old.Spec) {
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
	if g := old.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 && munged.TerminationGracePeriodSeconds != nil && *munged.TerminationGracePeriodSeconds == 1 {
		munged.TerminationGracePeriodSeconds = g
	}
	if !equality.Semantic.DeepEqual(munged, &old.Spec) {
		errs = append(errs, field.Forbidden(specPath, fmt.Sprintf("pod updates may not change fields other than %s\n%v", updatableSpec, specDiff(&old.Spec, munged))))
	}
	return errs
}

const updatableSpec = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

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
			return field.ErrorList{field.Forbidden(specPath.Child("tolerations"), "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

// validateGates: scheduling gates may only be taken away.
func validateGates(now, was []corev1.PodSchedulingGate) (errs field.ErrorList) {
	for _, g := range now {
		if !slices.Contains(was, g) {
			errs = append(errs, field.Forbidden(specPath.Child("schedulingGates").Child(g.Name), "only deletion is allowed, but found new scheduling gate '"+g.Name+"'"))
		}
	}
	return errs
}

func validatePodStatus(p, old *corev1.Pod) (errs field.ErrorList) {
	if p.Spec.NodeName != old.Spec.NodeName {
		errs = append(errs, field.Forbidden(statusPath.Child("nodeName"), "may not be changed directly"))
	}
	if p.Status.ObservedGeneration < 0 {
		errs = append(errs, field.Invalid(statusPath.Child("observedGeneration"), p.Status.ObservedGeneration, "must be a non-negative integer"))
	}
	return append(errs, validation.ValidateImmutableField(p.Status.QOSClass, old.Status.QOSClass, statusPath.Child("qosClass"))...)
}

// specDiff names what differs, as JSON.
func specDiff(a, b *corev1.PodSpec) string { return diff.Diff(a, b) }
