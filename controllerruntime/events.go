package controllerruntime

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/reference"

	"github.com/threelaws/threelaws/fakeapi"
)

type oldRecorder struct {
	p    *process
	name string
}

func (r oldRecorder) Event(object runtime.Object, kind, reason, message string) {
	r.p.event(r.name, object, nil, corev1.Event{Type: kind, Reason: reason, Message: message})
}

func (r oldRecorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

func (r oldRecorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string,
	args ...any) {
	e := corev1.Event{Type: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
	e.Annotations = annotations
	r.p.event(r.name, object, nil, e)
}

type newRecorder struct {
	p    *process
	name string
}

func (r newRecorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	e := corev1.Event{Type: kind, Reason: reason, Action: action, Message: fmt.Sprintf(note, args...)}
	if r.p.env != nil {
		e.EventTime = metav1.NewMicroTime(r.p.env.Now())
	}
	r.p.event(r.name, regarding, related, e)
}

// event passes an event to Options.Recorded and, with Options.WriteEvents, creates the event. Before the sources have
// started, it drops all events. Like a real recorder, it logs and drops an event about an object of an unknown kind.
func (p *process) event(component string, regarding, related runtime.Object, e corev1.Event) {
	if p.env == nil || !p.started {
		return
	}
	ref, err := reference.GetReference(p.scheme, regarding)
	if err != nil {
		p.o.Logger.Error(err, "Could not construct reference, will not report event", "reason", e.Reason)
		return
	}
	if related != nil {
		if e.Related, err = reference.GetReference(p.scheme, related); err != nil {
			p.o.Logger.Error(err, "Could not construct reference, will not report event", "reason", e.Reason)
			return
		}
	}
	p.mu.Lock()
	p.recorded++
	number := p.recorded
	p.mu.Unlock()
	now := p.env.Now()
	e.InvolvedObject, e.Namespace = *ref, ref.Namespace
	if e.Namespace == "" {
		e.Namespace = metav1.NamespaceDefault
	}
	e.Name = fmt.Sprintf("%s.%x", ref.Name, now.UnixNano()+int64(number)) // several events of a step have the same time
	e.Source.Component, e.ReportingController = component, component
	if !e.EventTime.IsZero() {
		e.ReportingInstance = component
	} else {
		e.FirstTimestamp, e.LastTimestamp, e.Count = metav1.NewTime(now), metav1.NewTime(now), 1
	}
	if p.o.Recorded != nil {
		p.o.Recorded(e)
	}
	if p.o.WriteEvents {
		p.write(&e)
	}
}

// write creates an event. It logs a refusal.
func (p *process) write(e *corev1.Event) {
	k, err := p.kind(corev1.SchemeGroupVersion.WithKind("Event"))
	if err == nil {
		_, err = p.do(context.Background(), &fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: e.Namespace,
			Name: e.Name, Object: e})
	}
	if err != nil {
		p.o.Logger.Error(err, "Unable to write event", "event", e.Name)
	}
}
