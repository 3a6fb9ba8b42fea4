package controllers_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// A ReplicaSet that wants no pods, and whose status does not show yet that they are gone, has no pods that could
// replace another: 3 of 4 stay available.
func TestPodsThatAreGoingCountForNothing(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "deployment@current")
	c.laws = false // nobody counts the pods: the statuses are invented
	c.replicaSet("gone", "img:0", 0, 2)
	c.replicaSet("old", "img:1", 4, 4)
	one := intstr.FromInt32(1)
	n := int32(4)
	c.create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &n, Selector: metav1.SetAsLabelSelector(map[string]string{"app": "x"}), Template: pods("img:2"),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &one, MaxUnavailable: &one}},
		},
	})
	c.settle()
	old := c.Server.Lookup(c.Server.KindNamed("replicaset"), "default", "old").(*appsv1.ReplicaSet)
	if metav1.GetControllerOf(old) == nil || *old.Spec.Replicas != 3 {
		t.Errorf("old asks for %d pods, owned by %v", *old.Spec.Replicas, old.OwnerReferences)
	}
}

func pods(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
}

// replicaSet creates a ReplicaSet that reports this many available pods.
func (c *cluster) replicaSet(name, image string, size, available int32) {
	c.t.Helper()
	labels := map[string]string{"app": "x"}
	c.create(&appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec: appsv1.ReplicaSetSpec{Replicas: &size, Selector: metav1.SetAsLabelSelector(labels),
			Template: pods(image)},
	})
	c.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: c.Server.KindNamed("replicaset"), Namespace: "default", Name: name,
		Subresource: "status", PatchType: types.MergePatchType,
		Patch: fmt.Appendf(nil, `{"status":{"replicas":%d,"readyReplicas":%[1]d,"availableReplicas":%[1]d}}`,
			available)})
}
