package replicas

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// patchesNone is a client whose patches fail.
type patchesNone struct{ host.Client }

func (patchesNone) Patch(context.Context, schema.GroupVersionKind, string, string, host.Patch) (runtime.Object, error) {
	return nil, errors.New("out of order")
}

// In the gated era a terminating set releases pods, and a failed adoption is no error.
func TestClaimGated(t *testing.T) {
	kind := &Traits{Name: "replicaset", GVK: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")}
	for _, c := range []struct {
		name     string
		deleting bool
		refused  bool
		own      []string
		left     string // the owners of matching, orphan, other
	}{
		{"goes on", false, false, []string{"matching", "orphan"}, "me,me,"},
		{"is being deleted", true, false, []string{"matching"}, "me,,"},
		{"nothing is granted", false, true, []string{"matching"}, "me,,me"},
	} {
		user := host.NewCluster(sim.New(sim.Zero{}), fakeapi.New(fakeapi.Options{})).Client("user")
		meta := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "me"}
		if c.deleting {
			meta.DeletionTimestamp = &metav1.Time{Time: sim.Epoch}
		}
		set := &Set{ObjectMeta: &meta}
		set.Select(map[string]string{"app": "x"})
		r := &reconciler{kind: kind, options: &Options{Era: Gated, GarbageCollector: true}, client: user,
			pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc,
				cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		for _, name := range []string{"matching", "orphan", "other", "ended"} {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
				Labels: map[string]string{"app": "x"}}}
			p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
			if name != "orphan" {
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&meta, kind.GVK)}
			}
			if name == "other" {
				p.Labels["app"] = "y"
			}
			obj, err := user.Create(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			p = obj.(*corev1.Pod).DeepCopy()
			if name == "ended" {
				p.Status.Phase = corev1.PodFailed
			}
			if err := r.pods.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if c.refused {
			r.client = patchesNone{user}
		}
		own, err := r.own(t.Context(), set)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
		var names []string
		for _, p := range own {
			names = append(names, p.Name)
		}
		owners := ""
		for _, name := range []string{"matching", "orphan", "other"} {
			obj, err := user.Get(t.Context(), pod.Kind, "default", name)
			if err != nil {
				t.Fatal(err)
			}
			if ref := metav1.GetControllerOfNoCopy(obj.(*corev1.Pod)); ref != nil {
				owners += string(ref.UID)
			}
			if name != "other" {
				owners += ","
			}
		}
		if slices.Sort(names); !slices.Equal(names, c.own) || owners != c.left {
			t.Errorf("%s: own pods %q, owners %q; want %q, %q", c.name, names, owners, c.own, c.left)
		}
	}
}

// A pod without a controller in the cache may have been adopted: the cache may not show the adoption yet.
func TestSight(t *testing.T) {
	set := &Set{ObjectMeta: &metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "me"}}
	r := &reconciler{options: &Options{Era: Current},
		pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for name, c := range map[string]struct {
		owner string
		going bool
		want  expectations.Sight
	}{
		"own": {"me", false, expectations.Owned}, "own, and goes": {"me", true, expectations.Moot},
		"another's": {"other", false, expectations.Moot}, "nobody's": {"", false, expectations.Lost},
		"nobody's, and goes": {"", true, expectations.Lost},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if c.owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
				&metav1.ObjectMeta{Name: "web", UID: types.UID(c.owner)}, pod.Kind)}
		}
		if c.going {
			p.DeletionTimestamp = &metav1.Time{Time: sim.Epoch}
		}
		if err := r.pods.Add(p); err != nil {
			t.Fatal(err)
		}
		if got := r.sight("default/"+name, set); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := r.sight("default/gone", set); got != expectations.Moot {
		t.Errorf("missing pod: %d", got)
	}
}

func clock() time.Time { return sim.Epoch }

// A reconcile may record expectations after the deletion event of its set has dropped them. The next reconcile finds no
// set and drops the record again. Otherwise, before ControllerRef, a recreated set would wait for it.
func TestWhatIsGoneExpectsNothing(t *testing.T) {
	r := &reconciler{options: &Options{}, expected: expectations.New(clock),
		sets: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	r.expected.ExpectCreations("default/web", "", 1)
	if err := r.Sync(t.Context(), "default/web"); err != nil {
		t.Fatal(err)
	}
	if w := r.Waiting(); len(w) > 0 {
		t.Errorf("waiting: %v", w)
	}
}

// A creation that was refused because the namespace is terminating has no name. So the first pod that is seen fulfils
// it, even a pod that an earlier process created.
func TestWhatWasNotMadeHasNoName(t *testing.T) {
	r := &reconciler{options: &Options{Era: Current}, expected: expectations.New(clock)}
	r.expected.ExpectCreations("default/web", "uid", 1)
	r.made("default/web", "")
	r.expected.Seen("default/web", "default/web-1")
	r.expected.Answered("default/web")
	if !r.expected.Satisfied("default/web", "uid") {
		t.Errorf("waiting: %v", r.expected.Waiting())
	}
}
