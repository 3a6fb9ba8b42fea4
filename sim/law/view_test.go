package law_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// The index of a journal contains all entries of an object since a record, in order, and no earlier entries.
func TestSince(t *testing.T) {
	var j view.Journal
	a, b := &view.Sight{UID: "a"}, &view.Sight{UID: "b"}
	for record, e := range []*view.Sight{a, b, a, a} {
		j.Note(e, record)
	}
	s := j.Since(1)
	for uid, want := range map[types.UID][]int{"a": {2, 3}, "b": {1}, "c": nil} {
		i := s.First(uid)
		for _, n := range want {
			if i != n {
				t.Fatalf("%s: entry %d, want %d", uid, i, n)
			}
			i = s.Next(i)
		}
		if i != -1 {
			t.Errorf("%s: entry %d, want no more", uid, i)
		}
	}
	if j.Cut(2); len(j.Entries) != 2 || j.Since(0).First("b") != -1 {
		t.Errorf("%d entries are left", len(j.Entries))
	}
}

// A key is hot if it fails and is retried within a second, without being enqueued again.
func TestHot(t *testing.T) {
	q, k := view.NewQueue(), view.Key{Namespace: "default", Name: "a"}
	for i, c := range []struct {
		add  bool
		at   time.Duration
		want int
	}{{true, 0, 0}, {false, 0, 1}, {false, 0, 2}, {true, 0, 0}, {false, 0, 1}, {false, view.Brief - 1, 2},
		{false, 2*view.Brief - 1, 0}} {
		if c.add {
			q.Add(k.String())
		}
		q.Start(k, c.at)
		if got := q.Find(k); got.Hot != c.want || got.Running != 1 || got.Dirty {
			t.Errorf("%d: %+v, want hot %d", i, got, c.want)
		}
		q.End(k, true, c.at)
	}
}
