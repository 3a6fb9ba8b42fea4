package endpointslice

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// server has slices by name. It records deletions with uids.
type server struct {
	host.Client
	slices  map[string]*discoveryv1.EndpointSlice
	fails   error
	deleted []string
}

func (s *server) Get(_ context.Context, _ schema.GroupVersionKind, _, name string) (runtime.Object, error) {
	if found := s.slices[name]; found != nil {
		return found, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "endpointslices"}, name)
}

func (s *server) Delete(_ context.Context, _ schema.GroupVersionKind, _, name string, o metav1.DeleteOptions) error {
	s.deleted = append(s.deleted, fmt.Sprintf("%s %v", name, *o.Preconditions.UID))
	return s.fails
}

// queue records enqueued keys.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]
	keys []string
}

func (q *queue) Add(key string) { q.keys = append(q.keys, key) }

func (q *queue) AddAfter(key string, _ time.Duration) { q.keys = append(q.keys, "later "+key) }

func reconcilerOf(s *server) (*reconciler, *queue) {
	q := &queue{}
	return &reconciler{env: &host.Env{Client: s, Queue: q}, without: &Without{}, written: tracker{}, told: triggers{},
		waiting: map[string]bool{}}, q
}

// slice returns a slice of the Service ns/s; its uid is its name.
func slice(name string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name),
		Generation: 1,
		Labels:     map[string]string{discoveryv1.LabelServiceName: "s", discoveryv1.LabelManagedBy: manager}},
		AddressType: discoveryv1.AddressTypeIPv6}
}

func service() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s", UID: "s"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "x"},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}}}
}

// Slices of an address family that a Service no longer has are deleted by uid. A failed deletion is retried.
func TestFamilyIsGone(t *testing.T) {
	for _, fails := range []error{nil, errors.New("no")} {
		s := &server{fails: fails}
		r, _ := reconcilerOf(s)
		svc := service()
		svc.Spec.IPFamilies = nil
		err := r.reconcile(t.Context(), svc, nil, []*discoveryv1.EndpointSlice{slice("six")}, time.Time{})
		if fmt.Sprint(s.deleted) != "[six six]" || (err != nil) != (fails != nil) {
			t.Errorf("deleted %s, error %v", s.deleted, err)
		}
		if known := r.written["ns/s"]["six"].generation == deleted; known != (fails == nil) {
			t.Errorf("the deletion was recorded: %t", known)
		}
	}
}

// A Service owns a slice if the reference has its uid, kind and version.
func TestOwnedBy(t *testing.T) {
	for want, r := range map[string]metav1.OwnerReference{
		"its own":       {UID: "s", Kind: "Service", APIVersion: "v1"},
		"another kind":  {UID: "s", Kind: "Pod", APIVersion: "v1"},
		"another group": {UID: "s", Kind: "Service", APIVersion: "example.com/v1"},
		"another":       {UID: "t", Kind: "Service", APIVersion: "v1"},
	} {
		s := slice("a")
		s.OwnerReferences = []metav1.OwnerReference{r}
		if got := ownedBy(s, service()); got != (want == "its own") {
			t.Errorf("%s: %t", want, got)
		}
	}
}

// A Pod is listed if either address field is set. A Pod moves if its labels, hostname or subdomain change.
func TestListedAndMoves(t *testing.T) {
	for name, c := range map[string]struct {
		status corev1.PodStatus
		want   bool
	}{
		"none": {corev1.PodStatus{}, false},
		"one":  {corev1.PodStatus{PodIP: "1.2.3.4"}, true},
		"more": {corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: "1.2.3.4"}}}, true},
	} {
		if got := listed(&corev1.Pod{Status: c.status}); got != c.want {
			t.Errorf("with addresses: %s: %t", name, got)
		}
	}
	for name, c := range map[string]struct {
		cur  corev1.Pod
		want bool
	}{
		"the same":  {corev1.Pod{}, false},
		"labels":    {corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}, true},
		"hostname":  {corev1.Pod{Spec: corev1.PodSpec{Hostname: "h"}}, true},
		"subdomain": {corev1.Pod{Spec: corev1.PodSpec{Subdomain: "d"}}, true},
	} {
		if got := moves(&corev1.Pod{}, &c.cur); got != c.want {
			t.Errorf("changed %s: moves is %t", name, got)
		}
	}
}

// A new slice can be filled completely. An empty slice with ports differs from the slice of a Service without
// endpoints.
func TestOwnSlices(t *testing.T) {
	if roomFor([]*discoveryv1.EndpointSlice{{}}, capacity) != nil {
		t.Error("a slice has room for a full slice")
	}
	if roomFor([]*discoveryv1.EndpointSlice{{}}, capacity-1) == nil {
		t.Error("there is no room in an empty slice")
	}
	port := int32(80)
	withPort := slice("a")
	withPort.Ports = []discoveryv1.EndpointPort{{Port: &port}}
	for _, c := range []struct {
		slice  *discoveryv1.EndpointSlice
		writes int
	}{{slice("a"), 0}, {withPort, 1}} {
		p := plan{remove: []*discoveryv1.EndpointSlice{c.slice}}
		empty := slice("new")
		if p.keepOne(empty); len(p.create) != c.writes || len(p.remove) != c.writes {
			t.Errorf("with ports %v: created %d, removed %d", c.slice.Ports, len(p.create), len(p.remove))
		}
	}
	host := "h"
	if identity(&discoveryv1.Endpoint{Hostname: &host}) == identity(&discoveryv1.Endpoint{}) {
		t.Error("identity ignores the hostname")
	}
}

// The cache is behind while it shows a deleted slice. For a slice that the cache lacks, a read from the server decides
// by uid.
func TestBehind(t *testing.T) {
	s := &server{slices: map[string]*discoveryv1.EndpointSlice{"a": slice("a")}}
	r, _ := reconcilerOf(s)
	behind := func(have ...*discoveryv1.EndpointSlice) bool {
		t.Helper()
		stale, err := r.behind(t.Context(), "ns/s", "ns", have)
		if err != nil {
			t.Error(err)
		}
		return stale
	}
	r.written.set(slice("a"), 1)
	if behind(slice("a")) || !behind() {
		t.Error("behind is wrong about a slice that the cache lacks")
	}
	s.slices["a"].UID = "another"
	if behind() || len(r.written["ns/s"]) > 0 {
		t.Error("behind waits for a recreated slice")
	}
	r.written.set(slice("a"), deleted)
	if !behind(slice("a")) || behind() {
		t.Error("behind is wrong about a deleted slice that the cache shows")
	}
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprint("s", i))
		r.written.set(slice(names[i]), 1)
	}
	if got := r.written.missing("ns/s", nil); fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("missing: %s", got)
	}
}

// A Service that waits for a slice continues when that slice is gone.
func TestGoneIsShownToo(t *testing.T) {
	r, q := reconcilerOf(&server{})
	r.written.set(slice("a"), deleted)
	r.waiting["ns/s"] = true
	r.sliceGone(slice("a"))
	if got := strings.Join(q.keys, ", "); got != "ns/s" || len(r.waiting) > 0 {
		t.Errorf("enqueued %s", got)
	}
}

// A recreated Service counts as a change.
func TestTriggerOfAnotherService(t *testing.T) {
	first, second := time.Unix(1000, 0), time.Unix(2000, 0)
	svc, told := service(), triggers{}
	for i, c := range []struct{ made, want time.Time }{{first, first}, {first, time.Time{}}, {second, second}} {
		svc.CreationTimestamp = metav1.NewTime(c.made)
		if got := told.trigger("ns/s", svc, nil); !got.Equal(c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

// view has objects of each kind, in order.
type view struct {
	host.View
	all map[schema.GroupVersionKind][]runtime.Object
}

func (v view) Each(kind schema.GroupVersionKind, _ string, f func(runtime.Object) bool) {
	for _, obj := range v.all[kind] {
		if !f(obj) {
			return
		}
	}
}

// A new node enqueues all Services whose Pods were left out because the node was unknown.
func TestNodeWakesAll(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{NodeName: "n"}}
	other := service()
	other.Name = "other"
	v := view{all: map[schema.GroupVersionKind][]runtime.Object{podKind: {pod}, serviceKind: {service(), other}}}
	var out host.Effect
	wakeForNode(v, host.Event{New: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}, &out)
	if got := fmt.Sprint(out.Keys); got != "[ns/s ns/other]" {
		t.Errorf("enqueued %s", got)
	}
}

var update = flag.Bool("update", false, "rewrite testdata/plans.txt")

// TestPlans plans full, nearly full and empty slices for endpoints that stay, leave and arrive. In every plan each
// endpoint is in one slice, no slice is too full, and endpoints that fit into one slice are in one slice. The golden
// text shows which slices are written.
func TestPlans(t *testing.T) {
	var got strings.Builder
	for seed := range uint64(150) {
		d := sim.NewSeed(seed)
		g, before := &group{wanted: map[string]discoveryv1.Endpoint{}}, ""
		want := func(n int) {
			e := endpoint(n)
			g.wanted[identity(&e)] = e
		}
		next := 0
		for i := range d.Pick(4, "") {
			s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s", i)}}
			if d.Pick(6, "") == 0 {
				s.Labels = map[string]string{"a": "b"}
			}
			gone := d.Pick(4, "")
			for range []int{0, 1, 40, 60, 60, 98, 99, 100}[d.Pick(8, "")] {
				if s.Endpoints = append(s.Endpoints, endpoint(next)); gone == 0 || d.Pick(30*gone, "") > 0 {
					want(next)
				}
				next++
			}
			before += fmt.Sprintf(" %d", len(s.Endpoints))
			g.slices = append(g.slices, s)
		}
		for range []int{0, 0, 1, 2, 40, 99, 100, 101, 140, 200}[d.Pick(10, "")] {
			want(next)
			next++
		}
		var p plan
		slices := append([]*discoveryv1.EndpointSlice(nil), g.slices...)
		g.plan(&p, &discoveryv1.EndpointSlice{})
		fmt.Fprintf(&got, "%d wanted, in%s: create%s, update%s, remove%s\n", len(g.wanted), before, told(p.create),
			told(p.update), told(p.remove))
		checkPlan(t, seed, g, &p, slices)
	}
	const golden = "testdata/plans.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if pinned, err := os.ReadFile(golden); err != nil || string(pinned) != got.String() {
		t.Errorf("the plans differ from %s (%v):\n%s", golden, err, got.String())
	}
}

func endpoint(n int) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.0.%d.%d", n/250, n%250)}}
}

// told formats slices by name and number of endpoints.
func told(list []*discoveryv1.EndpointSlice) (out string) {
	for _, s := range list {
		out += fmt.Sprintf(" %s(%d)", s.Name, len(s.Endpoints))
	}
	return out
}

func checkPlan(t *testing.T, seed uint64, g *group, p *plan, before []*discoveryv1.EndpointSlice) {
	after := map[string]*discoveryv1.EndpointSlice{}
	for _, s := range before {
		after[s.Name] = s
	}
	for _, s := range p.remove {
		delete(after, s.Name)
	}
	for _, s := range p.update {
		after[s.Name] = s
	}
	for i, s := range p.create {
		after[fmt.Sprint("new", i)] = s
	}
	in := map[string]int{}
	for name, s := range after {
		if len(s.Endpoints) > capacity {
			t.Errorf("seed %d: %d endpoints in %s", seed, len(s.Endpoints), name)
		}
		for i := range s.Endpoints {
			in[identity(&s.Endpoints[i])]++
		}
	}
	for id := range g.wanted {
		if in[id] != 1 {
			t.Errorf("seed %d: %s is in %d slices", seed, id, in[id])
		}
		delete(in, id)
	}
	if len(in) > 0 {
		t.Errorf("seed %d: %v are not wanted", seed, in)
	}
	if n := len(g.wanted); n <= capacity && n > 0 && len(after) != 1 {
		t.Errorf("seed %d: %d endpoints in %d slices", seed, n, len(after))
	}
}
