package statefulset

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		name     string
		set      string
		ordinal  int
		member   bool // of a set web
		upstream bool // upstream's result
	}{
		{"web-0", "web", 0, true, true},
		{"web-12", "web", 12, true, true},
		{"web-01", "web", 1, false, true},
		{"web-", "", -1, false, false},
		{"web", "", -1, false, false},
		{"web-x", "", -1, false, false},
		{"web-1x", "", -1, false, false},
		{"web--1", "web-", 1, false, false},
		{"a-web-1", "a-web", 1, false, false},
		{"web-99999999999", "web", -1, false, true},
		{"-7", "", 7, false, false},
		{"7", "", -1, false, false},
	} {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		of, n := identity(c.name)
		if of != c.set || n != c.ordinal {
			t.Errorf("%s has ordinal %d of set %q", c.name, n, of)
		}
		if member(set, c.name, &Without{}) != c.member || member(set, c.name, &Without{Canonical: true}) != c.upstream {
			t.Errorf("%s: member of web is not %v, or not %v upstream", c.name, c.member, c.upstream)
		}
	}
}

func TestClaimsAreFoundByName(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	for name, want := range map[string]bool{
		"data-web-0": true, "data-web-17": true, "data-web": false, "log-web-0": false, "data-db-0": false,
		"x-data-web-0": false, "data-web-99999999999": false,
	} {
		if claims(set, name) != want {
			t.Errorf("%s is a claim of the set: %v", name, !want)
		}
	}
}

func TestMount(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-3"}}
	p.Spec.Volumes = []corev1.Volume{{Name: "data"}, {Name: "tmp"}}
	if mounted(set, p) {
		t.Error("a volume without a claim counts as mounted")
	}
	p.Spec.Volumes[1].PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-web-3"}
	if mounted(set, p) {
		t.Error("a claim with another volume name counts as mounted")
	}
	mount(set, p)
	if v := p.Spec.Volumes; !mounted(set, p) || len(v) != 2 || v[1].Name != "tmp" ||
		v[0].PersistentVolumeClaim.ClaimName != "data-web-3" {
		t.Errorf("volumes %v", v)
	}
	if mounted(set, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-4"}, Spec: p.Spec}) {
		t.Error("the claim of another pod counts as mounted")
	}
}

// The owners of a claim depend on the policy, on whether the pod is wanted, and on who owns it.
func TestRetention(t *testing.T) {
	const keep, drop = appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	type kind = appsv1.PersistentVolumeClaimRetentionPolicyType
	ref := func(kind schema.GroupVersionKind, name, uid string) metav1.OwnerReference {
		return *metav1.NewControllerRef(&metav1.ObjectMeta{Name: name, UID: types.UID(uid)}, kind)
	}
	ofSet, ofPod := ref(Kind, "web", "set"), ref(pod.Kind, "web-1", "pod")
	former, formerPod := ref(Kind, "web", "former"), ref(pod.Kind, "web-1", "former")
	foreign := ref(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "cm", "cm")
	quiet, quietPod := ofSet, ofPod
	quiet.Controller, quietPod.Controller = nil, nil
	elsewhere := ref(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: Kind.Kind}, "web", "else")
	other := ref(schema.GroupVersionKind{Group: Kind.Group, Version: Kind.Version, Kind: "Deployment"}, "web", "d")
	elsewhere.Controller, other.Controller = nil, nil
	for _, c := range []struct {
		name            string
		deleted, scaled kind
		replicas        int32 // the pod is number 1
		have, want      []metav1.OwnerReference
	}{
		{"kept", keep, keep, 2, nil, nil},
		{"kept, and owned before the policy changed", keep, keep, 2, refs(ofSet), refs()},
		{"goes with the set", drop, keep, 2, nil, refs(ofSet)},
		{"goes with the set, though the pod is not wanted", drop, keep, 1, refs(ofPod), refs(ofSet)},
		{"goes with the pod, which is wanted", keep, drop, 2, refs(ofPod), refs()},
		{"goes with the pod, which is not wanted", keep, drop, 1, nil, refs(ofPod)},
		{"goes with either, the pod is wanted", drop, drop, 2, refs(ofPod), refs(ofSet)},
		{"goes with either, the pod is not wanted", drop, drop, 1, refs(ofSet), refs(ofPod)},
		{"owned and not controlled", drop, keep, 2, refs(quiet), refs(ofSet)},
		{"owned by its pod and not controlled", keep, drop, 1, refs(quietPod), refs(ofPod)},
		{"of an earlier set", drop, drop, 1, refs(former), refs(former)},
		{"of an earlier pod", drop, drop, 2, refs(formerPod), refs(formerPod)},
		{"of an earlier set and of this one", keep, keep, 2, refs(former, ofSet), refs(former, ofSet)},
		{"of an earlier pod and of this one", keep, keep, 2, refs(formerPod, ofPod), refs(formerPod, ofPod)},
		{"of one of another group, which has the name", drop, keep, 2, refs(elsewhere), refs(elsewhere, ofSet)},
		{"of one of another kind, which has the name", drop, keep, 2, refs(other), refs(other, ofSet)},
		{"controlled by another owner, goes with the set", drop, keep, 2, refs(foreign), refs(foreign)},
		{"controlled by another owner, goes with the pod", keep, drop, 1, refs(foreign), refs(foreign)},
		{"controlled by another owner, and the pod's", drop, drop, 2, refs(foreign, quietPod), refs(foreign)},
		{"controlled by another owner", drop, drop, 2, refs(foreign), refs(foreign)},
		{"controlled by another owner, and owned", drop, drop, 2, refs(foreign, quiet), refs(foreign)},
		{"controlled by another owner, and kept", keep, keep, 2, refs(foreign), refs(foreign)},
	} {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
		set.Spec.Replicas = &c.replicas
		set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: c.deleted, WhenScaled: c.scaled}
		s := &syncing{reconciler: &reconciler{options: &Options{Era: Current}}, set: set}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "pod"}}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{OwnerReferences: c.have}}
		got := claim.OwnerReferences
		if !s.rightlyOwned(claim, p) {
			got = s.owners(claim, p)
		}
		if !sameOwners(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func refs(list ...metav1.OwnerReference) []metav1.OwnerReference { return list }

func sameOwners(a, b []metav1.OwnerReference) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].UID != b[i].UID || controls(&a[i]) != controls(&b[i]) {
			return false
		}
	}
	return true
}

// A revision that lacks a field with a later default has the same template (bug C19 of the track record).
func TestRevisionMeansTheSame(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{})
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "img:1"}}
	older := history.Data(&set.Spec.Template)
	server.Kind(Kind).Default(set)
	s := &syncing{reconciler: &reconciler{env: &host.Env{Kinds: server.Kinds}}, set: set}
	data := history.Data(&set.Spec.Template)
	for _, c := range []struct {
		raw  []byte
		want bool
	}{
		{data, true}, {older, true}, {[]byte(`{"spec":{"template":{"$patch":"replace"}}}`), false},
		{[]byte(`[]`), false},
	} {
		r := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: c.raw}}
		if s.means(r, data) != c.want {
			t.Errorf("%s has the same template: %v", c.raw, !c.want)
		}
	}
}

// A status is written if any number or name has changed, except the collision count.
func TestSaysTheSame(t *testing.T) {
	for name, change := range map[string]func(s *appsv1.StatefulSetStatus){
		"observedGeneration": func(s *appsv1.StatefulSetStatus) { s.ObservedGeneration++ },
		"replicas":           func(s *appsv1.StatefulSetStatus) { s.Replicas++ },
		"readyReplicas":      func(s *appsv1.StatefulSetStatus) { s.ReadyReplicas++ },
		"availableReplicas":  func(s *appsv1.StatefulSetStatus) { s.AvailableReplicas++ },
		"currentReplicas":    func(s *appsv1.StatefulSetStatus) { s.CurrentReplicas++ },
		"updatedReplicas":    func(s *appsv1.StatefulSetStatus) { s.UpdatedReplicas++ },
		"currentRevision":    func(s *appsv1.StatefulSetStatus) { s.CurrentRevision = "web-1" },
		"updateRevision":     func(s *appsv1.StatefulSetStatus) { s.UpdateRevision = "web-1" },
		"":                   func(s *appsv1.StatefulSetStatus) { s.CollisionCount = new(int32) },
	} {
		var old, is appsv1.StatefulSetStatus
		if change(&is); saysTheSame(&old, &is) != (name == "") {
			t.Errorf("%q changed: saysTheSame is %v", name, name != "")
		}
	}
	if !saysTheSame(&appsv1.StatefulSetStatus{ObservedGeneration: 2},
		&appsv1.StatefulSetStatus{ObservedGeneration: 1}) {
		t.Error("saysTheSame is false for an older observedGeneration")
	}
}

func (*noOwners) UpdateStatus(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	return obj, nil
}

// Since ControllerRef a terminating set creates no pods. Before ControllerRef it did.
func TestOldOnesThatGo(t *testing.T) {
	now := metav1.Now()
	for name, c := range map[string]struct {
		era   Era
		going *metav1.Time
		makes int
	}{
		"selector": {Selector, nil, 1}, "selector, going": {Selector, &now, 1},
		"controllerref": {ControllerRef, nil, 1}, "controllerref, going": {ControllerRef, &now, 0},
	} {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "set",
			DeletionTimestamp: c.going}}
		set.Spec.Replicas, set.Spec.Selector = new(int32(1)), &metav1.LabelSelector{}
		client := &noOwners{}
		pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
			cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		pod.Index(pods)
		s := &syncing{set: set, key: "default/web", reconciler: &reconciler{options: &Options{Era: c.era},
			env: &host.Env{Client: client, Now: time.Now}, pods: pods}}
		if err := s.syncOld(t.Context()); err != nil || len(client.wrote) != c.makes {
			t.Errorf("%s: %v, and wrote %q, want %d", name, err, client.wrote, c.makes)
		}
	}
}
