package daemonset

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/host"
)

func stored(t *testing.T, c *host.Cluster) *appsv1.DaemonSet {
	obj, err := c.Client("user").Get(t.Context(), Kind, "default", "log")
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*appsv1.DaemonSet).DeepCopy()
}

// A collision is counted once. It is not counted if the cached count is outdated, or if the set was recreated.
func TestCollided(t *testing.T) {
	count := func(n int32) *int32 { return &n }
	for _, c := range []struct {
		name       string
		cached, is *int32
		uid        bool // the cached set has another uid
		fails      string
		want       int32
	}{
		{"the first", nil, nil, false, "", 1}, {"one more", count(2), count(2), false, "", 3},
		{"counted since", count(1), count(2), false, "stale collision count", 2},
		{"the first was counted since", nil, count(1), false, "stale collision count", 1},
		{"forgotten", count(1), nil, false, "stale collision count", 0},
		{"another set", nil, nil, true, "is gone: got uid", 0},
	} {
		w, cluster := syncOf(t, Current)
		live := stored(t, cluster)
		live.Status.CollisionCount = c.is
		if _, err := cluster.Client("user").UpdateStatus(t.Context(), live); err != nil {
			t.Fatal(err)
		}
		if w.set.Status.CollisionCount = c.cached; c.uid {
			w.set.UID = "former"
		}
		err := w.collided(t.Context())
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", c.name, err)
		}
		got := int32(0)
		if n := stored(t, cluster).Status.CollisionCount; n != nil {
			got = *n
		}
		if got != c.want {
			t.Errorf("%s: collision count %d, want %d", c.name, got, c.want)
		}
	}
	w, cluster := syncOf(t, Current)
	if err := cluster.Client("user").Delete(t.Context(), Kind, "default", "log", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := w.collided(t.Context()); !apierrors.IsNotFound(err) {
		t.Errorf("error %v for a set that is gone, want NotFound", err)
	}
}

// The revision of a template without labels still has its hash.
func TestSnapshotWithoutLabels(t *testing.T) {
	w, _ := syncOf(t, Current)
	w.set.Spec.Template.Labels = nil
	r, err := w.snapshot(t.Context(), history.Data(&w.set.Spec.Template), 1)
	if err != nil || r.Name != "log-"+r.Labels[hashLabel] {
		t.Errorf("%v, %v", r, err)
	}
}

// Pods are relabelled, but not recreated pods with the same name.
func TestRelabel(t *testing.T) {
	w, cluster := syncOf(t, Current)
	user := cluster.Client("user")
	p := daemon("log-1", "n")
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.set, Kind)}
	obj, err := user.Create(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	cached := obj.(*corev1.Pod).DeepCopy()
	cached.UID = "former"
	label := func() string {
		obj, err := user.Get(t.Context(), pod.Kind, "default", "log-1")
		if err != nil {
			t.Fatal(err)
		}
		return obj.(*corev1.Pod).Labels[hashLabel]
	}
	for _, cached := range []*corev1.Pod{cached, obj.(*corev1.Pod)} {
		if err := w.reconciler.pods.Add(cached); err != nil {
			t.Fatal(err)
		}
		err := w.relabel(t.Context(), "new")
		if is := cached == obj; (err == nil) != is || (label() == "new") != is {
			t.Errorf("with cached uid %s, the pod has label %q, %v", cached.UID, label(), err)
		}
	}
	if err := w.relabel(t.Context(), "old"); err != nil || label() != "new" {
		t.Errorf("with the cached uid, the pod has label %q, %v", label(), err)
	}
	w.env.Client = refusing{w.env.Client}
	if err := w.relabel(t.Context(), "newer"); err == nil {
		t.Error("no error, although a pod was not relabelled")
	}
	orphan := obj.(*corev1.Pod).DeepCopy()
	orphan.OwnerReferences, orphan.Labels[hashLabel] = nil, "newest"
	if err := w.reconciler.pods.Update(orphan); err != nil {
		t.Fatal(err)
	}
	if err := w.relabel(t.Context(), "newest"); err == nil {
		t.Error("no error, although a revision was not adopted")
	}
}

// refusing is a client whose patches and deletions are refused.
type refusing struct{ host.Client }

func (refusing) Delete(context.Context, schema.GroupVersionKind, string, string, metav1.DeleteOptions) error {
	return apierrors.NewInternalError(errors.New("out of order"))
}

func (refusing) Patch(context.Context, schema.GroupVersionKind, string, string, host.Patch) (runtime.Object, error) {
	return nil, apierrors.NewInternalError(errors.New("out of order"))
}

// A refused status is written once more to the current set, but not to a recreated set.
func TestStore(t *testing.T) {
	for _, c := range []struct {
		name  string
		cache func(s *appsv1.DaemonSet)
		fails bool
	}{
		{"as cached", func(*appsv1.DaemonSet) {}, false},
		{"older", func(s *appsv1.DaemonSet) { s.ResourceVersion = "1" }, false},
		{"another", func(s *appsv1.DaemonSet) { s.UID, s.ResourceVersion = "former", "1" }, true},
		{"gone", func(s *appsv1.DaemonSet) { s.Name = "gone" }, true},
	} {
		w, cluster := syncOf(t, Current)
		c.cache(w.set)
		err := w.store(t.Context(), appsv1.DaemonSetStatus{NumberReady: 7})
		if (err != nil) != c.fails || (stored(t, cluster).Status.NumberReady == 7) == c.fails {
			t.Errorf("%s: error %v, stored status %v", c.name, err, stored(t, cluster).Status)
		}
	}
}

func revisionOf(t *testing.T, c *host.Cluster, name, hash string, number int64) *appsv1.ControllerRevision {
	obj, err := c.Client("user").Create(t.Context(), &appsv1.ControllerRevision{Revision: number,
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{hashLabel: hash}},
		Data:       runtime.RawExtension{Raw: []byte(`{}`)}})
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*appsv1.ControllerRevision)
}

// Of several revisions of a template the newest is kept. A failed deletion of another revision is reported.
func TestUnify(t *testing.T) {
	w, c := syncOf(t, Current)
	list := []*appsv1.ControllerRevision{revisionOf(t, c, "a", "a", 1), revisionOf(t, c, "b", "b", 2)}
	client := w.env.Client
	w.env.Client = refusing{client}
	if _, err := w.unify(t.Context(), list); err == nil {
		t.Error("no error, although a revision was not deleted")
	}
	w.env.Client = client
	if keep, err := w.unify(t.Context(), list); err != nil || keep.Name != "b" {
		t.Errorf("kept %v, error %v", keep, err)
	}
}

// An unused revision is deleted, even if there are pods without a hash.
func TestCleanUp(t *testing.T) {
	w, c := syncOf(t, Current)
	w.set.Spec.RevisionHistoryLimit = new(int32)
	w.old = []*appsv1.ControllerRevision{revisionOf(t, c, "a", "", 1), revisionOf(t, c, "b", "old", 2)}
	none := daemon("none", "n")
	delete(none.Labels, hashLabel)
	w.pods = []*corev1.Pod{none, daemon("old", "n")}
	if err := w.cleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	items, err := c.Client("user").List(t.Context(), history.Kind, "default", metav1.ListOptions{})
	if err != nil || len(items) != 1 || items[0].(*appsv1.ControllerRevision).Name != "b" {
		t.Errorf("left: %v, error %v", items, err)
	}
}

// A failed deletion in an update is reported.
func TestRollSaysWhatFails(t *testing.T) {
	for _, strategy := range []appsv1.DaemonSetUpdateStrategy{rolling("1", "0"), rolling("0", "1")} {
		w, _ := syncOf(t, Current)
		w.env.Client, w.set.Spec.UpdateStrategy = refusing{w.env.Client}, strategy
		w.nodes = []*corev1.Node{nodeNamed("n"), nodeNamed("m")}
		w.pods = []*corev1.Pod{daemon("a", "n", "ready"), daemon("b", "n", "ready", "new"), daemon("c", "m")}
		if strategy.RollingUpdate.MaxSurge.IntVal == 0 {
			w.pods = w.pods[2:]
		}
		if err := w.roll(t.Context()); err == nil {
			t.Errorf("%v: no error", strategy)
		}
	}
}

// A failed adoption of a revision is reported, because the templates of pods are unknown without the revision.
func TestConstructSaysWhatItCouldNotAdopt(t *testing.T) {
	w, c := syncOf(t, Current)
	w.revisions = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	history.Index(w.revisions)
	orphan := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "log-1",
		Labels: map[string]string{"app": "x"}}}
	_ = w.revisions.Add(orphan)
	w.encoded = history.Memo{}
	w.env.Client = refusing{c.Client("daemonset")}
	if err := w.construct(t.Context()); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("construct continues without the revision: %v", err)
	}
}
