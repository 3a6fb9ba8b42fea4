package cli

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim"
)

// churn creates and deletes objects in a server with two controllers.
type churn struct {
	t testing.TB
	s *site
	n int // the number of calls of load
}

func newChurn(t testing.TB, history uint64) *churn {
	t.Helper()
	registry := builtin.Registry()
	chosen, what := registry.Choose([]string{"gc", "replicaset"})
	if what != "" {
		t.Fatal(what)
	}
	s, err := openSite(&serving{realtime: true, history: history}, chosen, registry.Laws,
		func(v verdict) { t.Errorf("%s is violated: %s", v.violation.Law.Name, v.violation.Text) })
	must(t, err)
	t.Cleanup(s.trial.Stop)
	return &churn{t: t, s: s}
}

// do executes a request and then lets the controllers work.
func (c *churn) do(req *fakeapi.Request) {
	c.s.handler.With(func(server *fakeapi.Server) {
		if resp := c.s.runner.Do(req); resp.Err != nil {
			c.t.Fatal(resp.Err)
		}
		for e := c.s.trial.World.Enabled(); len(e) > 0 && e[0].Class < sim.Timer; e = c.s.trial.World.Enabled() {
			c.s.trial.Take(e[0])
		}
	})
}

func (c *churn) kind(name string) (k *fakeapi.Kind) {
	c.s.handler.With(func(s *fakeapi.Server) { k = s.KindNamed(name) })
	return k
}

func (c *churn) create(pod *corev1.Pod) {
	c.n++
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	c.do(&fakeapi.Request{Verb: fakeapi.Create, Kind: c.kind("pod"), Namespace: "default", Object: pod,
		UserAgent: "kubectl"})
}

func (c *churn) delete(kind, name string, policy metav1.DeletionPropagation) {
	req := fakeapi.Request{Verb: fakeapi.Delete, Kind: c.kind(kind), Name: name, UserAgent: "kubectl",
		Delete: metav1.DeleteOptions{PropagationPolicy: &policy}}
	if req.Kind.Namespaced {
		req.Namespace = "default"
	}
	c.do(&req)
}

// load creates the objects of a YAML text after replacing ID by a new number.
func (c *churn) load(text string) (id string) {
	c.n++
	id = strconv.Itoa(c.n)
	if err := c.s.handler.Load([]byte(strings.ReplaceAll(text, "ID", id))); err != nil {
		c.t.Fatal(err)
	}
	return id
}

func (c *churn) pod() {
	name := "plain-" + strconv.Itoa(c.n)
	c.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
	c.delete("pod", name, metav1.DeletePropagationBackground)
}

// dangling creates a pod whose owner does not exist. The garbage collector deletes the pod.
func (c *churn) dangling() {
	name := "dangling-" + strconv.Itoa(c.n)
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(name)}
	c.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}}})
}

const setYAML = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-ID, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web-ID}}
  template: {metadata: {labels: {app: web-ID}}, spec: {containers: [{name: c, image: img}]}}
`

// set creates and deletes a ReplicaSet, with each propagation policy in turn.
func (c *churn) set() {
	id := c.load(setYAML)
	policies := []metav1.DeletionPropagation{"Background", "Foreground", "Orphan"}
	policy := policies[c.n%len(policies)]
	c.delete("replicaset", "web-"+id, policy)
	if policy == metav1.DeletePropagationOrphan {
		c.do(&fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: c.kind("pod"), Namespace: "default",
			UserAgent: "kubectl"})
	}
}

const definitionYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shirts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: shirts, kind: Shirt}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: example.com/v1
kind: Shirt
metadata: {name: shirt-ID, namespace: default}
`

func (c *churn) definition() {
	c.load(definitionYAML)
	c.delete("crd", "shirts.example.com", metav1.DeletePropagationBackground)
}

// turn creates and deletes 16 objects, and in some turns a CRD.
func (c *churn) turn(n int) {
	for range 10 {
		c.pod()
	}
	c.dangling()
	c.dangling()
	c.set()
	c.set()
	if n%4 == 0 {
		c.definition()
	}
}

func held() (objects, bytes uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // only the second one frees the objects in pools
	runtime.ReadMemStats(&m)
	return m.HeapObjects, m.HeapAlloc
}

// peak is the highest number of objects on the heap in some turns.
func (c *churn) peak(turns int) (most uint64) {
	for i := range turns {
		if c.turn(i); i%8 == 0 {
			n, _ := held()
			most = max(most, n)
		}
	}
	return most
}

// A server does not hold more memory after it has created and deleted five times as many objects.
func TestServeIsFlat(t *testing.T) {
	c := newChurn(t, 100)
	for range 500 { // as many absent owners as the garbage collector remembers
		c.dangling()
	}
	before := c.peak(60)
	for i := range 240 {
		c.turn(i)
	}
	after := c.peak(60)
	if after > before+before/10 {
		t.Errorf("%d objects on the heap have become %d", before, after)
	}
	if left := c.s.trial.Server.Len(c.kind("pod")); left > 0 {
		t.Errorf("%d pods are left", left)
	}
	t.Logf("%d objects, then %d, at revision %d", before, after, c.s.trial.Server.Version())
}

// A watch from a compacted revision, and the next page of a list from one, get the 410 of a real server.
func TestServeHistory(t *testing.T) {
	s := startServe(t, "--history", "10")
	for i := range 3 {
		s.post(t, configsPath, `{"metadata":{"name":"a`+strconv.Itoa(i)+`"}}`)
	}
	var list metav1.List
	must(t, json.Unmarshal([]byte(s.get(t, configsPath+"?limit=1").body), &list))
	for i := range 30 {
		s.post(t, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"b`+strconv.Itoa(i)+`"}}`)
	}
	for query, want := range map[string]string{
		"?limit=1&continue=" + list.Continue: "The provided continue parameter is too old",
		"?watch=1&timeoutSeconds=5&resourceVersion=" + list.ResourceVersion: "too old resource version: " +
			list.ResourceVersion,
	} {
		got := s.get(t, configsPath+query)
		if !strings.Contains(got.body, want) || !strings.Contains(got.body, `"code":410`) ||
			!strings.Contains(got.body, `"reason":"Expired"`) {
			t.Errorf("%s: %+v, want a 410 with %q", query, got, want)
		}
	}
}

// BenchmarkServeForEver creates and deletes objects in a server with two controllers ("make forever" does so a million
// times). It compares the heap and the speed at the start with those at the end.
func BenchmarkServeForEver(b *testing.B) {
	c := newChurn(b, keptHistory)
	part := max(b.N/20, 1)
	var first, last time.Duration
	var early uint64
	began := time.Now()
	for i := range b.N {
		switch c.turn(i); i + 1 {
		case part:
			first = time.Since(began)
			_, early = held()
		case b.N - part:
			began = time.Now()
		case b.N:
			last = time.Since(began)
		}
	}
	b.StopTimer()
	_, late := held()
	b.ReportMetric(float64(early)/(1<<20), "MiB-early")
	b.ReportMetric(float64(late)/(1<<20), "MiB-late")
	b.ReportMetric(float64(late)/float64(early), "MiB-ratio")
	b.ReportMetric(float64(last)/float64(first), "time-ratio")
	b.ReportMetric(float64(c.s.trial.Server.Version()), "writes")
}
