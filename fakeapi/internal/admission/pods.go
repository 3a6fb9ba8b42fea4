package admission

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/resource"

	"github.com/threelaws/threelaws/internal/kubernetes"
)

var served = version.MustParse(kubernetes.Version)

// Declared returns an error if a resized Pod needs a feature that its node does not declare, or if the node is unknown.
// It is the NodeDeclaredFeatureValidator plugin (plugin/pkg/admission/nodedeclaredfeatures).
func Declared(p, old *corev1.Pod, node *corev1.Node) error {
	features := nodedeclaredfeatures.DefaultFramework
	needs, err := features.InferForPodUpdate(&nodedeclaredfeatures.PodInfo{Spec: &old.Spec, Status: &old.Status},
		&nodedeclaredfeatures.PodInfo{Spec: &p.Spec, Status: &p.Status}, served)
	if err != nil || needs.IsEmpty() {
		return err
	}
	if node == nil {
		return fmt.Errorf("node %q not found", p.Spec.NodeName)
	}
	match, err := features.MatchNode(needs, node)
	if err == nil && !match.IsMatch {
		err = fmt.Errorf("pod update requires features %s which are not available on node %q",
			strings.Join(match.UnsatisfiedRequirements, ", "), node.Name)
	}
	return err
}

// Fits returns an error if a resized Pod requests more than its node has, or if the node is unknown or does not run
// Linux. reason is the cause in the error's Status, or "". Fits is the PodResizeValidator plugin (admission/podresize).
func Fits(p *corev1.Pod, node *corev1.Node) (reason metav1.CauseType, err error) {
	if node == nil {
		return "", fmt.Errorf("node %q not found", p.Spec.NodeName)
	}
	if os, ok := node.Labels[corev1.LabelOSStable]; ok && os != "linux" {
		return "UnsupportedPlatform", fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", node.Name, os)
	}
	requests, has := resource.PodRequests(p, resource.PodResourcesOptions{}), node.Status.Allocatable
	var lacking []string
	if cpu := requests.Cpu(); cpu.Cmp(*has.Cpu()) > 0 {
		lacking = append(lacking, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(),
			has.Cpu().MilliValue()))
	}
	if memory := requests.Memory(); memory.Cmp(*has.Memory()) > 0 {
		lacking = append(lacking, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(),
			has.Memory().Value()))
	}
	if len(lacking) > 0 {
		return "NodeCapacity", fmt.Errorf("node didn't have enough allocatable resources: %s", strings.Join(lacking, "; "))
	}
	return "", nil
}

// RuntimeClasses sets the overhead and the scheduling constraints of a Pod's runtime class. It is the RuntimeClass
// plugin (plugin/pkg/admission/runtimeclass).
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

// Overhead returns an error if a Pod has an overhead, but its runtime class has none.
func Overhead(p *corev1.Pod, classes []*nodev1.RuntimeClass) error {
	for _, class := range classes {
		if p.Spec.RuntimeClassName != nil && class.Name == *p.Spec.RuntimeClassName && class.Overhead != nil {
			return nil
		}
	}
	return errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
}

// mergeTolerations removes the tolerations that other tolerations make unnecessary (see covers).
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

// covers reports whether the toleration in the parameter more tolerates every taint that t tolerates.
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

var (
	zeroPriority int32
	preemptLower = corev1.PreemptLowerPriority
)

// systemPriorities holds the values of the priority classes that exist in every cluster.
var systemPriorities = map[string]int32{"system-cluster-critical": 2_000_000_000,
	"system-node-critical": 2_000_001_000}

// SystemPriorityClass returns an error if the class to delete is a system class, like Delete of
// pkg/registry/scheduling/priorityclass/storage (admission/priority-resolve).
func SystemPriorityClass(name string) error {
	if _, ok := systemPriorities[name]; ok {
		return errors.New("this is a system priority class and cannot be deleted")
	}
	return nil
}

// Priorities are the existing priority classes.
type Priorities []*schedulingv1.PriorityClass

// fallback returns the default class, or nil. Of several default classes, it returns the class with the smallest value.
func (p Priorities) fallback() (least *schedulingv1.PriorityClass) {
	for _, class := range p {
		if class.GlobalDefault && (least == nil || class.Value < least.Value) {
			least = class
		}
	}
	return least
}

// of returns the name and values of a class; "" stands for the default class. The two system classes need no object.
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

// Resolve sets a new Pod's priority from its class. It returns an error if the Pod sets another priority. Resolve does
// the same as admitPod of the Priority plugin.
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

// OneDefault returns an error if another class is already the default, as the Priority plugin does.
func (p Priorities) OneDefault(class *schedulingv1.PriorityClass, created bool) error {
	if !class.GlobalDefault {
		return nil
	}
	if have := p.fallback(); have != nil && (created || have.Name != class.Name) {
		return fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", have.Name)
	}
	return nil
}
