package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// family stores a set with replicas want and these pods. Its controller receives all of them.
func (t *tape) family(want int, pods ...string) (a *thing, have []*thing) {
	a = set("a", want)
	t.exist(a)
	t.show("rs", a)
	for _, name := range pods {
		p := t.appears("rs", pod(name, a), "default/a")
		have = append(have, p)
	}
	return a, have
}

// status adds a write of a set's status. The reconcile has read the current set.
func (t *tape) status(a *thing, f func(o *thing)) {
	t.commit("rs", "update", a, a, a.as(f)).Subresource = "status"
}

var _ = tells([]story{
	{"EXACT-1", "down to what is wanted", kept, func(t *tape) {
		a, p := t.family(1, "p", "q", "r")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil); t.commit("rs", "delete", a, p[1], nil) })
	}},
	{"EXACT-1", "one too far", broken, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil); t.commit("rs", "delete", a, p[1], nil) })
	}},
	{"EXACT-1", "again, before its cache shows the first", broken, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], p[0].dying()) })
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[1], p[1].dying()) })
	}},
	{"EXACT-1", "the answer to the first was lost", committed, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], p[0].dying()).Lost = true })
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[1], p[1].dying()) })
	}},
	{"EXACT-1", "one had gone unseen", committed, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.user(p[0], nil)
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[1], nil) })
	}},
	{"EXACT-1", "one went during the sync", committed, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() {
			t.shows("rs", p[0], nil, "default/a")
			t.commit("rs", "delete", a, p[1], nil)
		})
	}},
	{"EXACT-1", "the answer to its adoption showed another's deletion", committed, func(t *tape) {
		a, p := t.family(1, "p")
		q := pod("q", nil)
		t.exist(q)
		t.show("rs", q)
		t.user(q, q.dying(cleanup))
		t.adopts("rs", a, q.dying(cleanup))
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil) })
	}},
	{"EXACT-1", "the answer to its adoption showed that it had failed", committed, func(t *tape) {
		a, p := t.family(1, "p")
		q := pod("q", nil)
		t.exist(q)
		t.show("rs", q)
		dead := q.as(func(o *thing) { o.Failed = true })
		t.user(q, dead)
		t.adopts("rs", a, dead)
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil) })
	}},
	{"EXACT-1", "the owner wants more by now", committed, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.user(a, a.as(func(o *thing) { o.Replicas = 2 }))
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[1], nil) })
	}},
	{"EXACT-1", "one that has failed", kept, func(t *tape) {
		a, p := t.family(1, "p")
		dead := p[0].as(func(o *thing) { o.Failed = true })
		t.commit("kubelet", "update", nil, p[0], dead)
		t.deliver("rs", p[0], dead, "default/a")
		t.sync("rs", a, func() {
			t.commit("rs", "delete", a, dead, nil)
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-1", "within what may be lacking", kept, func(t *tape) {
		a := set("a", 2)
		a.Lacking = 1
		p, q := pod("p", a), pod("q", a)
		t.exist(a, p, q)
		t.show("rs", a)
		t.deliver("rs", nil, p, "default/a")
		t.deliver("rs", nil, q, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p, nil); t.commit("rs", "create", a, nil, pod("n", a)) })
	}},

	{"EXACT-2", "up to what is wanted", kept, func(t *tape) {
		a, _ := t.family(2)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a))
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "one too many", broken, func(t *tape) {
		a, _ := t.family(1, "p")
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "again, before its cache shows the first", broken, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", a)) })
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "two in one sync", broken, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a))
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "the answer to the first was lost", committed, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", a)).Lost = true })
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "restarted before it was shown", committed, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", a)) })
		t.fault("rs", "crash")
		t.fault("rs", "restart").Incarnation = 1
		t.show("rs", a)
		t.add(sim.Record{Op: sim.SyncStart, Process: "rs", Incarnation: 1, For: a.ref(), SawFor: a})
		t.commit("rs", "create", a, nil, pod("q", a)).Incarnation = 1
	}},
	{"EXACT-2", "the first was gone in a gap of the watch", kept, func(t *tape) {
		a, _ := t.family(1)
		p := pod("p", a)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, p) })
		t.user(p, nil)
		t.fault("rs", "relist").Object.Kind = "Pod"
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "within the surge", kept, func(t *tape) {
		a := set("a", 1)
		a.Surge = 1
		p := pod("p", a)
		t.exist(a, p)
		t.show("rs", a)
		t.deliver("rs", nil, p, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a)); t.commit("rs", "delete", a, p, nil) })
	}},

	{"EXACT-2", "makes another where the name was taken", broken, func(t *tape) {
		a, p := t.family(1, "p")
		t.sync("rs", a, func() {
			t.refuse("rs", "create", a, p[0], nil, 409, "exists")
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "makes another where one was found gone", kept, func(t *tape) {
		a, p := t.family(1, "p")
		t.user(p[0], nil)
		t.sync("rs", a, func() {
			t.refuse("rs", "patch", a, p[0], p[0], 404, "gone")
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},

	{"EXACT-3", "one on each node", kept, func(t *tape) {
		a, _ := t.family(2)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a).on("n1"))
			t.commit("rs", "create", a, nil, pod("q", a).on("n2"))
		})
	}},
	{"EXACT-3", "two on one node", broken, func(t *tape) {
		a, _ := t.family(2)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a).on("n1"))
			t.commit("rs", "create", a, nil, pod("q", a).on("n1"))
		})
	}},
	{"EXACT-3", "mayDuplicate that the owner may have", kept, func(t *tape) {
		a := object("DaemonSet", "a")
		a.Surge = 1
		t.exist(a, pod("p", a).on("n1"))
		t.sync("ds", a, func() { t.commit("ds", "create", a, nil, pod("q", a).on("n1")) })
	}},
	{"EXACT-3", "two that it adopted stay", broken, func(t *tape) {
		a, _ := t.family(2)
		p, q := pod("p", nil).on("n1"), pod("q", nil).on("n1")
		t.exist(p, q)
		t.adopts("rs", a, p)
		t.adopts("rs", a, q)
		t.settled()
	}},
	{"EXACT-3", "of two that it adopted one goes", kept, func(t *tape) {
		a, _ := t.family(1)
		p, q := pod("p", nil).on("n1"), pod("q", nil).on("n1")
		t.exist(p, q)
		t.adopts("rs", a, p)
		q = t.adopts("rs", a, q)
		t.deliver("rs", nil, q, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil) })
		t.status(a, func(o *thing) { o.Placed, o.Counted = 1, 1 })
		t.settled()
	}},
	{"EXACT-3", "two that it adopted stay, and it wants no number of them", kept, func(t *tape) {
		a := job("a").as(func(o *thing) { o.Placed = 2 })
		t.exist(a, pod("p", a).on("n1"), pod("q", a).on("n1"))
		t.settled()
	}},
	{"EXACT-3", "two that it adopted stay while it is down", kept, func(t *tape) {
		a, _ := t.family(2)
		p, q := pod("p", nil).on("n1"), pod("q", nil).on("n1")
		t.exist(p, q)
		t.adopts("rs", a, p)
		t.adopts("rs", a, q)
		t.fault("rs", "crash")
		t.settled()
	}},
	{"EXACT-3", "not shown the other", committed, func(t *tape) {
		a, _ := t.family(2)
		t.exist(pod("p", a).on("n1"))
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a).on("n1")) })
	}},
	{"EXACT-3", "the other is terminating", kept, func(t *tape) {
		a, _ := t.family(1)
		p := pod("p", a).on("n1").dying("x")
		t.appears("rs", p, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a).on("n1")) })
	}},
})

// on returns the next version of a pod, on a node.
func (o *thing) on(node string) *thing {
	return o.as(func(o *thing) { o.Node = node })
}

func exactly(s *Actor) {
	s.MaxSurge = func(o runtime.Object) int { return o.(*thing).Surge }
	s.MaxUnavailable = func(o runtime.Object) int { return o.(*thing).Lacking }
	s.Identity = func(o runtime.Object) string { return o.(*thing).Node }
	s.Finalizers = []string{ownFinalizer}
	s.Counts = []Count{{
		Name: "placed",
		Of:   func(o runtime.Object) int { return o.(*thing).Placed },
		Is: func(_, o runtime.Object) bool {
			return o.(*thing).Node != "" && !meta.Deleting(o.(metav1.Object))
		},
	}, {
		Name: "threads",
		Of:   func(o runtime.Object) int { return o.(*thing).Threads },
		Each: func(_, o runtime.Object) int { return o.(*thing).Threads },
	}}
}
