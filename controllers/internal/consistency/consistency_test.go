package consistency

import (
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var (
	pods = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	sets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
)

// seen is the state of caches: each kind up to a revision.
type seen map[schema.GroupVersionKind]int

func (s seen) behind(kind schema.GroupVersionKind, version string) int {
	n, _ := strconv.Atoi(version)
	return max(n-s[kind], 0)
}

func at(n int) metav1.Object { return &metav1.ObjectMeta{ResourceVersion: strconv.Itoa(n)} }

func digest(s *Store) sim.Hash {
	var h sim.Hash
	s.Digest(&h)
	return h
}

func TestStore(t *testing.T) {
	caches := seen{}
	s := New(caches.behind)
	ready := func(when string, want bool) {
		t.Helper()
		if err := s.Ready("ns/web"); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	empty := digest(s)
	ready("nothing was written", true)

	s.Wrote("ns/web", "u1", pods, at(3))
	s.Wrote("ns/web", "u1", sets, at(4))
	s.Wrote("ns/web", "u1", pods, at(2)) // older than the recorded write
	ready("two writes are not seen yet", false)
	one := digest(s)
	caches[pods] = 2
	ready("an older write was seen", false)
	if digest(s) == one {
		t.Error("the digest ignores how many events are missing")
	}
	caches[pods] = 3
	ready("the owner was not", false)
	caches[sets] = 4
	if digest(s) != empty {
		t.Error("the digest contains writes that were seen")
	}
	ready("both were seen", true)
	if len(s.owners) != 0 {
		t.Error("the record of a ready owner was not dropped")
	}
}

// A record belongs to one object. A recreated object does not wait for the old object's record. An event of the old
// object does not drop the new object's record.
func TestStoreKnowsObjects(t *testing.T) {
	s := New(seen{}.behind)
	s.Wrote("ns/web", "u1", pods, at(1))
	s.Clear("ns/web", "u0")
	if s.Ready("ns/web") == nil {
		t.Error("another client's deletion cleared the record")
	}
	s.Wrote("ns/web", "u2", sets, at(1))
	if w := s.owners["ns/web"].writes; len(w) != 1 || w[0].kind != sets {
		t.Errorf("the recreated owner waits for %v", w)
	}
	s.Clear("ns/web", "")
	if err := s.Ready("ns/web"); err != nil {
		t.Errorf("after Clear: %v", err)
	}
}

// Versions that are not numbers cannot be compared, so only the last one is awaited (RULES D49).
func TestVersionsThatAreNoNumbers(t *testing.T) {
	var asked []string
	s := New(func(_ schema.GroupVersionKind, version string) int { asked = append(asked, version); return 0 })
	for _, version := range []string{"9", "odd", "strange"} {
		s.Wrote("ns/web", "u", pods, &metav1.ObjectMeta{ResourceVersion: version})
	}
	if err := s.Ready("ns/web"); err != nil || !slices.Equal(asked, []string{"strange"}) {
		t.Errorf("asked for %q: %v", asked, err)
	}
}

// Clearing an owner without a record does nothing.
func TestClearNothing(t *testing.T) {
	s := New(seen{}.behind)
	s.Clear("ns/web", "u")
	s.Wrote("ns/web", "u", pods, at(1))
	if s.Clear("ns/web", "u"); s.Ready("ns/web") != nil {
		t.Error("its record was not cleared")
	}
}

// Creates, updates and patches are recorded for the controller in the response.
func TestPods(t *testing.T) {
	c := host.NewCluster(sim.New(sim.Zero{}), fakeapi.New(fakeapi.Options{}))
	s := New(seen{}.behind)
	client := s.Pods(c.Client("user"))
	yes := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	var writes []string
	note := func(obj runtime.Object, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		p = obj.(*corev1.Pod).DeepCopy()
		last := "nothing"
		if o := s.owners["default/web"]; o != nil {
			if last = "an older one"; o.writes[0].version == p.ResourceVersion {
				last = "this"
			}
		}
		writes = append(writes, last)
	}
	created := p.DeepCopy()
	note(client.Create(t.Context(), p))
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u",
		Controller: &yes}}
	note(client.Update(t.Context(), p))
	p.Labels = map[string]string{"a": "b"}
	note(client.Update(t.Context(), p))
	patch := func(data string) (runtime.Object, error) {
		return client.Patch(t.Context(), pods, "default", "p",
			host.Patch{Type: types.MergePatchType, Data: []byte(data)})
	}
	note(patch(`{"metadata":{"labels":{"a":"c"}}}`))
	note(patch(`{"metadata":{"ownerReferences":null}}`))
	created.Name, created.OwnerReferences = "q", []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet",
		Name: "web", UID: "v", Controller: &yes}}
	note(client.Create(t.Context(), created))
	if _, err := client.Create(t.Context(), p); err == nil {
		t.Error("a pod was created twice")
	}
	if want := []string{"nothing", "this", "this", "this", "an older one", "this"}; !slices.Equal(writes, want) {
		t.Errorf("recorded %q, want %q", writes, want)
	}
}
