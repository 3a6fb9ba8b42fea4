package garbagecollector

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// component is the source of the garbage collector's events.
const component = "garbage-collector-controller"

// complaint is a pending event: a dependent refers to an owner in another namespace (GC-7, RULES K97). It is separate
// from the graph, as the dependent is likely to be deleted first.
type complaint struct {
	about identity
	owner metav1.OwnerReference
}

// complain queues an event, because handlers cannot write.
func (c *collector) complain(n *node, owner *metav1.OwnerReference) {
	about := string(n.uid) + " " + string(owner.UID)
	c.complaints[about] = complaint{n.identity, *owner}
	c.env.Queue.Add("report " + about)
}

// report writes a queued event. A refused event is dropped: events are best effort.
func (c *collector) report(ctx context.Context, about string) {
	p, ok := c.complaints[about]
	if !ok {
		return
	}
	delete(c.complaints, about)
	now := c.env.Now()
	for nanos := now.UnixNano(); ; nanos++ {
		event := p.event(metav1.NewTime(now))
		event.Name = fmt.Sprintf("%s.%x", p.about.name, nanos)
		if _, err := c.env.Client.Create(ctx, event); !apierrors.IsAlreadyExists(err) {
			return
		}
	}
}

func (p *complaint) event(now metav1.Time) *corev1.Event {
	namespace := p.about.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: p.about.apiVersion, Kind: p.about.kind,
			Namespace: p.about.namespace, Name: p.about.name, UID: p.about.uid,
		},
		Type:   corev1.EventTypeWarning,
		Reason: "OwnerRefInvalidNamespace",
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			p.owner.APIVersion, p.owner.Kind, p.about.namespace, p.owner.Name, p.owner.UID, p.about.namespace),
		Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: component},
		ReportingController: component,
	}
}

// isReport reports whether a key stands for a queued event, and which one.
func isReport(key string) (about string, ok bool) { return strings.CutPrefix(key, "report ") }
