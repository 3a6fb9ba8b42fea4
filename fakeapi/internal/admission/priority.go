package admission

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

var (
	zeroPriority int32
	preemptLower = corev1.PreemptLowerPriority
)

// systemPriorities are those of the classes that every cluster has.
var systemPriorities = map[string]int32{"system-cluster-critical": 2_000_000_000,
	"system-node-critical": 2_000_001_000}

// SystemPriorityClass reports whether a class may not be deleted, and why. It is
// Delete of pkg/registry/scheduling/priorityclass/storage (admission/priority-resolve).
func SystemPriorityClass(name string) error {
	if _, ok := systemPriorities[name]; ok {
		return errors.New("this is a system priority class and cannot be deleted")
	}
	return nil
}

// Priorities are the priority classes that there are.
type Priorities []*schedulingv1.PriorityClass

// fallback is the class of Pods that name none: of several the least, nil for none.
func (p Priorities) fallback() (least *schedulingv1.PriorityClass) {
	for _, class := range p {
		if class.GlobalDefault && (least == nil || class.Value < least.Value) {
			least = class
		}
	}
	return least
}

// of is what a class says. The classes of every cluster are known even where nobody
// has made them.
func (p Priorities) of(name string) (called string, value int32, preemption *corev1.PreemptionPolicy, err error) {
	if name == "" {
		if class := p.fallback(); class != nil {
			return class.Name, class.Value, class.PreemptionPolicy, nil
		}
		return "", 0, &preemptLower, nil
	}
	for _, class := range p {
		if class.Name == name {
			return name, class.Value, class.PreemptionPolicy, nil
		}
	}
	if value, ok := systemPriorities[name]; ok {
		return name, value, &preemptLower, nil
	}
	return "", 0, nil, fmt.Errorf("no PriorityClass with name %s was found", name)
}

// Resolve gives a new Pod the priority of its class, or of the default one, and
// refuses what contradicts it. It is admitPod of the Priority plugin.
func (p Priorities) Resolve(pod *corev1.Pod) error {
	name, value, preemption, err := p.of(pod.Spec.PriorityClassName)
	if err != nil {
		return err
	}
	pod.Spec.PriorityClassName = name
	if have := pod.Spec.Priority; have != nil && *have != value {
		return fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission "+
			"controller computed %d from the given PriorityClass name", *have, value)
	}
	pod.Spec.Priority = &zeroPriority
	if value != 0 {
		pod.Spec.Priority = &value
	}
	if preemption == nil {
		return nil
	}
	if have := pod.Spec.PreemptionPolicy; have != nil && *have != *preemption {
		return fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority "+
			"admission controller computed %s from the given PriorityClass name", *have, *preemption)
	}
	pod.Spec.PreemptionPolicy = preemption
	return nil
}

// OneDefault refuses a second default among the priority classes. It is
// validatePriorityClass of the Priority plugin.
func (p Priorities) OneDefault(class *schedulingv1.PriorityClass, created bool) error {
	if !class.GlobalDefault {
		return nil
	}
	if have := p.fallback(); have != nil && (created || have.Name != class.Name) {
		return fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", have.Name)
	}
	return nil
}
