package registry

import (
	"sort"
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

var namespaces = goType[corev1.Namespace, corev1.NamespaceList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces", Singular: "namespace",
	ShortNames: []string{"ns"},
	Default:    On(defaultNamespace), Status: true, ReturnDeleted: true,
	strategy: strategy{
		PrepareCreate: On(prepareNamespace), Create: validation.Namespace.Create,
		Canonicalize: On(defaultNamespace),
		Main:         Update{Prepare: Over(keepNamespaceStatus), Judge: validation.Namespace.Update},
		ForStatus:    Update{Prepare: Over(keepNamespaceSpec), Judge: validation.Namespace.Status},
		other: map[string]*Update{"finalize": {Prepare: Over(keepNamespaceStatusOnly),
			Judge: validation.NamespaceFinalize}},
		Terminate:      terminateNamespace,
		Held:           func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 },
		SelectableKeys: []string{"status.phase", "name"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			ns := obj.(*corev1.Namespace)
			set["status.phase"], set["name"] = string(ns.Status.Phase), ns.Name
		},
	},
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

func prepareNamespace(ns *corev1.Namespace) {
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	for _, f := range ns.Spec.Finalizers {
		if f == corev1.FinalizerKubernetes {
			return
		}
	}
	ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
}

func keepNamespaceStatus(ns, old *corev1.Namespace) {
	ns.Spec.Finalizers, ns.Status = old.Spec.Finalizers, old.Status
}

func keepNamespaceSpec(ns, old *corev1.Namespace) { ns.Spec = old.Spec }

func keepNamespaceStatusOnly(ns, old *corev1.Namespace) { ns.Status = old.Status }

// namespaceFinalizers returns the finalizers for a propagation policy. Without a policy they stay as they are.
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
	sort.Strings(want)
	return want
}

// terminateNamespace marks a namespace as terminating. Later requests delete it when its spec has no finalizer left.
func terminateNamespace(obj runtime.Object, opts *metav1.DeleteOptions, now time.Time) runtime.Object {
	marked := *obj.(*corev1.Namespace)
	at := metadata.Seconds(now)
	marked.DeletionTimestamp = &at
	marked.Status.Phase = corev1.NamespaceTerminating
	marked.Finalizers = namespaceFinalizers(marked.Finalizers, opts)
	return &marked
}

var nodes = goType[corev1.Node, corev1.NodeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Node"), Resource: "nodes", Singular: "node", ShortNames: []string{"no"},
	Default: On(defaultNode), Status: true,
	strategy: strategy{
		Prefix: "minions",
		Admit:  taintNewNode,
		Plugin: "TaintNodesByCondition",
		PrepareCreate: On(func(n *corev1.Node) {
			n.Spec.ConfigSource, n.Status.Config = nil, nil
		}),
		Create: validation.Node.Create,
		Main: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Status = old.Status
			if old.Spec.ConfigSource == nil {
				n.Spec.ConfigSource = nil
			}
		}), Judge: validation.Node.Update},
		ForStatus: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Spec = old.Spec
			if old.Status.Config == nil {
				n.Status.Config = nil
			}
		}), Judge: validation.Node.Status},
		SelectableKeys: []string{"spec.unschedulable"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.unschedulable"] = strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		},
	},
})

func defaultNode(n *corev1.Node) {
	// The single range is the older field: it goes before the list, and is the first of it.
	switch s := &n.Spec; {
	case s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR):
		s.PodCIDRs = []string{s.PodCIDR}
	case len(s.PodCIDRs) > 0:
		s.PodCIDR = s.PodCIDRs[0]
	}
	coredefaults.SetObjectDefaults_Node(n)
}

// taintNewNode is the TaintNodesByCondition plugin: nothing is scheduled to a node before its kubelet reports it
// ready.
func taintNewNode(obj, old runtime.Object) error {
	n := obj.(*corev1.Node)
	if old != nil {
		return nil
	}
	for _, t := range n.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule {
			return nil
		}
	}
	n.Spec.Taints = append(n.Spec.Taints,
		corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	return nil
}

var events = goType[corev1.Event, corev1.EventList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Event"), Resource: "events", Singular: "event", ShortNames: []string{"ev"},
	Namespaced: true, CreateOnUpdate: true, NoPolicy: true,
	strategy: strategy{
		Create:         validation.Event.Create,
		Main:           Update{Judge: validation.Event.Update},
		SelectableKeys: eventKeys,
		Selectable:     selectEvent,
	},
})

var eventKeys = []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
	"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
	"reportingComponent", "source", "type"}

func selectEvent(obj runtime.Object, set fields.Set) {
	e := obj.(*corev1.Event)
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	values := [...]string{e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name,
		string(e.InvolvedObject.UID),
		e.InvolvedObject.APIVersion, e.InvolvedObject.ResourceVersion, e.InvolvedObject.FieldPath, e.Reason,
		e.ReportingController, source, e.Type}
	for i, key := range eventKeys {
		set[key] = values[i]
	}
}

// newEvents are events in the form of their own API group: the same objects as
// core events.
var newEvents = makeNewEvents()

func makeNewEvents() *Kind {
	k := goType[eventsv1.Event, eventsv1.EventList](&Kind{GVK: eventsv1.SchemeGroupVersion.WithKind("Event")})
	k.View = between(events, k,
		through(coredefaults.Convert_v1_Event_To_core_Event, eventsdefaults.Convert_core_Event_To_v1_Event),
		through(eventsdefaults.Convert_v1_Event_To_core_Event, coredefaults.Convert_core_Event_To_v1_Event))
	version(k)
	k.Create, k.Main.Judge = validation.NewEvent.Create, validation.NewEvent.Update
	k.View.Labels = newEventLabels
	return k
}

// newEventLabels are what selectors call the fields of events, and what they call those of core
// events (k8s.io/kubernetes, pkg/apis/events/v1/conversion.go).
var newEventLabels = map[string]string{"reason": "reason", "regarding.kind": "involvedObject.kind",
	"regarding.namespace": "involvedObject.namespace", "regarding.name": "involvedObject.name",
	"regarding.uid": "involvedObject.uid", "regarding.apiVersion": "involvedObject.apiVersion",
	"regarding.resourceVersion": "involvedObject.resourceVersion",
	"regarding.fieldPath":       "involvedObject.fieldPath",
	"reportingController":       "reportingComponent", "type": "type",
	"metadata.name": "metadata.name", "metadata.namespace": "metadata.namespace"}
