package statefulset

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/consistency"
	"github.com/threelaws/threelaws/sim/host"
)

var errRefused = errors.New("refused")

// noOwners is a client that refuses changes of claims. It records created and changed pods.
type noOwners struct {
	host.Client
	wrote   []string
	refuses error // the error of changes of pods
}

func (c *noOwners) Create(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	c.wrote = append(c.wrote, "create "+obj.(metav1.Object).GetName())
	return obj, nil
}

func (c *noOwners) Update(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	if _, is := obj.(*corev1.PersistentVolumeClaim); is {
		return nil, errRefused
	}
	c.wrote = append(c.wrote, "update "+obj.(metav1.Object).GetName())
	return obj, c.refuses
}

// If the owners of a claim cannot be set, the reconcile fails. Only the creation of a pod continues.
func TestClaimsWithoutTheirOwners(t *testing.T) {
	drop := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "set"}}
	set.Spec.Replicas, set.Spec.Selector = new(int32(1)), &metav1.LabelSelector{}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: drop, WhenScaled: drop}
	claims := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	_ = claims.Add(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data-web-0"}})
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: "pod"}}
	for name, c := range map[string]struct {
		do   func(s *syncing) error
		want int
	}{
		"ensure": {func(s *syncing) error { return s.ensureClaims(t.Context(), p) }, 0},
		"create": {func(s *syncing) error { return s.create(t.Context(), p) }, 1},
		"repair": {func(s *syncing) error { return s.repairOnce(t.Context(), p) }, 0},
	} {
		client := &noOwners{}
		s := &syncing{set: set, key: "default/web", reconciler: &reconciler{options: &Options{Era: Current},
			env: &host.Env{Client: client}, claims: claims,
			written: consistency.New(nil)}}
		if err := c.do(s); !errors.Is(err, errRefused) || len(client.wrote) != c.want {
			t.Errorf("%s: %v, and wrote %q", name, err, client.wrote)
		}
	}
}

// After a conflict the cached pod is repaired, but not a recreated pod, or a pod that the set lost.
func TestRepairsTheSamePod(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "set"}}
	own := refs(*metav1.NewControllerRef(&set.ObjectMeta, Kind))
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: "pod",
		OwnerReferences: own}}
	another, freed := *p, *p
	another.UID, freed.OwnerReferences = "another", nil
	for name, c := range map[string]struct {
		later *corev1.Pod
		tries int
	}{"the same": {p, attempts}, "another of its name": {&another, 1}, "freed": {&freed, 1}} {
		pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		_ = pods.Add(c.later)
		client := &noOwners{refuses: apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web-0", nil)}
		s := &syncing{set: set, reconciler: &reconciler{options: &Options{Era: Current},
			env: &host.Env{Client: client}, pods: pods}}
		if err := s.repair(t.Context(), p); !apierrors.IsConflict(err) || len(client.wrote) != c.tries {
			t.Errorf("%s: %v after %d tries, want %d", name, err, len(client.wrote), c.tries)
		}
	}
}

// view is a cache of sets.
type view []*appsv1.StatefulSet

func (view) Get(schema.GroupVersionKind, string, string) runtime.Object { return nil }

func (v view) Each(_ schema.GroupVersionKind, _ string, f func(runtime.Object) bool) {
	for _, set := range v {
		if !f(set) {
			return
		}
	}
}

// A deleted or released claim enqueues every set that waits for it. Two sets may have a claim of its name. A claim that
// gets an owner enqueues no set.
func TestClaimWakesAll(t *testing.T) {
	of := func(name, template string) *appsv1.StatefulSet {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: template}}}
		return set
	}
	v := view{of("b", "data-a"), of("a-b", "data")}
	free := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data-a-b-0"}}
	owned := free.DeepCopy()
	owned.OwnerReferences = refs(metav1.OwnerReference{Name: "o"})
	route := claimRoute(&Options{Era: Current})
	for name, c := range map[string]struct {
		old, now runtime.Object
		want     int
	}{"gone": {owned, nil, 2}, "let go": {owned, free, 2}, "taken": {free, owned, 0}, "as it was": {owned, owned, 0}} {
		var out host.Effect
		route.Do(v, host.Event{Old: c.old, New: c.now}, &out)
		if len(out.Keys) != c.want {
			t.Errorf("%s: enqueued %q, want %d sets", name, out.Keys, c.want)
		}
	}
}
