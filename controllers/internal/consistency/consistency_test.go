package consistency

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

var (
	pods = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	sets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
)

// seen is what caches show: of each kind all up to a revision.
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
	s.Wrote("ns/web", "u1", pods, at(2)) // older than what is recorded
	ready("two writes are to be seen", false)
	one := digest(s)
	caches[pods] = 2
	ready("an older write was seen", false)
	if digest(s) == one {
		t.Error("a write that is nearer to being seen digests the same")
	}
	caches[pods] = 3
	ready("the owner was not", false)
	caches[sets] = 4
	if digest(s) != empty {
		t.Error("writes that were seen are part of the digest")
	}
	ready("both were seen", true)
	if len(s.owners) != 0 {
		t.Error("a record stays although its owner is ready")
	}
}

// A record is one object's: a successor of its name does not wait for it, and an
// event on the predecessor does not drop the successor's.
func TestStoreKnowsObjects(t *testing.T) {
	s := New(seen{}.behind)
	s.Wrote("ns/web", "u1", pods, at(1))
	s.Clear("ns/web", "u0")
	if s.Ready("ns/web") == nil {
		t.Error("somebody else's deletion cleared the record")
	}
	s.Wrote("ns/web", "u2", sets, at(1))
	if w := s.owners["ns/web"].writes; len(w) != 1 || w[0].kind != sets {
		t.Errorf("the successor waits for %v", w)
	}
	s.Clear("ns/web", "")
	if err := s.Ready("ns/web"); err != nil {
		t.Errorf("cleared, and yet: %v", err)
	}
}

// Without a store nobody waits.
func TestNoStore(t *testing.T) {
	var s *Store
	s.Wrote("ns/web", "u", pods, at(1))
	s.Clear("ns/web", "")
	if err := s.Ready("ns/web"); err != nil || digest(s) != 0 {
		t.Errorf("a nil store waits: %v", err)
	}
}
