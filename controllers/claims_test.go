package controllers_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// Changes of a claim whose pod exists enqueue nothing. A problem is fixed when the set is reconciled for another
// reason.
func TestClaimsOfPodsWakeNobody(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "statefulset@current", "persistentvolumeclaim-protection")
	c.create(claimSet())
	c.settle()
	claim := func() *corev1.PersistentVolumeClaim {
		claim, _ := c.Server.Lookup(c.Server.KindNamed("pvc"), "default", "data-web-0").(*corev1.PersistentVolumeClaim)
		return claim
	}
	c.patch("pvc", "data-web-0", `{"metadata":{"ownerReferences":null}}`)
	c.settle()
	if len(claim().OwnerReferences) > 0 {
		t.Error("the claim has its owner back at once")
	}
	c.delete("pvc", "data-web-0", metav1.DeleteOptions{})
	c.settle()
	if claim() != nil {
		t.Error("the claim is made again at once")
	}
	c.patch("statefulset", "web", `{"metadata":{"labels":{"touched":"yes"}}}`)
	c.settle()
	if claim() == nil || len(claim().OwnerReferences) != 1 {
		t.Errorf("the claim is %+v", claim())
	}
}

// claimSet is a StatefulSet with a claim for each pod that is deleted with the set.
func claimSet() *appsv1.StatefulSet {
	template := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	template.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	template.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "web", Selector: metav1.SetAsLabelSelector(map[string]string{"app": "x"}),
			Template: pods("img:1"), VolumeClaimTemplates: []corev1.PersistentVolumeClaim{template},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType},
		},
	}
}
