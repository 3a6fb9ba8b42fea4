package fakeapi

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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
				if !sameEncoding(got.(encoded), want.(encoded)) || got.GetObjectKind().GroupVersionKind() != want.GetObjectKind().GroupVersionKind() {
					t.Fatalf("%s %s\nis   %+v\nwant %+v", k.GVK.Kind, patch, got, want)
				}
			}
		}
	}
}

// TestReplicasPatchIsPlain: what is not plainly a number of replicas is left
// to the general way.
func TestReplicasPatchIsPlain(t *testing.T) {
	for _, patch := range []string{
		``, `{}`, `{"spec":{}}`, `{"spec":{"replicas":null}}`, `{"spec":{"replicas":"1"}}`, `{"spec":{"replicas":1.0}}`, `{"spec":{"replicas":1e2}}`,
		`{"spec":{"replicas":01}}`, `{"spec":{"replicas":-}}`, `{"spec":{"replicas":- 1}}`, `{"spec":{"replicas":-01}}`, `{"spec":{"replicas":2147483648}}`,
		`{"spec":{"replicas":99999999999999999999}}`, `{"spec":{"replicas":1,"replicas":2}}`, `{"spec":{"replicas":1}} x`, `{"spec":{"replicas":1}`,
		`{"spec":{"replicas":1},"metadata":{}}`, `{"Spec":{"replicas":1}}`,
	} {
		if n, ok := parseReplicasPatch([]byte(patch)); ok {
			t.Errorf("%s: read as %d", patch, n)
		}
	}
	for n := range int32(200) {
		if got, ok := parseReplicasPatch(fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n-100)); !ok || got != n-100 {
			t.Errorf("%d: read as %d, %v", n-100, got, ok)
		}
	}
}
