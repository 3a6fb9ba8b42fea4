package registry

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var events = goType[corev1.Event, corev1.EventList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Event"), Resource: "events", Singular: "event", ShortNames: []string{"ev"},
	Namespaced: true, CreateOnUpdate: true, NoPolicy: true,
	strategy: strategy{
		ValidateCreate: Check(func(e *corev1.Event) field.ErrorList {
			return validation.Event(e,
				"reportingComponent")
		}),
		Main: Update{Validate: again(func(e *corev1.Event) field.ErrorList {
			return validation.Event(e, "reportingComponent")
		})},
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
	k.View = between(events, k, showEvent, keepEvent)
	version(k)
	k.NameRule = nil // the validation checks the metadata, after what core events keep to
	k.ValidateCreate = Check(func(e *eventsv1.Event) field.ErrorList {
		return validation.NewEvent(keepEvent(e), func() field.ErrorList {
			return k.recheckBy(apivalidation.NameIsDNSSubdomain, checks{onCreate}, e, nil)
		})
	})
	k.Main.Validate = Compare(func(e, old *eventsv1.Event) field.ErrorList {
		return validation.NewEventUpdate(keepEvent(e), keepEvent(old), func() field.ErrorList {
			return k.recheckBy(apivalidation.NameIsDNSSubdomain, checks{onUpdate}, e, old)
		})
	})
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

func showEvent(e *corev1.Event) *eventsv1.Event {
	out := &eventsv1.Event{ObjectMeta: *e.ObjectMeta.DeepCopy(), EventTime: e.EventTime, Action: e.Action,
		Reason: e.Reason, Type: e.Type,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance, Regarding: e.InvolvedObject,
		Note:             e.Message,
		DeprecatedSource: e.Source, DeprecatedFirstTimestamp: e.FirstTimestamp,
		DeprecatedLastTimestamp: e.LastTimestamp, DeprecatedCount: e.Count}
	if e.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	if e.Related != nil {
		related := *e.Related
		out.Related = &related
	}
	return out
}

func keepEvent(e *eventsv1.Event) *corev1.Event {
	out := &corev1.Event{ObjectMeta: *e.ObjectMeta.DeepCopy(), EventTime: e.EventTime, Action: e.Action,
		Reason: e.Reason, Type: e.Type,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance, InvolvedObject: e.Regarding,
		Message: e.Note,
		Source:  e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp,
		LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount}
	if e.Series != nil {
		out.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	if e.Related != nil {
		related := *e.Related
		out.Related = &related
	}
	return out
}
