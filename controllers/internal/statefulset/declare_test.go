package statefulset

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/law"
)

var invariants = New(Options{Era: Current}).Contract.Invariants
var needed, tied, bounds = invariants[0], invariants[1], invariants[2]

// The laws report a pod whose revision or claim does not exist, and a claim that should be deleted with its pod.
func TestNeededObjects(t *testing.T) {
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
	const gone = `revision "web-r" does not exist`
	for _, c := range []struct {
		name          string
		change        func(f *fixture)
		lacks, leaves string
	}{
		{"all is there", nil, "", "pvc/data-web-1"},
		{"the revision is elsewhere", func(f *fixture) { f.r.Namespace = "b" }, gone, "pvc/data-web-1"},
		{"the revision is another", func(f *fixture) { f.r.Name = "web-s" }, gone, "pvc/data-web-1"},
		{"the revision goes", func(f *fixture) { f.r.DeletionTimestamp = &now }, gone, "pvc/data-web-1"},
		{"the claim is elsewhere", func(f *fixture) { f.c.Namespace = "b" }, "pvc/data-web-1 does not exist", ""},
		{"the claim is another's", func(f *fixture) { f.c.Name = "data-web-2" }, "pvc/data-web-1 does not exist", ""},
		{"the claim goes", func(f *fixture) { f.c.DeletionTimestamp = &now }, "pvc/data-web-1 is terminating", ""},
		{"the claim is an earlier pod's", func(f *fixture) { f.c.OwnerReferences = of(pod.Kind, "web-1", "former") },
			"the owner of pvc/data-web-1 is a deleted pod", ""},
		{"looks wrong: the claim is an earlier pod's, and kept", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "former")
			f.s.Spec.PersistentVolumeClaimRetentionPolicy = nil
		}, "", ""},
		{"the claim is an earlier set's", func(f *fixture) { f.c.OwnerReferences = of(Kind, "web", "former") }, "", ""},
		{"the claim was an earlier pod's, among others", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "former")
			f.c.OwnerReferences[0].Controller = nil
		}, "the owner of pvc/data-web-1 is a deleted pod", ""},
		{"the claim was an earlier set's, among others", func(f *fixture) {
			f.c.OwnerReferences = of(Kind, "web", "former")
			f.c.OwnerReferences[0].Controller = nil
		}, "", ""},
		{"the claim is the set's", func(f *fixture) { f.c.OwnerReferences = of(Kind, "web", "set") }, "", "pvc/data-web-1"},
		{"the claim is the pod's", func(f *fixture) { f.c.OwnerReferences = of(pod.Kind, "web-1", "pod") }, "", ""},
		{"looks wrong: the claim is the pod's, which does not control it", func(f *fixture) {
			f.c.OwnerReferences = of(pod.Kind, "web-1", "pod")
			f.c.OwnerReferences[0].Controller = nil
		}, "", ""},
		{"the claim is another owner's", func(f *fixture) { f.c.OwnerReferences = of(pod.Kind, "db-0", "db") }, "", ""},
		{"the pod is wanted", func(f *fixture) {
			f.s.Spec.Replicas = nil
			f.s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
		}, "", ""},
		{"the pod is no member", func(f *fixture) { f.p.Name = "web-01" }, "", ""},
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
		kinds := map[string][]runtime.Object{history.Kind.Kind: {r}, claimKind.Kind: {claim}}
		all := func(kind string) []runtime.Object { return kinds[kind] }
		if got := needed.Check(&law.Facts{Owner: set, After: p, All: all}); got != c.lacks {
			t.Errorf("%s: lacks %q, want %q", c.name, got, c.lacks)
		}
		if got := tied.Check(&law.Facts{Owner: set, Before: p, All: all}); !strings.Contains(got, c.leaves) ||
			(got == "") != (c.leaves == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.leaves)
		}
		if needed.Check(&law.Facts{Owner: set, After: r, All: all})+tied.Check(&law.Facts{Owner: set, Before: r, All: all}) != "" {
			t.Errorf("%s: a revision lacks or leaves something", c.name)
		}
	}
}

// The set web has three pods. A name with ! at the end is not available, and a name with + has ended.
func TestExceedsBounds(t *testing.T) {
	named := func(name string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimRight(name, "!+")}}
		if !strings.HasSuffix(name, "!") {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		if strings.HasSuffix(name, "+") {
			p.Status.Phase = corev1.PodFailed
		}
		return p
	}
	parallel := func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }
	byHand := func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }
	rolling := func(f func(u *appsv1.RollingUpdateStatefulSetStrategy)) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
			f(s.Spec.UpdateStrategy.RollingUpdate)
		}
	}
	two, n := int32(2), intstr.FromInt32(2)
	split := rolling(func(u *appsv1.RollingUpdateStatefulSetStrategy) { u.Partition = &two })
	twice := rolling(func(u *appsv1.RollingUpdateStatefulSetStrategy) { u.MaxUnavailable = &n })
	for _, x := range []struct {
		name, others, was, is string
		set                   func(*appsv1.StatefulSet)
		want                  string
	}{
		{"the highest", "web-0 web-1", "web-2", "", nil, ""},
		{"beside one of another name", "web-0 web-1 db-0!", "web-2", "", nil, ""},
		{"the next", "web-0 web-2", "web-1", "", nil, ""},
		{"the next too early", "web-0 web-2!", "web-1", "", nil, "deleted while web-2 is not available"},
		{"the next while one is missing", "web-0", "web-1", "", nil, "deleted while web-2"},
		{"the highest while a lower is not available", "web-0! web-1", "web-2", "", nil, "while web-0 is not"},
		{"... which does not wait", "web-0! web-1", "web-2", "", parallel, ""},
		{"the next too early, in parallel", "web-0 web-2!", "web-1", "", parallel, "while web-2 is not"},
		{"one that has ended", "web-0 web-2!", "web-1+", "", nil, ""},
		{"two at a time", "web-0 web-2!", "web-1", "", twice, ""},
		{"three at a time", "web-1! web-2!", "web-0", "", twice, "while web-1 is not"},
		{"by hand", "web-0 web-1", "web-2", "", byHand, "replaces none by itself"},
		{"above the partition", "web-0 web-1", "web-2", "", split, ""},
		{"below the partition", "web-0 web-2", "web-1", "", split, "leaves the first 2 alone"},

		{"not wanted", "web-0 web-1 web-2", "web-3", "", nil, ""},
		{"not wanted, before a higher", "web-0 web-1 web-2 web-4", "web-3", "", nil, "before those above it"},
		{"not wanted, before the others are available", "web-0 web-1! web-2", "web-3", "", nil, "while web-1 is not"},
		{"looks wrong: not wanted, in parallel", "web-0! web-4", "web-3", "", parallel, ""},
		{"none of the set's", "web-0!", "else-1", "", nil, ""},
		{"made", "web-0", "", "web-1!", nil, ""},
		{"made too early", "web-0!", "", "web-1!", nil, "made while web-0 is not available"},
		{"made in parallel", "web-0!", "", "web-1!", parallel, ""},
		{"written", "web-0!", "web-1", "web-1", nil, ""},
	} {
		three := int32(3)
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		set.Spec.Replicas = &three
		if x.set != nil {
			x.set(set)
		}
		others := []runtime.Object{&appsv1.ControllerRevision{}}
		for _, name := range strings.Fields(x.others) {
			others = append(others, named(name))
		}
		var was, is runtime.Object
		if x.was != "" {
			was = named(x.was)
		}
		if x.is != "" {
			is = named(x.is)
		}
		got := bounds.Check(&law.Facts{Owner: set, Dependents: others, Before: was, After: is})
		if (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}
