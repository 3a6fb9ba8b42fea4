package registry

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	eventsdefaults "k8s.io/kubernetes/pkg/apis/events/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var namespaces = kind[corev1.Namespace, corev1.NamespaceList](corev1.SchemeGroupVersion, validation.Namespace, &Row{
	Default: On(defaultNamespace), ReturnDeleted: true,
	PrepareCreate: On(func(ns *corev1.Namespace) {
		ns.Status.Phase = corev1.NamespaceActive
		if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
			ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
	}),
	Canonicalize: On(defaultNamespace),
	Main:         Update{Prepare: Over(func(ns, old *corev1.Namespace) { ns.Spec.Finalizers = old.Spec.Finalizers })},
	other: map[string]*Update{"finalize": {Judge: validation.NamespaceFinalize,
		Prepare: Over(func(ns, old *corev1.Namespace) { ns.Status = old.Status })}},
	Terminate:      terminateNamespace,
	Held:           func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 },
	SelectableKeys: []string{"status.phase", "name"},
	Selectable: selects(func(ns *corev1.Namespace, set fields.Set) {
		set["status.phase"], set["name"] = string(ns.Status.Phase), ns.Name
	}),
})

func defaultNamespace(ns *corev1.Namespace) {
	if ns.Status.Phase == "" {
		ns.Status.Phase = corev1.NamespaceActive
	}
	if ns.Name == "" || ns.Labels[corev1.LabelMetadataName] == ns.Name {
		return
	}
	labels := copyMap(ns.Labels)
	labels[corev1.LabelMetadataName] = ns.Name
	ns.Labels = labels
}

// namespaceFinalizers returns a sorted copy of have, changed for the propagation policy in opts. Without a policy, it
// returns have unchanged.
func namespaceFinalizers(have []string, opts *metav1.DeleteOptions) []string {
	orphan, foreground := false, false
	//lint:ignore SA1019 old clients send orphanDependents
	switch old := opts.OrphanDependents; {
	case old != nil:
		orphan, foreground = *old, !*old
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	default:
		return have
	}
	want := metadata.WithPolicy(have, orphan, foreground)
	slices.Sort(want)
	return want
}

// terminateNamespace marks a namespace as terminating. A later delete removes it if its spec has no finalizers.
func terminateNamespace(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object {
	marked := *obj.(*corev1.Namespace)
	at := metadata.Seconds(now)
	marked.DeletionTimestamp = &at
	marked.Status.Phase = corev1.NamespaceTerminating
	marked.Finalizers = namespaceFinalizers(marked.Finalizers, opts)
	return &marked
}

var nodes = kind[corev1.Node, corev1.NodeList](corev1.SchemeGroupVersion, validation.Node, &Row{
	Default: On(defaultNode), Prefix: "minions", StatusOnCreate: true,
	Admit: taintNewNode, Plugin: "TaintNodesByCondition",
	PrepareCreate: On(func(n *corev1.Node) { n.Spec.ConfigSource, n.Status.Config = nil, nil }),
	Main: Update{Prepare: Over(func(n, old *corev1.Node) {
		if old.Spec.ConfigSource == nil {
			n.Spec.ConfigSource = nil
		}
	})},
	ForStatus: Update{Prepare: Over(func(n, old *corev1.Node) {
		if old.Status.Config == nil {
			n.Status.Config = nil
		}
	})},
	SelectableKeys: []string{"spec.unschedulable"},
	Selectable: selects(func(n *corev1.Node, set fields.Set) {
		set["spec.unschedulable"] = strconv.FormatBool(n.Spec.Unschedulable)
	}),
})

func defaultNode(n *corev1.Node) {
	// PodCIDR is the older field; it must equal the first item of PodCIDRs
	switch s := &n.Spec; {
	case s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR):
		s.PodCIDRs = []string{s.PodCIDR}
	case len(s.PodCIDRs) > 0:
		s.PodCIDR = s.PodCIDRs[0]
	}
	coredefaults.SetObjectDefaults_Node(n)
}

// taintNewNode is the TaintNodesByCondition plugin. It taints a new node, so that no Pod is scheduled before the
// kubelet reports that the node is ready.
func taintNewNode(obj, old runtime.Object) error {
	n := obj.(*corev1.Node)
	unready := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if old == nil && !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&unready) }) {
		n.Spec.Taints = append(n.Spec.Taints, unready)
	}
	return nil
}

var events = kind[corev1.Event, corev1.EventList](corev1.SchemeGroupVersion, validation.Event, &Row{
	CreateOnUpdate: true, NoPolicy: true, SelectableKeys: eventKeys, Selectable: selects(selectEvent),
})

var eventKeys = []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
	"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
	"reportingComponent", "source", "type"}

func selectEvent(e *corev1.Event, set fields.Set) {
	values := [...]string{e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name,
		string(e.InvolvedObject.UID),
		e.InvolvedObject.APIVersion, e.InvolvedObject.ResourceVersion, e.InvolvedObject.FieldPath, e.Reason,
		e.ReportingController, cmp.Or(e.Source.Component, e.ReportingController), e.Type}
	for i, key := range eventKeys {
		set[key] = values[i]
	}
}

// newEvents holds the rules for Events of the API group events.k8s.io, which are stored as core Events.
var newEvents = makeNewEvents()

func makeNewEvents() *Row {
	k := kind[eventsv1.Event, eventsv1.EventList](eventsv1.SchemeGroupVersion, validation.NewEvent, &Row{})
	k.View = between(events, k,
		through(coredefaults.Convert_v1_Event_To_core_Event, eventsdefaults.Convert_core_Event_To_v1_Event),
		through(eventsdefaults.Convert_v1_Event_To_core_Event, coredefaults.Convert_core_Event_To_v1_Event))
	k.View.Labels = newEventLabels
	return version(k)
}

// newEventLabels maps the selectable fields of events.k8s.io to the fields of core Events, as
// pkg/apis/events/v1/conversion.go of k8s.io/kubernetes does.
var newEventLabels = map[string]string{"reason": "reason", "regarding.kind": "involvedObject.kind",
	"regarding.namespace": "involvedObject.namespace", "regarding.name": "involvedObject.name",
	"regarding.uid": "involvedObject.uid", "regarding.apiVersion": "involvedObject.apiVersion",
	"regarding.resourceVersion": "involvedObject.resourceVersion",
	"regarding.fieldPath":       "involvedObject.fieldPath",
	"reportingController":       "reportingComponent", "type": "type",
	"metadata.name": "metadata.name", "metadata.namespace": "metadata.namespace"}
