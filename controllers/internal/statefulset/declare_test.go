package statefulset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// What the laws are told of a pod: which of what it rests on is not there to stay, and which claim
// is to go with it and is not its own yet.
func TestLacksAndStrands(t *testing.T) {
	replicas := int32(1)
	now := metav1.Now()
	of := func(kind schema.GroupVersionKind, name, uid string) []metav1.OwnerReference {
		return refs(*metav1.NewControllerRef(&metav1.ObjectMeta{Name: name, UID: types.UID(uid)}, kind))
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }
	revision := func() *appsv1.ControllerRevision { return &appsv1.ControllerRevision{ObjectMeta: meta("web-r")} }
	claim := func() *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: meta("data-web-1")}
	}
	type fixture struct {
		s *appsv1.StatefulSet
		p *corev1.Pod
		r *appsv1.ControllerRevision
		c *corev1.PersistentVolumeClaim
	}
	const gone = `there is no revision "web-r"`
	for _, c := range []struct {
		name           string
		change         func(f *fixture)
		lacks, strands string
	}{
		{"all is there", nil, "", "pvc/data-web-1"},
		{"the revision is elsewhere", func(f *fixture) {
			f.r.Namespace = "b"
		}, gone, "pvc/data-web-1"},
		{"the revision is another", func(f *fixture) {
			f.r.Name = "web-s"
		}, gone, "pvc/data-web-1"},
		{"the revision goes", func(f *fixture) {
			f.r.DeletionTimestamp = &now
		}, gone, "pvc/data-web-1"},
		{"the claim is elsewhere", func(f *fixture) {
			f.c.Namespace = "b"
		}, "there is no pvc/data-web-1", ""},
		{"the claim is another's", func(f *fixture) {
			f.c.Name = "data-web-2"
		}, "there is no pvc/data-web-1", ""},
		{"the claim goes", func(f *fixture) {
			f.c.DeletionTimestamp = &now
		}, "pvc/data-web-1 is going", ""},
		{"the claim is an earlier pod's", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "former")
		},
			"pvc/data-web-1 is going", ""},
		{"the claim is an earlier pod's, and kept", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "former")
			f.s.Spec.PersistentVolumeClaimRetentionPolicy = nil
		}, "", ""},
		{"the claim is an earlier set's", func(f *fixture) {
			f.c.OwnerReferences = of(Kind, "web", "former")
		}, "", ""},
		{"the claim was an earlier pod's, among others", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "former")
			f.c.OwnerReferences[0].Controller = nil
		}, "pvc/data-web-1 is going", ""},
		{"the claim was an earlier set's, among others", func(f *fixture) {
			f.c.OwnerReferences = of(Kind, "web", "former")
			f.c.OwnerReferences[0].Controller = nil
		}, "", ""},
		{"the claim is the set's", func(f *fixture) {
			f.c.OwnerReferences = of(Kind, "web", "set")
		}, "", "pvc/data-web-1"},
		{"the claim is the pod's", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "pod")
		}, "", ""},
		{"the claim is the pod's, which does not control it", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "pod")
			f.c.OwnerReferences[0].Controller = nil
		}, "", ""},
		{"the claim is a stranger's", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "db-0", "db")
		}, "", ""},
		{"the pod is wanted", func(f *fixture) {
			f.s.Spec.Replicas = nil
			f.s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
		},
			"", ""},
		{"the pod is no member", func(f *fixture) {
			f.p.Name = "web-01"
		}, "", ""},
	} {
		set := &appsv1.StatefulSet{ObjectMeta: meta("web")}
		set.UID, set.Spec.Replicas = "set", &replicas
		set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		p := &corev1.Pod{ObjectMeta: meta("web-1")}
		p.UID, p.Labels = "pod", map[string]string{appsv1.StatefulSetRevisionLabel: "web-r"}
		r, claim := revision(), claim()
		if c.change != nil {
			c.change(&fixture{set, p, r, claim})
		}
		all := func(kind string) []runtime.Object {
			if kind == history.Kind.Kind {
				return []runtime.Object{r}
			}
			return []runtime.Object{claim}
		}
		if got := lacks(set, p, all); got != c.lacks {
			t.Errorf("%s: lacks %q, want %q", c.name, got, c.lacks)
		}
		if got := strands(set, p, all); got != c.strands {
			t.Errorf("%s: strands %q, want %q", c.name, got, c.strands)
		}
		if lacks(set, r, all) != "" || strands(set, r, all) != "" {
			t.Errorf("%s: a revision lacks or strands something", c.name)
		}
	}
}
