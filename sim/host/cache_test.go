package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/btree"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

func podVersion(ns, name, app string, n uint32) *version {
	return newVersion(1, ns+"/"+name, n, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: name, Labels: map[string]string{"app": app}, UID: types.UID(ns + name),
		ResourceVersion: fmt.Sprint(n),
	}})
}

// The cache gives the same answers as client-go's cache, but in key order.
func TestIndexerAnswersLikeClientGo(t *testing.T) {
	byApp := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Labels["app"], "any"}, nil }
	mine := newIndexer(btree.NewFreeListG[*version](8))
	theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	seed := sim.NewSeed(3)
	for i := range 3000 {
		v := podVersion(fmt.Sprintf("n%d", seed.Pick(3, "")), fmt.Sprintf("p%d", seed.Pick(40, "")),
			fmt.Sprintf("a%d", seed.Pick(4, "")), uint32(i+1))
		if seed.Pick(3, "") == 0 {
			mine.drop(v.key)
			_ = theirs.Delete(v.obj)
		} else {
			mine.put(v)
			_ = theirs.Update(v.obj)
		}
		if i == 1000 { // an index that is added later contains the existing objects
			for _, x := range []cache.Indexer{mine, theirs} {
				if err := x.AddIndexers(cache.Indexers{"app": byApp}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i%50 != 0 || i < 1000 {
			continue
		}
		sameObjects(t, "List", mine.List(), theirs.List())
		for _, value := range []string{"a0", "a3", "any", "none"} {
			a, _ := mine.ByIndex("app", value)
			b, _ := theirs.ByIndex("app", value)
			sameObjects(t, "ByIndex "+value, a, b)
		}
		a, _ := mine.Index("app", v.obj)
		b, _ := theirs.Index("app", v.obj)
		sameObjects(t, "Index", a, b)
		a, _ = mine.ByIndex(cache.NamespaceIndex, "n1")
		b, _ = theirs.ByIndex(cache.NamespaceIndex, "n1")
		sameObjects(t, "namespace", a, b)
		sameNames(t, "the namespaces", mine.ListIndexFuncValues(cache.NamespaceIndex),
			theirs.ListIndexFuncValues(cache.NamespaceIndex))
		sameNames(t, "the values", mine.ListIndexFuncValues("app"), theirs.ListIndexFuncValues("app"))
		for _, namespace := range []string{"n0", "n2", "n", ""} {
			g, _ := mine.IndexKeys(cache.NamespaceIndex, namespace)
			w, _ := theirs.IndexKeys(cache.NamespaceIndex, namespace)
			sameNames(t, "the keys of "+namespace, g, w)
		}
	}
	if _, err := mine.ByIndex("nope", "x"); err == nil {
		t.Error("a missing index returned no error")
	}
}

func sameNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Cluster-scoped objects are in the namespace "".
func TestIndexerOfAKindWithoutNamespaces(t *testing.T) {
	x := newIndexer(btree.NewFreeListG[*version](8))
	for _, name := range []string{"b", "a"} {
		x.put(newVersion(1, name, 1, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	all, _ := x.IndexKeys(cache.NamespaceIndex, "")
	none, _ := x.IndexKeys(cache.NamespaceIndex, "a")
	if !slices.Equal(all, []string{"a", "b"}) || len(none) > 0 {
		t.Errorf(`in "" %v, in "a" %v`, all, none)
	}
}

// A version is intact while the encoding of its object is the stored encoding.
func TestIntact(t *testing.T) {
	for name, change := range map[string]func(p *corev1.Pod){
		"grown":       func(p *corev1.Pod) { p.Spec.NodeName = strings.Repeat("n", 10_000) },
		"by a little": func(p *corev1.Pod) { p.Labels["b"] = "c" },
		"shrunk":      func(p *corev1.Pod) { p.Labels = nil },
		"as long":     func(p *corev1.Pod) { p.Labels["app"] = "c" },
	} {
		v := podVersion("ns", "p", "a", 1)
		buf := make([]byte, len(v.encoded))
		if !v.intact(buf) {
			t.Errorf("%s: not intact before the change", name)
		}
		change(v.obj.(*corev1.Pod))
		if v.intact(buf) {
			t.Errorf("%s: intact after the change", name)
		}
	}
}

func sameObjects(t *testing.T, what string, got, want []any) {
	t.Helper()
	keys := func(objs []any) []string {
		var out []string
		for _, o := range objs {
			// a space sorts before all characters of names
			out = append(out, keyOf(o.(metav1.Object))+" "+o.(metav1.Object).GetResourceVersion())
		}
		return out
	}
	g, w := keys(got), keys(want)
	slices.Sort(w)
	if !slices.Equal(g, w) {
		t.Fatalf("%s: got %v, want %v", what, g, w)
	}
}

// The digest of a cache depends on its content, not on the order of changes.
func TestCacheDigest(t *testing.T) {
	a, b := newIndexer(btree.NewFreeListG[*version](8)), newIndexer(btree.NewFreeListG[*version](8))
	x, y := podVersion("d", "x", "web", 1), podVersion("d", "y", "web", 1)
	a.put(x)
	a.put(y)
	b.put(podVersion("d", "y", "old", 7))
	b.put(y)
	b.put(podVersion("d", "z", "web", 1))
	b.drop("d/z")
	b.put(x)
	if a.exact != b.exact || a.abstract != b.abstract {
		t.Errorf("%x/%x and %x/%x", a.exact, a.abstract, b.exact, b.abstract)
	}
	b.drop("d/x")
	if a.exact == b.exact || a.abstract == b.abstract {
		t.Error("a cache with one object less has the same digest")
	}
}

// A key is in the queue once, and two workers never get it. If it is added during its reconcile, it is queued again
// afterwards.
func TestQueue(t *testing.T) {
	var clock sim.Clock
	q := newQueue(&clock, "p", Backoff{}, func(string, bool) {})
	for _, k := range []string{"a", "b", "a"} {
		q.Add(k)
	}
	a, _ := q.Get()
	q.Add("a")
	b, _ := q.Get()
	if _, none := q.Get(); a != "a" || b != "b" || !none {
		t.Fatalf("got %s and %s, more %v", a, b, !none)
	}
	q.Done("b")
	q.Done("a")
	if again, _ := q.Get(); again != "a" || q.Len() != 0 {
		t.Errorf("got %s, %d left", again, q.Len())
	}
	q.Done("a")

	var waits []time.Duration
	for range 3 {
		q.AddRateLimited("c")
		waits = append(waits, clock.Pending()[0].At)
		clock.StopAll("p")
		clear(q.waiting)
	}
	if !slices.Equal(waits, []time.Duration{usual.First, 2 * usual.First, 4 * usual.First}) || q.NumRequeues("c") != 3 {
		t.Errorf("backoff %v", waits)
	}
	q.Forget("c")
	q.AddAfter("c", time.Second)
	q.AddAfter("c", time.Minute)
	q.AddAfter("c", time.Millisecond)
	if p := clock.Pending(); len(p) != 1 || p[0].At != time.Millisecond {
		t.Errorf("%d alarms", len(p))
	}
	q.ShutDown()
	q.Add("d")
	if q.Len() != 0 || !q.ShuttingDown() {
		t.Error("a key was added after the shutdown")
	}
}

// A write to the cache returns an error.
func TestCacheIsReadOnly(t *testing.T) {
	x := newIndexer(btree.NewFreeListG[*version](8))
	for name, err := range map[string]error{"Add": x.Add(&corev1.Pod{}), "Update": x.Update(&corev1.Pod{}),
		"Delete": x.Delete(&corev1.Pod{}), "Replace": x.Replace(nil, "")} {
		if err == nil {
			t.Errorf("%s returned no error", name)
		}
	}
}
