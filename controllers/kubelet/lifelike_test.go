package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var update = flag.Bool("update", false, "rewrite testdata/lifelike.txt")

// pods have sidecars, addresses, missing nodes, different results, and earlier conditions.
var pods = []string{`
metadata: {name: plain, generation: 7}
spec:
  nodeName: n1
  initContainers: [{name: first, image: "init:1"}, {name: beside, image: "side:1", restartPolicy: Always}]
  containers: [{name: c, image: "img:1"}, {name: d, image: "img:2"}]
`, `
metadata: {name: of-the-host}
spec: {nodeName: n2, hostNetwork: true, containers: [{name: c, image: "img:1"}]}
`, `
metadata: {name: ends}
spec: {nodeName: n9, restartPolicy: OnFailure, containers: [{name: c, image: "img:1"}, {name: d, image: "img:2"}]}
`, `
metadata: {name: fails, annotations: {threelaws.example/exit-code: "3"}}
spec: {nodeName: n1, restartPolicy: Never, containers: [{name: c, image: "img:1"}]}
`, `
metadata: {name: again, annotations: {threelaws.example/exit-code: "3"}}
spec: {nodeName: n1, restartPolicy: OnFailure, containers: [{name: c, image: "img:1"}]}
`, `
metadata: {name: nowhere}
spec: {containers: [{name: c, image: "img:1"}]}
`, `
metadata: {name: known}
spec: {nodeName: n1, containers: [{name: c, image: "img:1"}]}
status:
  phase: Pending
  podIP: 10.244.0.3
  podIPs: [{ip: 10.244.0.3}]
  conditions:
  - {type: PodScheduled, status: "True", lastTransitionTime: "2017-02-01T00:00:00Z"}
  - {type: Initialized, status: "False", lastTransitionTime: "2017-02-01T00:00:00Z"}
  - {type: Ready, status: "True", lastTransitionTime: null}
`}

// TestLifelike compares all writes of a lifelike kubelet, until its Events expire, with golden text.
func TestLifelike(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	ask := func(kind, name string, r fakeapi.Request) {
		t.Helper()
		if r.Kind, r.Name = w.Server.KindNamed(kind), name; r.Kind.Namespaced {
			r.Namespace = "default"
		}
		if resp := w.Cluster.As("user", &r); resp.Err != nil {
			t.Fatal(resp.Err)
		}
	}
	node := NewNode("n1", w.World.Clock.Now())
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "n1"},
		{Type: corev1.NodeInternalIP, Address: "10.0.0.9"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.10"}}
	ask("node", "n1", fakeapi.Request{Verb: fakeapi.Create, Object: node})
	ask("node", "n1", fakeapi.Request{Verb: fakeapi.Update, Subresource: "status", Object: node})
	ask("node", "n2", fakeapi.Request{Verb: fakeapi.Create, Object: NewNode("n2", w.World.Clock.Now())})
	w.World.Clock.Advance(1500 * time.Millisecond)
	for _, text := range pods {
		p := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte(text), p); err != nil {
			t.Fatal(err)
		}
		status := p.Status
		ask("pod", p.Name, fakeapi.Request{Verb: fakeapi.Create, Object: p})
		if status.Phase != "" {
			raw, err := json.Marshal(map[string]any{"status": status})
			if err != nil {
				t.Fatal(err)
			}
			ask("pod", p.Name, fakeapi.Request{Verb: fakeapi.Patch, Subresource: "status",
				PatchType: types.MergePatchType, Patch: raw})
		}
	}
	w.Start("kubelet", New(Options{Lifelike: true}))
	w.Settle(trial.Limits{For: 10 * time.Second})
	for _, name := range []string{"plain", "ends", "nowhere"} {
		ask("pod", name, fakeapi.Request{Verb: fakeapi.Delete})
		w.Settle(trial.Limits{For: 10 * time.Second})
	}
	w.World.Clock.Advance(2 * time.Hour)
	ask("pod", "of-the-host", fakeapi.Request{Verb: fakeapi.Delete})
	w.Settle(trial.Limits{For: time.Minute})

	var got strings.Builder
	fmt.Fprintf(&got, "a node\n%s\n", encoded(t, NewNode("n", w.World.Clock.Now())))
	for i := range w.World.History.Len() {
		r := w.World.History.At(i)
		if r.Op != sim.Commit || r.Process != "kubelet" {
			continue
		}
		fmt.Fprintf(&got, "%v %s %s %s\n", r.At, r.Verb, r.Subresource, r.Object)
		switch obj := r.After.(type) {
		case *corev1.Pod:
			fmt.Fprintf(&got, "%s\n", encoded(t, obj.Status))
		case *corev1.Event:
			fmt.Fprintf(&got, "%s\n", encoded(t, obj))
		}
	}
	const golden = "testdata/lifelike.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
		t.Errorf("the writes differ from the golden text (-want +got):\n%s", d)
	}
}

func encoded(t *testing.T, obj any) string {
	raw, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(string(raw)), "\n", "\n  ")
}

// broken is a server that refuses requests. It records deletions.
type broken struct {
	host.Client
	err     error
	deleted types.UID
}

func (b *broken) Get(context.Context, schema.GroupVersionKind, string, string) (runtime.Object, error) {
	return nil, b.err
}

func (b *broken) Patch(context.Context, schema.GroupVersionKind, string, string, host.Patch) (runtime.Object, error) {
	return nil, b.err
}

func (b *broken) Delete(_ context.Context, _ schema.GroupVersionKind, _, _ string, o metav1.DeleteOptions) error {
	b.deleted = *o.Preconditions.UID
	return b.err
}

// A refused request is retried, unless the pod is gone or was recreated. A deletion carries the uid.
func TestRefused(t *testing.T) {
	one := int64(1)
	pod := func(phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u"},
			Status: corev1.PodStatus{Phase: phase},
			Spec: corev1.PodSpec{NodeName: "n", RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "c"}}}}
	}
	going := pod(corev1.PodSucceeded)
	going.DeletionTimestamp, going.DeletionGracePeriodSeconds = &metav1.Time{}, &one
	for _, c := range []struct {
		err   error
		again bool
	}{
		{apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "p"), false},
		{apierrors.NewInvalid(podKind.GroupKind(), "p", nil), false},
		{apierrors.NewInternalError(errors.New("no")), true},
	} {
		for _, p := range []*corev1.Pod{pod(corev1.PodPending), pod(corev1.PodRunning), going} {
			for _, lifelike := range []bool{false, true} {
				server, cached := &broken{err: c.err}, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
				indexAddresses(cached)
				if err := cached.Add(p); err != nil {
					t.Fatal(err)
				}
				k := &kubelet{options: &Options{Lifelike: lifelike}, pods: cached,
					env: &host.Env{Client: server, Now: func() time.Time { return time.Unix(1000, 0) }}}
				if err := k.Sync(t.Context(), "ns/p"); (err != nil) != c.again {
					t.Errorf("%s, lifelike %t, response %v: %v", p.Status.Phase, lifelike, c.err, err)
				}
				if p == going && server.deleted != "u" {
					t.Errorf("the deletion of %q is completed", server.deleted)
				}
			}
		}
	}
	k := &kubelet{env: &host.Env{Now: time.Now}}
	if err := k.end(t.Context(), pod(corev1.PodRunning), []byte("{")); err == nil {
		t.Error("no error for a status that cannot be decoded")
	}
}

func TestEras(t *testing.T) {
	for want, o := range map[string]Options{"": {}, "lifelike": {Lifelike: true, Bind: "n"},
		"binding": {Bind: "n", Endless: true}, "endless": {Endless: true}} {
		if got := New(o).Era; got != want {
			t.Errorf("era %q, want %q", got, want)
		}
	}
}

// events is a server that accepts Events. It records deletions.
type events struct {
	host.Client
	refuses bool
	deleted []string
}

func (e *events) Create(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	if e.refuses {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", nil)
	}
	return obj, nil
}

func (e *events) Delete(_ context.Context, _ schema.GroupVersionKind, namespace, name string,
	_ metav1.DeleteOptions) error {
	e.deleted = append(e.deleted, namespace+"/"+name)
	return nil
}

// Events older than an hour are deleted, and so are the oldest ones beyond the limit. A refused Event does not count.
func TestEventsGo(t *testing.T) {
	now := time.Unix(100_000, 0)
	told := func(n int, age time.Duration) (list []written) {
		for i := range n {
			list = append(list, written{"ns", fmt.Sprint(i), now.Add(-age)})
		}
		return list
	}
	for name, c := range map[string]struct {
		before  []written
		refuses bool
		want    string
		left    int
	}{
		"as many as there may be": {told(eventsMost-1, 0), false, "[]", eventsMost},
		"one too many":            {told(eventsMost, 0), false, "[ns/0]", eventsMost},
		"as many, and refused":    {told(eventsMost, 0), true, "[]", eventsMost},
		"an hour old":             {told(2, eventsFor), false, "[]", 3},
		"older":                   {told(2, eventsFor+1), false, "[ns/0 ns/1]", 1},
		"older, and refused":      {told(2, eventsFor+1), true, "[ns/0 ns/1]", 0},
	} {
		server := &events{refuses: c.refuses}
		k := &kubelet{env: &host.Env{Client: server, Now: func() time.Time { return now }}}
		k.lifelike.events = c.before
		k.tell(t.Context(), &corev1.Pod{}, "", "Why", "because")
		if got := fmt.Sprint(server.deleted); got != c.want || len(k.lifelike.events) != c.left {
			t.Errorf("%s: deleted %s, %d left", name, got, len(k.lifelike.events))
		}
	}
}

// Free addresses are assigned in order. After the last address, the first free one is next.
func TestAddresses(t *testing.T) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	indexAddresses(pods)
	for name, p := range map[string]corev1.Pod{
		"a": {Status: corev1.PodStatus{PodIP: "10.244.0.3"}},
		"b": {Status: corev1.PodStatus{PodIP: "10.244.0.4"}, Spec: corev1.PodSpec{HostNetwork: true}},
		"c": {},
	} {
		p.Name = name
		if err := pods.Add(&p); err != nil {
			t.Fatal(err)
		}
	}
	k := &kubelet{pods: pods}
	for _, want := range []string{"10.244.0.2", "10.244.0.4", "10.244.0.5"} {
		if got := k.address(&corev1.Pod{}); got != want {
			t.Errorf("address %s, want %s", got, want)
		}
	}
	k.lifelike.last = netip.MustParseAddr("10.247.255.255") // the last of 10.244.0.0/14
	if got := k.address(&corev1.Pod{}); got != "10.244.0.2" {
		t.Errorf("after the last address: %s", got)
	}
	if got := k.address(&corev1.Pod{Status: corev1.PodStatus{PodIP: "10.9.9.9"}}); got != "10.9.9.9" {
		t.Errorf("a pod with an address gets %s", got)
	}
}
