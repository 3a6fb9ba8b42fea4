package host

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// What a request for a scale was answered is recorded as the object that the scale is
// of: whoever judges what was read can read it as one of its kind.
func TestScaleIsReadOffItsObject(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 0)
	kind, one := c.server.KindNamed("replicaset"), int32(1)
	labels := map[string]string{"app": "web"}
	c.As("user", &fakeapi.Request{Verb: fakeapi.Create, Kind: kind, Namespace: "default", Name: "web",
		Object: &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
			Spec: appsv1.ReplicaSetSpec{Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}})
	for _, req := range []*fakeapi.Request{
		{Verb: fakeapi.Get},
		{Verb: fakeapi.Patch, PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"replicas":1}}`)},
	} {
		req.Kind, req.Namespace, req.Name, req.Subresource = kind, "default", "web", "scale"
		if resp := c.As("user", req); resp.Err != nil {
			t.Fatal(resp.Err)
		}
		r := c.world.History.At(c.world.History.Len() - 1)
		if _, ok := r.After.(*appsv1.ReplicaSet); !ok || r.Op != sim.Read {
			t.Errorf("%s: recorded as %v of a %T", req.Verb, r.Op, r.After)
		}
	}
}
