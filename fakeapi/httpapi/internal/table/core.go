package table

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func quotaCells(o *corev1.ResourceQuota, now time.Time) []any {
	var names []string
	for name := range o.Status.Hard {
		names = append(names, string(name))
	}
	sort.Strings(names)
	var requests, limits []string
	for _, name := range names {
		used, hard := o.Status.Used[corev1.ResourceName(name)], o.Status.Hard[corev1.ResourceName(name)]
		line := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(name, "limits.") {
			limits = append(limits, line)
		} else {
			requests = append(requests, line)
		}
	}
	return []any{o.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), since(o.CreationTimestamp, now)}
}

func disruptionBudgetCells(o *policyv1.PodDisruptionBudget, now time.Time) []any {
	limit := func(v *intstr.IntOrString) string {
		if v == nil {
			return "N/A"
		}
		return v.String()
	}
	return []any{o.Name, limit(o.Spec.MinAvailable), limit(o.Spec.MaxUnavailable), int64(o.Status.DisruptionsAllowed),
		since(o.CreationTimestamp, now)}
}

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
	kernel := cmp.Or(info.KernelVersion, "<unknown>")
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{o.Name, status, orNone(strings.Join(nodeRoles(o), ",")), since(o.CreationTimestamp, now),
		info.KubeletVersion, nodeAddress(o, corev1.NodeInternalIP), nodeAddress(o, corev1.NodeExternalIP),
		cmp.Or(info.OSImage, "<unknown>"), kernel, cmp.Or(info.ContainerRuntimeVersion, "<unknown>")}
}

func nodeAddress(o *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range o.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return "<none>"
}

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

func eventCells(o *corev1.Event, now time.Time) []any {
	micro := func(t metav1.MicroTime) string { return since(metav1.Time{Time: t.Time}, now) }
	first := since(o.FirstTimestamp, now)
	if o.FirstTimestamp.IsZero() {
		first = micro(o.EventTime)
	}
	last := since(o.LastTimestamp, now)
	if o.LastTimestamp.IsZero() {
		last = first
	}
	count := o.Count
	if o.Series != nil {
		last, count = micro(o.Series.LastObservedTime), o.Series.Count
	} else if count == 0 {
		count = 1
	}
	target := strings.ToLower(o.InvolvedObject.Kind)
	if o.InvolvedObject.Name != "" {
		target += "/" + o.InvolvedObject.Name
	}
	return []any{last, o.Type, o.Reason, target, o.InvolvedObject.FieldPath, eventSource(o),
		strings.TrimSpace(o.Message), first, int64(count), o.Name}
}

func eventSource(o *corev1.Event) string {
	component := cmp.Or(o.Source.Component, o.ReportingController)
	host := cmp.Or(o.Source.Host, o.ReportingInstance)
	if host == "" {
		return component
	}
	return component + ", " + host
}

func newEventCells(o *eventsv1.Event, now time.Time) []any {
	old := &corev1.Event{ObjectMeta: o.ObjectMeta, EventTime: o.EventTime, Type: o.Type, Reason: o.Reason,
		InvolvedObject: o.Regarding, Message: o.Note, Source: o.DeprecatedSource,
		ReportingController: o.ReportingController, ReportingInstance: o.ReportingInstance,
		FirstTimestamp: o.DeprecatedFirstTimestamp, LastTimestamp: o.DeprecatedLastTimestamp,
		Count: o.DeprecatedCount}
	if o.Series != nil {
		old.Series = &corev1.EventSeries{Count: o.Series.Count, LastObservedTime: o.Series.LastObservedTime}
	}
	return eventCells(old, now)
}
