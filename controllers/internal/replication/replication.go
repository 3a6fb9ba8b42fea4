// Package replication is the ReplicationController controller.
package replication

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/replicas"
)

var Kind = &replicas.Traits{
	Name:       "replication",
	GVK:        corev1.SchemeGroupVersion.WithKind("ReplicationController"),
	Read:       read,
	WithStatus: withStatus,
}

func read(obj runtime.Object) replicas.Set {
	rc := obj.(*corev1.ReplicationController)
	s := replicas.Set{
		ObjectMeta: &rc.ObjectMeta, Object: rc, Replicas: 1,
		MinReadySeconds: rc.Spec.MinReadySeconds, Template: rc.Spec.Template, Status: status(&rc.Status),
	}
	if s.Template == nil {
		s.Template = &corev1.PodTemplateSpec{} // the server refuses objects without a template
	}
	if rc.Spec.Replicas != nil {
		s.Replicas = int(*rc.Spec.Replicas)
	}
	s.Select(rc.Spec.Selector)
	return s
}

func status(s *corev1.ReplicationControllerStatus) appsv1.ReplicaSetStatus {
	out := appsv1.ReplicaSetStatus{
		Replicas: s.Replicas, FullyLabeledReplicas: s.FullyLabeledReplicas,
		ReadyReplicas: s.ReadyReplicas, AvailableReplicas: s.AvailableReplicas,
		ObservedGeneration: s.ObservedGeneration,
	}
	for _, c := range s.Conditions {
		out.Conditions = append(out.Conditions, appsv1.ReplicaSetCondition{
			Type: appsv1.ReplicaSetConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

func withStatus(obj runtime.Object, s appsv1.ReplicaSetStatus) runtime.Object {
	rc := *obj.(*corev1.ReplicationController)
	rc.Status = corev1.ReplicationControllerStatus{
		Replicas: s.Replicas, FullyLabeledReplicas: s.FullyLabeledReplicas,
		ReadyReplicas: s.ReadyReplicas, AvailableReplicas: s.AvailableReplicas,
		ObservedGeneration: s.ObservedGeneration,
	}
	for _, c := range s.Conditions {
		rc.Status.Conditions = append(rc.Status.Conditions, corev1.ReplicationControllerCondition{
			Type: corev1.ReplicationControllerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return &rc
}
