package deployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// setOf returns a ReplicaSet with this image that wants and has this many pods.
func setOf(name, image string, size int32, revision string) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		Labels: map[string]string{"app": "x"}, Annotations: map[string]string{revisionAnnotation: revision}}}
	rs.Spec.Replicas, rs.Spec.Selector = &size, &metav1.LabelSelector{MatchLabels: rs.Labels}
	rs.Spec.Template.Labels = map[string]string{"app": "x"}
	rs.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: image}}
	rs.Status.Replicas, rs.Status.ReadyReplicas, rs.Status.AvailableReplicas = size, size, size
	return rs
}

// rolloutOf returns a reconcile of a Deployment that wants 4 pods of image "now", in a cluster with its ReplicaSets.
func rolloutOf(t *testing.T, change func(d *appsv1.Deployment), sets ...*appsv1.ReplicaSet) (*rollout, host.Client) {
	world := sim.New(sim.Zero{})
	user := host.NewCluster(world, fakeapi.New(fakeapi.Options{})).Client("user")
	d, four := &appsv1.Deployment{}, int32(4)
	d.Namespace, d.Name, d.Spec.Replicas = "default", "web", &four
	like := setOf("", "now", 0, "")
	d.Spec.Selector, d.Spec.Template = like.Spec.Selector, like.Spec.Template
	if change != nil {
		change(d)
	}
	u := &rollout{key: "default/web", reconciler: &reconciler{options: &Options{Era: Current},
		env:  &host.Env{Client: user, Now: world.Clock.Now},
		pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, byOwner)}}
	obj := made(t, user, d)
	own := *obj.(*appsv1.Deployment)
	u.d = &own
	for i, rs := range sets {
		status := rs.Status
		rs = made(t, user, rs).(*appsv1.ReplicaSet).DeepCopy()
		rs.Status = status
		rs.CreationTimestamp = metav1.NewTime(sim.Epoch.AddDate(0, 0, i))
		sets[i] = rs
	}
	u.take(sets)
	return u, user
}

func made(t *testing.T, c host.Client, obj runtime.Object) runtime.Object {
	obj, err := c.Create(t.Context(), obj)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// there lists the ReplicaSets on the server with their sizes.
func there(t *testing.T, c host.Client) (list []string) {
	items, err := c.List(t.Context(), SetKind, "default", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range items {
		rs := obj.(*appsv1.ReplicaSet)
		list = append(list, fmt.Sprintf("%s=%d", rs.Name, size(rs)))
	}
	return list
}

var errRefused = apierrors.NewInternalError(errors.New("out of order"))

// deletesNone is a client whose deletes fail. writesNone is a client whose writes fail.
type (
	deletesNone struct{ host.Client }
	writesNone  struct{ host.Client }
)

func (deletesNone) Delete(context.Context, schema.GroupVersionKind, string, string, metav1.DeleteOptions) error {
	return errRefused
}

func (writesNone) Update(context.Context, runtime.Object) (runtime.Object, error) {
	return nil, errRefused
}
func (writesNone) UpdateStatus(context.Context, runtime.Object) (runtime.Object, error) {
	return nil, errRefused
}

// Old ReplicaSets beyond the limit are deleted, the lowest revisions first. A ReplicaSet with pods, or with an unknown
// revision, is kept, and so is a recreated one.
func TestCleanUp(t *testing.T) {
	limit := func(n int32) func(d *appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &n }
	}
	old := func(name, revision string, change func(rs *appsv1.ReplicaSet)) *appsv1.ReplicaSet {
		rs := setOf(name, name, 0, revision)
		rs.Status.ObservedGeneration = 1
		if change != nil {
			change(rs)
		}
		return rs
	}
	for _, c := range []struct {
		name  string
		limit int32
		sets  []*appsv1.ReplicaSet
		want  []string
	}{
		{"the lowest", 1, []*appsv1.ReplicaSet{old("a", "2", nil), old("b", "1", nil)}, []string{"a=0"}},
		{"the oldest of those that say none", 1, []*appsv1.ReplicaSet{old("b", "x", nil), old("a", "1", nil)},
			[]string{"a=0"}},
		{"the oldest beside one that says none", 1, []*appsv1.ReplicaSet{old("b", "1", nil), old("a", "x", nil)},
			[]string{"a=0"}},
		{"the oldest of one revision", 1, []*appsv1.ReplicaSet{old("b", "1", nil), old("a", "1", nil)}, []string{"a=0"}},
		{"has pods", 0, []*appsv1.ReplicaSet{old("a", "1", func(rs *appsv1.ReplicaSet) { rs.Status.Replicas = 1 }),
			old("b", "2", nil)}, []string{"a=0"}},
		{"asks for pods", 0, []*appsv1.ReplicaSet{old("a", "1", func(rs *appsv1.ReplicaSet) { *rs.Spec.Replicas = 1 })},
			[]string{"a=1"}},
		{"nobody has looked", 0, []*appsv1.ReplicaSet{old("a", "1",
			func(rs *appsv1.ReplicaSet) { rs.Status.ObservedGeneration = 0 })}, []string{"a=0"}},
		{"none is the current one", 0, []*appsv1.ReplicaSet{setOf("now", "now", 4, "2"), old("a", "1", nil)},
			[]string{"now=4"}},
	} {
		u, user := rolloutOf(t, limit(c.limit), c.sets...)
		if err := u.cleanUp(t.Context()); err != nil {
			t.Error(err)
		}
		if got := there(t, user); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q are left, want %q", c.name, got, c.want)
		}
	}
	u, user := rolloutOf(t, limit(0), old("a", "1", nil))
	u.sets[0].UID = "former"
	if err := u.cleanUp(t.Context()); err == nil || len(there(t, user)) != 1 {
		t.Errorf("recreated ReplicaSet: %q are left, error %v", there(t, user), err)
	}
	for name, sync := range map[string]func() error{
		"recreate": func() error { return u.recreate(t.Context()) },
		"roll":     func() error { return u.roll(t.Context()) },
		"resize":   func() error { u.d.Spec.Paused = true; return u.resize(t.Context()) },
	} {
		u, user = rolloutOf(t, limit(0), old("a", "1", nil), setOf("now", "now", 4, "2"))
		u.d.Status = appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 4,
			ObservedGeneration: 1}
		u.env.Client = deletesNone{user}
		if err := sync(); !errors.Is(err, errRefused) {
			t.Errorf("%s: no error, although no old ReplicaSet was deleted: %v", name, err)
		}
	}
	// A paused Deployment with a rollback request keeps its history.
	u, user = rolloutOf(t, func(d *appsv1.Deployment) {
		d.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: "1"}
		d.Spec.Paused, d.Spec.RevisionHistoryLimit = true, new(int32)
	}, old("a", "1", nil), setOf("now", "now", 4, "2"))
	if err := u.resize(t.Context()); err != nil || len(there(t, user)) != 2 {
		t.Errorf("paused, with a rollback request: %q are left, error %v", there(t, user), err)
	}
}

// A missing ReplicaSet need not be deleted. No old ReplicaSet is deleted before the rollout is complete.
func TestCleanUpWaits(t *testing.T) {
	old := setOf("a", "a", 0, "1")
	old.Status.ObservedGeneration = 1
	none := func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = new(int32) }
	u, user := rolloutOf(t, none, old)
	if err := user.Delete(t.Context(), SetKind, "default", "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := u.cleanUp(t.Context()); err != nil {
		t.Errorf("missing ReplicaSet: %v", err)
	}
	u, user = rolloutOf(t, none, old, setOf("now", "now", 3, "2"))
	u.d.Status = appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 4, ObservedGeneration: 1}
	if err := u.roll(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := there(t, user), []string{"a=0", "now=4"}; !slices.Equal(got, want) {
		t.Errorf("%q are left, want %q", got, want)
	}
}

// Failed writes are reported when pods are shared among ReplicaSets, and while the Deployment is terminating.
func TestSaysWhatIsNotWritten(t *testing.T) {
	u, user := rolloutOf(t, nil, setOf("a", "a", 2, "1"), setOf("now", "now", 4, "2"))
	u.env.Client = writesNone{user}
	if err := u.share(t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("size: %v", err)
	}
	u, user = rolloutOf(t, nil, setOf("a", "a", 2, "1"), setOf("now", "now", 4, "1"))
	u.env.Client = writesNone{user}
	if err := u.writeOff(t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("revision: %v", err)
	}
}

// Old ReplicaSets shrink while enough pods stay available. Unavailable pods are removed first.
func TestShrink(t *testing.T) {
	strategy := func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType }
	like := func(name string, size, available int32) *appsv1.ReplicaSet {
		rs := setOf(name, name, size, "1")
		rs.Status.AvailableReplicas = available
		return rs
	}
	for _, c := range []struct {
		name  string
		sets  []*appsv1.ReplicaSet
		moved bool
		want  []string
	}{
		{"the unavailable", []*appsv1.ReplicaSet{like("a", 3, 1), like("now", 2, 2)}, true, []string{"a=1", "now=2"}},
		{"the others", []*appsv1.ReplicaSet{like("a", 3, 3), like("now", 2, 2)}, true, []string{"a=1", "now=2"}},
		{"none", []*appsv1.ReplicaSet{like("a", 1, 1), like("now", 2, 2)}, false, []string{"a=1", "now=2"}},
		{"one is shrinking", []*appsv1.ReplicaSet{like("a", 3, 4), like("now", 4, 4)}, false, []string{"a=3", "now=4"}},
	} {
		u, user := rolloutOf(t, strategy, c.sets...)
		moved, err := u.shrink(t.Context())
		if got := there(t, user); err != nil || moved != c.moved || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, moved %v, %v; want %q", c.name, got, moved, err, c.want)
		}
	}
	u, user := rolloutOf(t, strategy, like("now", 6, 6))
	u.env.Client = writesNone{user}
	if _, err := u.grow(t.Context()); err == nil {
		t.Error("no error, although the ReplicaSets were not scaled down")
	}
	if err := u.observe(t.Context()); err == nil {
		t.Error("no error, although the status was not written")
	}
	u.d.Spec.Selector, u.d.Status.ObservedGeneration = &metav1.LabelSelector{}, 0
	if err := u.sync(t.Context(), u.key, u.d); err == nil {
		t.Error("no error, although the status of a Deployment that selects nothing was not written")
	}
}

// A Deployment with strategy Recreate scales up at once, others as far as maxSurge allows.
func TestRoom(t *testing.T) {
	recreate := func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }
	if u, _ := rolloutOf(t, recreate, setOf("a", "old", 3, "1")); u.room(0) != 4 {
		t.Errorf("Recreate: room is %d", u.room(0))
	}
	if u, _ := rolloutOf(t, nil, setOf("a", "old", 3, "1")); u.room(0) != 2 {
		t.Errorf("RollingUpdate: room is %d", u.room(0))
	}
}
