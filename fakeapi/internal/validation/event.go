package validation

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Event checks what every event keeps to, whose version calls the controller that reports it
// so: those that say when they happened have to say who saw it, and what was done.
func Event(e *corev1.Event, controller string) (errs field.ErrorList) {
	about := e.InvolvedObject.Namespace
	elsewhere := field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")
	if e.EventTime.IsZero() {
		if about == "" && e.Namespace != "" && e.Namespace != metav1.NamespaceDefault || about != "" &&
			e.Namespace != about {
			errs = append(errs, elsewhere)
		}
	} else {
		if about == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem {
			errs = append(errs, elsewhere)
		}
		errs = append(errs, required(e.ReportingController, field.NewPath(controller))...)
		errs = append(errs, qualified(e.ReportingController, field.NewPath(controller))...)
		errs = append(errs, shortText(e.ReportingInstance, "reportingInstance")...)
		errs = append(errs, shortText(e.Action, "action")...)
		errs = append(errs, shortText(e.Reason, "reason")...)
		if len(e.Message) > 1024 {
			errs = append(errs, field.Invalid(field.NewPath("message"), "", "can have at most 1024 characters"))
		}
	}
	return append(errs, named(e.Namespace, field.NewPath("namespace"), plain(utilvalidation.IsDNS1123Subdomain))...)
}

// shortText checks that a text is there, and is not long.
func shortText(text, name string) field.ErrorList {
	errs := required(text, field.NewPath(name))
	if len(text) > 128 {
		errs = append(errs, field.Invalid(field.NewPath(name), "", "can have at most 128 characters"))
	}
	return errs
}

// NewEvent checks an event of the events API, which has no place for what core events said.
func NewEvent(e *corev1.Event, meta func() field.ErrorList) field.ErrorList {
	errs := append(Event(e, "reportingController"), meta()...)
	errs = append(errs, eventSeries(e)...)
	if e.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type)))
	}
	for _, old := range [...]struct {
		name string
		set  bool
	}{{"firstTimestamp", !e.FirstTimestamp.IsZero()}, {"lastTimestamp", !e.LastTimestamp.IsZero()},
		{"count", e.Count != 0}, {"source", e.Source != corev1.EventSource{}}} {
		if old.set {
			errs = append(errs, field.Invalid(field.NewPath(old.name), "", "needs to be unset"))
		}
	}
	return errs
}

func eventSeries(e *corev1.Event) (errs field.ErrorList) {
	if e.Series == nil {
		return nil
	}
	if e.Series.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if e.Series.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// NewEventUpdate checks that nothing of an event of the events API changes but its series.
func NewEventUpdate(e, old *corev1.Event, meta func() field.ErrorList) field.ErrorList {
	errs := append(Event(e, "reportingController"), meta()...)
	if !reflect.DeepEqual(e.Series, old.Series) {
		errs = append(errs, eventSeries(e)...)
	}
	keep := func(name string, now, was, shown any) {
		for _, err := range apivalidation.ValidateImmutableField(now, was, field.NewPath(name)) {
			err.BadValue = shown
			errs = append(errs, err)
		}
	}
	keep("involvedObject", e.InvolvedObject, old.InvolvedObject, asShown(&e.InvolvedObject))
	keep("reason", e.Reason, old.Reason, e.Reason)
	keep("message", e.Message, old.Message, e.Message)
	keep("source", e.Source, old.Source, asShown(&e.Source))
	keep("firstTimestamp", e.FirstTimestamp, old.FirstTimestamp, e.FirstTimestamp)
	keep("lastTimestamp", e.LastTimestamp, old.LastTimestamp, e.LastTimestamp)
	keep("count", e.Count, old.Count, e.Count)
	keep("reason", e.Reason, old.Reason, e.Reason)
	keep("type", e.Type, old.Type, e.Type)
	if !e.EventTime.Truncate(time.Microsecond).Equal(old.EventTime.Truncate(time.Microsecond)) {
		keep("eventTime", e.EventTime, old.EventTime, e.EventTime)
	}
	keep("action", e.Action, old.Action, e.Action)
	var related any
	if e.Related != nil {
		related = asShown(e.Related)
	}
	keep("related", e.Related, old.Related, related)
	keep("reportingController", e.ReportingController, old.ReportingController, e.ReportingController)
	keep("reportingInstance", e.ReportingInstance, old.ReportingInstance, e.ReportingInstance)
	return errs
}
