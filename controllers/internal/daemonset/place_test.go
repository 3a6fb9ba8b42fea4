package daemonset

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// syncOf returns a reconcile of a set in its own cluster with empty caches.
func syncOf(t *testing.T, g Era) (*work, *host.Cluster) {
	world := sim.New(sim.Zero{})
	c := host.NewCluster(world, fakeapi.New(fakeapi.Options{}))
	namespaced := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	r := &reconciler{options: &Options{Era: g}, failures: failures{},
		env: &host.Env{Client: c.Client("daemonset"), Queue: waits{after: map[string]time.Duration{}},
			Now: world.Clock.Now},
		pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, namespaced), expected: expectations.New(world.Clock.Now)}
	pod.Index(r.pods)
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "log"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	set.Spec.Template.Labels = set.Spec.Selector.MatchLabels
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	obj, err := c.Client("user").Create(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	return &work{reconciler: r, key: "default/log", set: obj.(*appsv1.DaemonSet).DeepCopy(), hash: "new"}, c
}

// waits is a queue that records requeued keys.
type waits struct {
	workqueue.TypedRateLimitingInterface[string]
	after map[string]time.Duration
}

func (w waits) AddAfter(key string, d time.Duration) { w.after[key] = d }

// daemon returns a pod on a node, with the new or the previous template, ready or not.
func daemon(name, node string, like ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{
		"app": "x", hashLabel: "old"}}, Spec: corev1.PodSpec{NodeName: node}}
	for _, like := range like {
		switch like {
		case "new":
			p.Labels[hashLabel] = "new"
		case "ready":
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(sim.Epoch.Add(-time.Hour))}}
		case "going":
			p.DeletionTimestamp = &metav1.Time{Time: sim.Epoch}
		case "ended":
			p.Status.Phase = corev1.PodFailed
		case "waiting":
			p.Spec.NodeName = ""
			bindTo(&p.Spec, node)
		}
	}
	return p
}

func namesOf(pods []*corev1.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

// A pod that waits for a node counts for that node. The selector era ignores such a pod.
func TestByNode(t *testing.T) {
	pods := []*corev1.Pod{daemon("on", "n"), daemon("waits", "n", "waiting"), daemon("nowhere", ""),
		daemon("over", "n", "ended", "going"), daemon("ended", "n", "ended"), daemon("going", "n", "going")}
	for g, want := range map[Era][]string{Current: {"ended", "going", "on", "waits"},
		Selector: {"ended", "going", "on"}} {
		w, _ := syncOf(t, g)
		nodes := w.byNode(pods)
		if got := namesOf(nodes["n"]); !slices.Equal(got, want) || len(nodes) != 1 {
			t.Errorf("%s: %q, want %q, on %d nodes", g, got, want, len(nodes))
		}
	}
}

// The old pod stays beside a new one while the old one is ready and the new one is not available.
func TestOutlived(t *testing.T) {
	w, _ := syncOf(t, Current)
	for _, c := range []struct {
		name string
		pods []*corev1.Pod
		want []string
	}{
		{"one", []*corev1.Pod{daemon("a", "n")}, nil},
		{"the new one is not ready", []*corev1.Pod{daemon("a", "n", "ready"), daemon("b", "n", "new")}, nil},
		{"the new one is", []*corev1.Pod{daemon("a", "n", "ready"), daemon("b", "n", "new", "ready")}, []string{"a"}},
		{"neither is", []*corev1.Pod{daemon("a", "n"), daemon("b", "n", "new")}, []string{"a"}},
		{"two old ones", []*corev1.Pod{daemon("a", "n"), daemon("b", "n")}, []string{"b"}},
		{"two of each", []*corev1.Pod{daemon("a", "n", "ready"), daemon("b", "n"), daemon("c", "n", "new"),
			daemon("d", "n", "new")}, []string{"b", "d"}},
	} {
		if got := namesOf(w.outlived(c.pods)); !slices.Equal(got, c.want) {
			t.Errorf("%s: outlived %q, want %q", c.name, got, c.want)
		}
	}
}

// A failed pod is replaced at once, then after doubling delays up to 15 minutes. Half an hour resets the delay.
func TestMayReplace(t *testing.T) {
	w, _ := syncOf(t, Current)
	now := sim.Epoch
	w.env.Now = func() time.Time { return now }
	for i, c := range []struct {
		after time.Duration
		want  bool
		wait  time.Duration // the time from now until the next try
	}{
		{0, true, time.Second}, {999 * time.Millisecond, false, time.Second}, {time.Millisecond, true, 2 * time.Second},
		{2 * time.Second, true, 4 * time.Second}, {30 * time.Minute, true, 8 * time.Second},
		{30*time.Minute + 1, true, time.Second},
	} {
		now = now.Add(c.after)
		clear(w.env.Queue.(waits).after)
		if got := w.mayReplace("n"); got != c.want {
			t.Errorf("%d: may be replaced: %v", i, got)
		}
		if after := w.env.Queue.(waits).after[w.key]; !c.want && after != c.wait {
			t.Errorf("%d: requeued after %v, want %v", i, after, c.wait)
		}
		for _, f := range w.failures {
			if f.delay != c.wait {
				t.Errorf("%d: the next delay is %v, want %v", i, f.delay, c.wait)
			}
		}
	}
	if w.mayReplace("n"); !w.mayReplace("m") {
		t.Error("the backoff of one node delays another")
	}
}

// A reconcile creates at most 250 pods.
func TestBurst(t *testing.T) {
	w, c := syncOf(t, Current)
	nodes := make([]string, burst+3)
	for i := range nodes {
		nodes[i] = "n"
	}
	if err := w.scale(t.Context(), nodes, nil); err != nil {
		t.Fatal(err)
	}
	items, err := c.Client("user").List(t.Context(), pod.Kind, "default", metav1.ListOptions{})
	if err != nil || len(items) != burst {
		t.Fatalf("%d pods were created: %v", len(items), err)
	}
}

// Labels of a pod identify its template. If there is a template number, it decides.
func TestNewPod(t *testing.T) {
	for _, c := range []struct {
		number, want string
		era          Era
	}{{"7", "7", Current}, {"x", "", Current}, {"", "", ControllerRef}, {"7", "7", ControllerRef}, {"7", "",
		Selector}} {
		w, _ := syncOf(t, c.era)
		w.set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: c.number}
		w.set.Spec.Template.Labels = nil
		p := w.newPod("n")
		if got, has := p.Labels[generationLabel]; got != c.want || has != (c.want != "") {
			t.Errorf("%s, number %q: labels %v", c.era, c.number, p.Labels)
		}
		if (p.Labels[hashLabel] == "new") != (c.era == Current) {
			t.Errorf("%s: labels %v", c.era, p.Labels)
		}
	}
	w, _ := syncOf(t, Current)
	w.set.Annotations = nil
	p, unlabelled := daemon("p", "n"), daemon("q", "n", "new")
	delete(p.Labels, hashLabel)
	if w.updated(p) || !w.updated(unlabelled) {
		t.Error("updated is wrong if the template has no number")
	}
	w.set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "7"}
	if p.Labels[generationLabel] = "7"; !w.updated(p) {
		t.Error("a pod with the template's number does not count as updated")
	}
}

// Two versions of a node are the same for every set if their labels and taints are equal.
func TestAlike(t *testing.T) {
	node := func(change func(t *corev1.Taint)) *corev1.Node {
		n := &corev1.Node{}
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute,
			TimeAdded: &metav1.Time{Time: sim.Epoch}}}
		change(&n.Spec.Taints[0])
		return n
	}
	same := func(*corev1.Taint) {}
	if !alike(node(same), node(same)) {
		t.Error("alike is false for equal nodes")
	}
	for name, change := range map[string]func(t *corev1.Taint){
		"key": func(t *corev1.Taint) { t.Key = "l" }, "value": func(t *corev1.Taint) { t.Value = "w" },
		"effect": func(t *corev1.Taint) { t.Effect = corev1.TaintEffectNoSchedule },
		"time":   func(t *corev1.Taint) { t.TimeAdded = nil },
	} {
		if alike(node(same), node(change)) {
			t.Errorf("alike is true although the %s of a taint differs", name)
		}
	}
	labelled := node(same)
	if labelled.Labels = map[string]string{"a": "b"}; alike(node(same), labelled) {
		t.Error("alike is true although the labels differ")
	}
}

// A set that uses ControllerRef does not wait for the deletion of a pod that it no longer owns. In a selector era, the
// set keeps all its pods and waits.
func TestAwake(t *testing.T) {
	for g, awake := range map[Era]bool{Current: true, ControllerRef: true, Gated: false, Selector: false} {
		w, _ := syncOf(t, g)
		if err := w.reconciler.pods.Add(daemon("p", "n")); err != nil {
			t.Fatal(err)
		}
		w.expected.ExpectDeletions(w.key, w.set.UID, []string{"default/p"})
		if got := w.awake(); got != awake {
			t.Errorf("%s: awake: %v", g, got)
		}
	}
}
