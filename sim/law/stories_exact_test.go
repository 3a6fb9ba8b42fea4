package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

const ownFinalizer = "example.com/rs"

// family stores a set that wants so many and has pods, all shown to its controller.
func (t *tape) family(want int, pods ...string) (a *thing, have []*thing) {
	a = set("a", want)
	t.exist(a)
	t.show("rs", a)
	for _, name := range pods {
		p := pod(name, a)
		t.exist(p)
		t.deliver("rs", nil, p, "default/a")
		have = append(have, p)
	}
	return a, have
}

// status is a write of a set's status in a sync that saw the set as it is.
func (t *tape) status(a *thing, f func(o *thing)) {
	t.commit("rs", "update", a, a, a.as(f)).Subresource = "status"
}

var exactStories = []story{
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
			t.user(p[0], nil)
			t.deliver("rs", p[0], nil, "default/a")
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
	{"EXACT-3", "one that it adopts is there too", broken, func(t *tape) {
		a, _ := t.family(2)
		p, q := pod("p", a).on("n1"), pod("q", nil).on("n1")
		t.exist(p, q)
		t.deliver("rs", nil, p, "default/a")
		t.adopts("rs", a, q)
	}},
	{"EXACT-3", "not shown the other", committed, func(t *tape) {
		a, _ := t.family(2)
		t.exist(pod("p", a).on("n1"))
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a).on("n1")) })
	}},
	{"EXACT-3", "the other is going", kept, func(t *tape) {
		a, _ := t.family(1)
		p := pod("p", a).on("n1").dying("x")
		t.exist(p)
		t.deliver("rs", nil, p, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("q", a).on("n1")) })
	}},

	{"EXACT-4", "the one it read", kept, func(t *tape) {
		a, p := t.family(0, "p")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil) })
	}},
	{"EXACT-4", "a namesake of it", broken, func(t *tape) {
		a, p := t.family(0, "p")
		t.user(p[0], nil)
		next := p[0].again()
		t.exist(next)
		t.sync("rs", a, func() {
			r := t.commit("rs", "delete", a, next, nil)
			r.Saw, r.Guards = p[0], sim.Guards{}
		})
	}},

	{"EXACT-5", "the newest", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("web")
		t.user(p[0], q)
		t.deliver("rs", p[0], q, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil) })
	}},
	{"EXACT-5", "changed since, unseen", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("web")
		t.user(p[0], q)
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil).Saw = p[0] })
	}},
	{"EXACT-5", "shown a newer one", broken, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("db")
		t.user(p[0], q)
		t.deliver("rs", p[0], q, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil).Saw = p[0] })
	}},
	{"EXACT-5", "shown a newer one that changes nothing", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("db")
		again := p[0].as(func(*thing) {})
		t.user(p[0], q)
		t.deliver("rs", p[0], q, "default/a")
		t.user(q, again)
		t.deliver("rs", q, again, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, again, nil).Saw = p[0] })
	}},
	{"EXACT-5", "shown a newer one while it was at it", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("web")
		t.sync("rs", a, func() {
			t.user(p[0], q)
			t.deliver("rs", p[0], q, "default/a")
			t.commit("rs", "delete", a, q, nil).Saw = p[0]
		})
	}},
	{"EXACT-5", "an earlier life was shown a newer one", committed, func(t *tape) { t.behind("delete") }},
	{"EXACT-5", "overwritten on an older view", committed, func(t *tape) { t.behind("update") }},
	{"EXACT-5", "on condition of the version", kept, func(t *tape) {
		a, p := t.family(0, "p")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil).Guards.ResourceVersion = true })
	}},

	{"EXACT-6", "somebody else's finalizer", kept, func(t *tape) {
		t.exist(pod("p", nil).dying("example.com/hold"))
		t.settled()
	}},
	{"EXACT-6", "its own finalizer", broken, func(t *tape) { t.exist(set("a", 0).dying(ownFinalizer)); t.settled() }},
	{"EXACT-6", "whose controller is down", kept, func(t *tape) {
		t.exist(set("a", 0).dying(ownFinalizer))
		t.fault("rs", "crash")
		t.settled()
	}},
	{"EXACT-6", "though another process is down", broken, func(t *tape) {
		t.exist(set("a", 0).dying(ownFinalizer))
		t.fault("rc", "crash")
		t.settled()
	}},
	{"EXACT-6", "waits for what a third party holds", kept, func(t *tape) {
		a := set("a", 0).dying(foregroundFinalizer)
		t.exist(a, pod("p", a).dying("example.com/hold"))
		t.settled()
	}},
	{"EXACT-6", "a finalizer that it put there and never declared", broken, func(t *tape) {
		a := app("a")
		t.exist(a)
		b := a.as(func(o *thing) { o.Finalizers = []string{cleanup} })
		t.sync("op", a, func() { t.commit("op", "update", a, a, b) })
		t.user(b, b.dying(cleanup))
		t.settled()
	}},
	{"EXACT-6", "a finalizer that another put on what it syncs", kept, func(t *tape) {
		a := app("a")
		t.exist(a.dying(cleanup))
		t.settled()
	}},
	{"EXACT-6", "waits for nothing", broken, func(t *tape) {
		t.exist(set("a", 0).dying(orphanFinalizer))
		t.settled()
	}},
	{"EXACT-6", "a namespace that is empty", broken, func(t *tape) {
		ns := object("Namespace", "shop").dying()
		ns.Namespace = ""
		t.exist(ns)
		t.settled()
	}},

	{"EXACT-8", "as many as it was shown", kept, func(t *tape) {
		a, _ := t.family(1, "p")
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted, o.Placed = 1, 0 }) })
		t.settled()
	}},
	{"EXACT-8", "fewer", broken, func(t *tape) {
		a := set("a", 2)
		a.Placed = 2
		t.exist(a)
		t.show("rs", a)
		for _, name := range []string{"p", "q"} {
			p := pod(name, a).on(name)
			t.exist(p)
			t.deliver("rs", nil, p, "default/a")
		}
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Placed = 1 }) })
	}},
	{"EXACT-8", "more of those in a state", broken, func(t *tape) {
		a, _ := t.family(1, "p")
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted, o.Placed = 1, 1 }) })
	}},
	{"EXACT-8", "one that it did not select when the sync began", kept, func(t *tape) {
		a := set("a", 2)
		a.Placed = 2
		t.exist(a)
		t.show("rs", a)
		p, q := pod("p", a).on("p"), pod("q", a).on("q").labelled("other")
		for _, o := range []*thing{p, q} {
			t.exist(o)
			t.deliver("rs", nil, o, "default/a")
		}
		t.sync("rs", a, func() {
			t.user(q, q.labelled("web"))
			t.deliver("rs", q, q.labelled("web"), "default/a")
			t.status(a, func(o *thing) { o.Placed = 1 })
		})
	}},
	{"EXACT-8", "as before one went during the sync", kept, func(t *tape) {
		a, p := t.family(1, "p")
		t.sync("rs", a, func() {
			t.user(p[0], nil)
			t.deliver("rs", p[0], nil, "default/a")
			t.status(a, func(o *thing) { o.Counted = 1 })
		})
	}},
	{"EXACT-8", "as its cache shows it, before it shows its own delete", kept, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil) })
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted = 2 }) })
	}},
	{"EXACT-8", "too few at rest", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a).on("n1"))
		t.settled()
	}},
}

// behind has a set's controller restart on an older list, and do something to a
// pod that its earlier life had been shown in a newer version.
func (t *tape) behind(verb string) {
	a, p := t.family(0, "p")
	q := p[0].as(func(o *thing) { o.Node = "n1" })
	t.commit("kubelet", "update", nil, p[0], q)
	t.deliver("rs", p[0], q, "default/a")
	t.fault("rs", "crash")
	t.fault("rs", "restart").Incarnation = 1
	t.deliver("rs", nil, a).Incarnation = 1
	t.deliver("rs", nil, p[0], "default/a").Incarnation = 1
	t.add(sim.Record{Op: sim.SyncStart, Process: "rs", Incarnation: 1, For: a.ref(), SawFor: a})
	var after *thing
	if verb == "update" {
		after = p[0].as(func(o *thing) { o.Annotations = map[string]string{"a": "b"} })
	}
	r := t.commit("rs", verb, a, q, after)
	r.Saw, r.Incarnation, r.Guards = p[0], 1, sim.Guards{UID: true}
}

// on is the next version of a pod, placed on a node.
func (o *thing) on(node string) *thing {
	return o.as(func(o *thing) { o.Node = node })
}

func exactly(s *Subject) {
	s.Surge = func(o any) int { return o.(*thing).Surge }
	s.Unavailable = func(o any) int { return o.(*thing).Lacking }
	s.Identity = func(o any) string { return o.(*thing).Node }
	s.Finalizers = []string{ownFinalizer}
	s.Counts = []Count{{
		Name: "placed",
		Of:   func(o any) int { return o.(*thing).Placed },
		Is: func(_, o any) bool {
			return o.(*thing).Node != "" && !meta.Deleting(o.(metav1.Object))
		},
	}}
}
