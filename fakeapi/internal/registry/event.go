package registry

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	eventsdefaults "k8s.io/kubernetes/pkg/apis/events/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

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
