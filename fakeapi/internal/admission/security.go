package admission

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	security "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// standards are the Pod Security Standards of this version.
var standards = sync.OnceValue(func() policy.Evaluator {
	all, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic("fakeapi: the Pod Security Standards are inconsistent: " + err.Error())
	}
	return all
})

// policyOf returns the policy of a namespace, whose defaults are those of the plugin PodSecurity.
func policyOf(ns *corev1.Namespace) (security.Policy, field.ErrorList) {
	all := security.LevelVersion{Level: security.LevelPrivileged, Version: security.LatestVersion()}
	return security.PolicyToEvaluate(ns.Labels, security.Policy{Enforce: all, Audit: all, Warn: all})
}

// Secured reports whether a namespace has labels of the plugin PodSecurity.
func Secured(ns *corev1.Namespace) bool {
	for key := range ns.Labels { //detcheck:ordered it only searches
		if strings.HasPrefix(key, "pod-security.kubernetes.io/") {
			return true
		}
	}
	return false
}

// HasPod reports whether an object is a Pod, or has a Pod template.
func HasPod(obj runtime.Object) bool {
	_, spec := podOf(obj)
	return spec != nil
}

// SecureNamespace returns the errors in the labels of a namespace, or warnings about its Pods if it becomes stricter.
// old is nil for a create. It does what k8s.io/pod-security-admission/admission does, but has no limit of Pods and time.
func SecureNamespace(ns, old *corev1.Namespace, pods []*corev1.Pod) (warnings []string, errs field.ErrorList) {
	now, errs := policyOf(ns)
	if old == nil {
		return nil, errs
	}
	was, before := policyOf(old)
	if len(errs) > 0 && (len(before) == 0 || !reflect.DeepEqual(errs, before)) {
		return nil, errs
	}
	if now.Enforce == was.Enforce || now.Enforce.Level == security.LevelPrivileged ||
		now.Enforce.Version == was.Enforce.Version && security.CompareLevels(now.Enforce.Level, was.Enforce.Level) < 1 {
		return nil, nil
	}
	names := map[string][]string{}
	for _, p := range pods {
		result := policy.AggregateCheckResults(standards().EvaluatePod(now.Enforce, &p.ObjectMeta, &p.Spec))
		if !result.Allowed {
			names[result.ForbiddenReason()] = append(names[result.ForbiddenReason()], p.Name)
		}
	}
	for reason, of := range names { //detcheck:ordered the warnings are sorted
		text := slices.Min(of)
		switch others := len(of) - 1; {
		case others == 1:
			text += " (and 1 other pod)"
		case others > 1:
			text += fmt.Sprintf(" (and %d other pods)", others)
		}
		warnings = append(warnings, text+": "+reason)
	}
	if slices.Sort(warnings); len(warnings) > 0 {
		warnings = slices.Insert(warnings, 0, fmt.Sprintf(
			"existing pods in namespace %q violate the new PodSecurity enforce level %q", ns.Name, now.Enforce.String()))
	}
	return warnings, nil
}

// Secure evaluates a Pod, or an object with a Pod template, for its namespace. An error refuses a Pod. An object with a
// template is only warned about. old is nil for a create.
func Secure(ns *corev1.Namespace, obj, old runtime.Object) (warnings []string, err error) {
	meta, spec := podOf(obj)
	if spec == nil {
		return nil, nil
	}
	of, _ := policyOf(ns)
	if _, pod := obj.(*corev1.Pod); pod {
		if old != nil && slices.Equal(images(spec), images(&old.(*corev1.Pod).Spec)) {
			return nil, nil
		}
		result := policy.AggregateCheckResults(standards().EvaluatePod(of.Enforce, meta, spec))
		if !result.Allowed {
			return nil, fmt.Errorf("violates PodSecurity %q: %s", of.Enforce.String(), result.ForbiddenDetail())
		}
	}
	result := policy.AggregateCheckResults(standards().EvaluatePod(of.Warn, meta, spec))
	if !result.Allowed {
		warnings = append(warnings, fmt.Sprintf("would violate PodSecurity %q: %s", of.Warn.String(), result.ForbiddenDetail()))
	}
	return warnings, nil
}

// images lists what decides whether an update of a Pod is evaluated again.
func images(s *corev1.PodSpec) (all []string) {
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		all = append(all, c.Image)
	}
	all = append(all, fmt.Sprint(len(s.InitContainers)))
	for _, c := range s.EphemeralContainers {
		all = append(all, c.Name+" "+c.Image)
	}
	return all
}

// podOf returns the metadata and the spec of a Pod or a Pod template. The spec is nil if the object has none.
func podOf(obj runtime.Object) (*metav1.ObjectMeta, *corev1.PodSpec) {
	var t *corev1.PodTemplateSpec
	switch o := obj.(type) {
	case *corev1.Pod:
		return &o.ObjectMeta, &o.Spec
	case *corev1.PodTemplate:
		t = &o.Template
	case *corev1.ReplicationController:
		t = o.Spec.Template
	case *appsv1.ReplicaSet:
		t = &o.Spec.Template
	case *appsv1.Deployment:
		t = &o.Spec.Template
	case *appsv1.DaemonSet:
		t = &o.Spec.Template
	case *appsv1.StatefulSet:
		t = &o.Spec.Template
	case *batchv1.Job:
		t = &o.Spec.Template
	case *batchv1.CronJob:
		t = &o.Spec.JobTemplate.Spec.Template
	}
	if t == nil {
		return nil, nil
	}
	return &t.ObjectMeta, &t.Spec
}
