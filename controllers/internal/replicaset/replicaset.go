// Package replicaset is the ReplicaSet controller.
package replicaset

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/sim/host"
)

var Kind = &replicas.Traits{
	Name:        "replicaset",
	GVK:         appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	Terminating: true,
	Consistent:  true,
	Read:        read,
	WithStatus:  withStatus,
}

func New(o replicas.Options) host.Controller { return replicas.New(Kind, o) }

func read(obj runtime.Object) replicas.Set {
	rs := obj.(*appsv1.ReplicaSet)
	s := replicas.Set{
		ObjectMeta: &rs.ObjectMeta, Object: rs, Replicas: 1,
		MinReadySeconds: rs.Spec.MinReadySeconds, Template: &rs.Spec.Template, Status: rs.Status,
	}
	if rs.Spec.Replicas != nil {
		s.Replicas = int(*rs.Spec.Replicas)
	}
	s.SelectBy(rs.Spec.Selector)
	return s
}

func withStatus(obj runtime.Object, status appsv1.ReplicaSetStatus) runtime.Object {
	rs := *obj.(*appsv1.ReplicaSet)
	rs.Status = status
	return &rs
}
