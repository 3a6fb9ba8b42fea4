package fakeapi

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// TestReplicasPatchIsThePatch compares the way that writes the replicas with
// the general way, through JSON.
func TestReplicasPatchIsThePatch(t *testing.T) {
	labels := map[string]string{"app": "web"}
	spec := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("p").Spec}
	sel := &metav1.LabelSelector{MatchLabels: labels}
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web", Annotations: map[string]string{"a": "b"}}
	s := New(Options{})
	for _, obj := range []runtime.Object{
		&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: sel, Template: spec}},
		&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: sel, Template: spec}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: sel, Template: spec, ServiceName: "web"}},
		&corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &spec}},
	} {
		k := s.KindOf(obj)
		mustDo(t, s, &Request{Verb: Create, Kind: k, Namespace: "default", Object: obj})
		old := s.find(s.tables[k.ordinal], "default/web")
		for _, patch := range []string{`{"spec":{"replicas":3}}`, ` { "spec" : { "replicas" : 0 } } `, `{"spec":{"replicas":-1}}`, `{"spec":{"replicas":999999999}}`} {
			for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
				c := &call{s: s, k: k, req: &Request{PatchType: kind, Patch: []byte(patch)}}
				got := c.patchReplicas(old)
				if got == nil {
					t.Fatalf("%s: %s did not take the fast way", k.GVK.Kind, patch)
				}
				want, err := c.patchWhole(old.obj)
				if err != nil || len(c.warnings) > 0 {
					t.Fatalf("%s %s: the general way says %v, %q", k.GVK.Kind, patch, err, c.warnings)
				}
				if !same.Object(got, want) || got.GetObjectKind().GroupVersionKind() != want.GetObjectKind().GroupVersionKind() {
					t.Fatalf("%s %s\nis   %+v\nwant %+v", k.GVK.Kind, patch, got, want)
				}
			}
		}
	}
}
