package pod_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim"
)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(sim.Epoch.Add(-d)) }

// a returns a pod on a node, created this long ago.
func a(name, node string, phase corev1.PodPhase, age time.Duration, with ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: ago(age)},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase},
	}
	for _, f := range with {
		f(p)
	}
	return p
}

func readyFor(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions,
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(d)})
	}
}

func restarted(n int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: n}} }
}

func sidecarRestarted(n int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		never := corev1.ContainerRestartPolicyNever
		p.Spec.InitContainers = []corev1.Container{{Name: "once"}, {Name: "never", RestartPolicy: &never},
			{Name: "side", RestartPolicy: &always}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "once", RestartCount: 50 - n},
			{Name: "never", RestartCount: 50 - n}, {Name: "side", RestartCount: n}}
	}
}

func TestBefore(t *testing.T) {
	ranked := []*corev1.Pod{ // the first is deleted first
		a("z", "", corev1.PodPending, 0),
		a("a", "n", corev1.PodPending, 0),
		a("b", "n", corev1.PodUnknown, time.Hour),
		a("c", "n", corev1.PodRunning, time.Hour),
		a("d", "n", corev1.PodRunning, time.Hour, readyFor(time.Minute)),
		a("e", "n", corev1.PodRunning, time.Minute, readyFor(time.Hour), restarted(2)),
		a("f", "n", corev1.PodRunning, time.Hour, readyFor(time.Hour), restarted(1), sidecarRestarted(3)),
		a("g", "n", corev1.PodRunning, time.Minute, readyFor(time.Hour), restarted(1), sidecarRestarted(2)),
		a("h", "n", corev1.PodRunning, time.Hour, readyFor(time.Hour), restarted(1), sidecarRestarted(2)),
	}
	last := ranked[len(ranked)-1]
	equal := a("a", "n", corev1.PodRunning, time.Hour, readyFor(time.Hour), restarted(1), sidecarRestarted(2))
	if pod.Before(equal, last) != 0 || pod.Before(last, equal) != 0 {
		t.Error("two equal pods have an order")
	}
	for rotation := range ranked {
		got := append(slices.Clone(ranked[rotation:]), ranked[:rotation]...)
		slices.SortFunc(got, pod.Before)
		for i, p := range got {
			if p != ranked[i] {
				t.Errorf("rotated by %d: %s is number %d", rotation, p.Name, i)
			}
		}
	}
}

func TestAvailable(t *testing.T) {
	young := a("young", "n", corev1.PodRunning, time.Hour, readyFor(4*time.Second))
	old := a("old", "n", corev1.PodRunning, time.Hour, readyFor(10*time.Second))
	never := a("never", "n", corev1.PodRunning, time.Hour)
	unsaid := a("unsaid", "n", corev1.PodRunning, time.Hour, readyFor(0))
	unsaid.Status.Conditions[0].LastTransitionTime = metav1.Time{}
	for _, c := range []struct {
		pod     *corev1.Pod
		seconds int32
		want    bool
	}{
		{young, 10, false}, {young, 4, true}, {young, 0, true}, {old, 10, true}, {never, 0, false},
		{unsaid, 0, true}, {unsaid, 1, false},
	} {
		if got := pod.Available(c.pod, c.seconds, sim.Epoch); got != c.want {
			t.Errorf("%s, %d s: available %v", c.pod.Name, c.seconds, got)
		}
	}
	all := []*corev1.Pod{never, old, unsaid, young}
	if got := pod.NextAvailable(all, 15, sim.Epoch); got != 5*time.Second {
		t.Errorf("the next is available in %v, want 5s", got)
	}
	ahead := a("ahead", "n", corev1.PodRunning, time.Hour, readyFor(-time.Second)) // the clock of its node is ahead
	if got := pod.NextAvailable([]*corev1.Pod{ahead}, 0, sim.Epoch); got != 0 {
		t.Errorf("with no minimum time, the next pod is available in %v", got)
	}
	if got := pod.NextAvailable(all, 3, sim.Epoch); got != 0 {
		t.Errorf("no pod becomes available later, but the next one is available in %v", got)
	}
}

// A pod shares no memory with its template: a change of the pod does not change the template.
func TestFromTemplate(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}, Finalizers: []string{"a/b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}
	before := template.DeepCopy()
	owner := &metav1.ObjectMeta{Name: "web", Namespace: "ns", UID: "u"}
	p := pod.FromTemplate(template, owner, &metav1.OwnerReference{UID: "u"})
	if p.GenerateName != "web-" || p.Namespace != "ns" || len(p.OwnerReferences) != 1 || p.Labels["app"] != "x" {
		t.Errorf("created %+v", p.ObjectMeta)
	}
	p.Labels["app"], p.Finalizers[0], p.Spec.Containers[0].Name = "y", "c/d", "e"
	if template.Labels["app"] != before.Labels["app"] || template.Finalizers[0] != before.Finalizers[0] ||
		template.Spec.Containers[0].Name != before.Spec.Containers[0].Name {
		t.Errorf("the template was changed to %+v", template)
	}
}

// Labelled leaves out no pod that has all wanted labels, and finds no pod of another namespace.
func TestLabelled(t *testing.T) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	pod.IndexLabels(pods)
	pod.IndexLabels(pods) // again, as another controller of the process does
	for i := range 8 {
		p := &corev1.Pod{}
		p.Namespace, p.Name, p.Labels = "a", fmt.Sprint(i), map[string]string{}
		for k, label := range []string{"app", "tier", "zone"} {
			if i>>k&1 == 1 {
				p.Labels[label] = "x"
			}
		}
		other := p.DeepCopy()
		other.Namespace = "b"
		for _, p := range []*corev1.Pod{p, other} {
			if err := pods.Add(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, names := range map[*map[string]string][]string{
		{}:                                      {"0", "1", "2", "3", "4", "5", "6", "7"},
		{"app": "x"}:                            {"1", "3", "5", "7"},
		{"tier": "x", "app": "x"}:               {"1", "3", "5", "7"}, // by the label app alone
		{"zone": "x", "tier": "x"}:              {"2", "3", "6", "7"},
		{"app": "y"}:                            nil,
		{"zone": "x", "tier": "x", "app": "no"}: nil,
	} {
		var got []string
		for _, p := range pod.Labelled(pods, "a", *want) {
			if p.Namespace != "a" {
				t.Errorf("%v: found in namespace %s", *want, p.Namespace)
			}
			got = append(got, p.Name)
		}
		if slices.Sort(got); !slices.Equal(got, names) {
			t.Errorf("%v: %v, want %v", *want, got, names)
		}
	}
}
