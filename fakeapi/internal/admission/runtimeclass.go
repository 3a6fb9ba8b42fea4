package admission

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// RuntimeClasses gives a new Pod what its runtime class says: what the runtime itself
// needs, and on which nodes it is. It is the RuntimeClass plugin
// (plugin/pkg/admission/runtimeclass).
func RuntimeClasses(p *corev1.Pod, classes []*nodev1.RuntimeClass) error {
	s := &p.Spec
	i := slices.IndexFunc(classes, func(c *nodev1.RuntimeClass) bool { return c.Name == *s.RuntimeClassName })
	if i < 0 {
		return fmt.Errorf("pod rejected: RuntimeClass %q not found", *s.RuntimeClassName)
	}
	class := classes[i]
	if class.Overhead != nil {
		if len(s.Overhead) > 0 && !equality.Semantic.DeepEqual(class.Overhead.PodFixed, s.Overhead) {
			return errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
		}
		s.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return nil
	}
	if s.NodeSelector == nil {
		s.NodeSelector = class.Scheduling.NodeSelector
	} else {
		merged := maps.Clone(s.NodeSelector)
		for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
			value := class.Scheduling.NodeSelector[key]
			if own, ok := merged[key]; ok && own != value {
				return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; "+
					"pod.spec.nodeSelector[%s] = %s", key, value, key, own)
			}
			merged[key] = value
		}
		s.NodeSelector = merged
	}
	s.Tolerations = mergeTolerations(slices.Concat(s.Tolerations, class.Scheduling.Tolerations))
	return nil
}

// Overhead refuses a Pod that says for itself what its runtime needs.
func Overhead(p *corev1.Pod, classes []*nodev1.RuntimeClass) error {
	for _, class := range classes {
		if p.Spec.RuntimeClassName != nil && class.Name == *p.Spec.RuntimeClassName && class.Overhead != nil {
			return nil
		}
	}
	return errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
}

// mergeTolerations drops those that another one covers.
func mergeTolerations(all []corev1.Toleration) (merged []corev1.Toleration) {
	for i := range all {
		covered := slices.ContainsFunc(merged, func(t corev1.Toleration) bool { return covers(&t, &all[i]) }) ||
			slices.ContainsFunc(all[i+1:], func(t corev1.Toleration) bool {
				return !equality.Semantic.DeepEqual(t, all[i]) && covers(&t, &all[i])
			})
		if !covered {
			merged = append(merged, all[i])
		}
	}
	return merged
}

// covers says whether one toleration does not mind anything that another does not mind.
func covers(more, t *corev1.Toleration) bool {
	switch {
	case equality.Semantic.DeepEqual(more, t):
		return true
	case t.Key != more.Key && (more.Key != "" || more.Operator != corev1.TolerationOpExists),
		t.Effect != more.Effect && more.Effect != "",
		more.Effect == corev1.TaintEffectNoExecute && more.TolerationSeconds != nil &&
			(t.TolerationSeconds == nil || *t.TolerationSeconds > *more.TolerationSeconds):
		return false
	case more.Operator == corev1.TolerationOpExists:
		return true
	}
	return (more.Operator == corev1.TolerationOpEqual || more.Operator == "") &&
		t.Operator == corev1.TolerationOpEqual && t.Value == more.Value
}
