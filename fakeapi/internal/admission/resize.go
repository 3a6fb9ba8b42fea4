package admission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
)

// Fits refuses resources that the node of a Pod does not have. It is the PodResizeValidator plugin
// (admission/podresize). The reason is that of a cause, "" for none.
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
