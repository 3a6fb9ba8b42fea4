package table

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var (
	nodeStatus = corev1.NodeStatus{}.SwaggerDoc()
	nodeInfo   = corev1.NodeSystemInfo{}.SwaggerDoc()

	nodes = prints(nodeCells, nameColumn, text("Status", "The status of the node"),
		text("Roles", "The roles of the node"), ageColumn, text("Version", nodeInfo["kubeletVersion"]),
		wide("Internal-IP", nodeStatus["addresses"]), wide("External-IP", nodeStatus["addresses"]),
		wide("OS-Image", nodeInfo["osImage"]), wide("Kernel-Version", nodeInfo["kernelVersion"]),
		wide("Container-Runtime", nodeInfo["containerRuntimeVersion"]))
)

func nodeCells(o *corev1.Node, now time.Time) []any {
	status := "Unknown"
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == corev1.NodeReady {
			status = "NotReady"
			if c.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if o.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	info := &o.Status.NodeInfo
	kernel := orUnknown(info.KernelVersion)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{o.Name, status, orNone(strings.Join(nodeRoles(o), ",")), since(o.CreationTimestamp, now),
		info.KubeletVersion, nodeAddress(o, corev1.NodeInternalIP), nodeAddress(o, corev1.NodeExternalIP),
		orUnknown(info.OSImage), kernel, orUnknown(info.ContainerRuntimeVersion)}
}

func orUnknown(text string) string {
	if text == "" {
		return "<unknown>"
	}
	return text
}

func nodeAddress(o *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range o.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return "<none>"
}

// nodeRoles reads a node's roles from its labels.
func nodeRoles(o *corev1.Node) []string {
	var roles []string
	for label, value := range o.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}
