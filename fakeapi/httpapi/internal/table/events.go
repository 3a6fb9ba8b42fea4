package table

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	event     = corev1.Event{}.SwaggerDoc()
	reference = corev1.ObjectReference{}.SwaggerDoc()

	events    = prints(eventCells, eventColumns...)
	newEvents = prints(func(o *eventsv1.Event, now time.Time) []any {
		old := &corev1.Event{ObjectMeta: o.ObjectMeta, EventTime: o.EventTime, Type: o.Type, Reason: o.Reason,
			InvolvedObject: o.Regarding, Message: o.Note, Source: o.DeprecatedSource,
			ReportingController: o.ReportingController, ReportingInstance: o.ReportingInstance,
			FirstTimestamp: o.DeprecatedFirstTimestamp, LastTimestamp: o.DeprecatedLastTimestamp,
			Count: o.DeprecatedCount}
		if o.Series != nil {
			old.Series = &corev1.EventSeries{Count: o.Series.Count, LastObservedTime: o.Series.LastObservedTime}
		}
		return eventCells(old, now)
	}, eventColumns...)

	eventColumns = []column{text("Last Seen", event["lastTimestamp"]), text("Type", event["type"]),
		text("Reason", event["reason"]), text("Object", event["involvedObject"]),
		wide("Subobject", reference["fieldPath"]), wide("Source", event["source"]), text("Message", event["message"]),
		wide("First Seen", event["firstTimestamp"]), wide("Count", event["count"]),
		column{Name: "Name", Type: "string", Priority: 1, Format: "name", Description: metaDocs["name"]}}
)

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
	component, host := o.Source.Component, o.Source.Host
	if component == "" {
		component = o.ReportingController
	}
	if host == "" {
		host = o.ReportingInstance
	}
	if host == "" {
		return component
	}
	return component + ", " + host
}
