package law

import "github.com/threelaws/threelaws/sim"

const ownFinalizer = "example.com/rs"

var _ = tells([]story{
	{"EXACT-4", "the one it read", kept, func(t *tape) {
		a, p := t.family(0, "p")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil) })
	}},
	{"EXACT-4", "a recreated object", broken, func(t *tape) {
		a, p := t.family(0, "p")
		t.user(p[0], nil)
		next := t.stored(p[0].again())
		t.sync("rs", a, func() {
			r := t.commit("rs", "delete", a, next, nil)
			r.Saw, r.Guards = p[0], sim.Guards{}
		})
	}},

	{"EXACT-5", "the newest", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := t.shows("rs", p[0], p[0].labelled("web"), "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil) })
	}},
	{"EXACT-5", "changed since, unseen", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := t.becomes(p[0], p[0].labelled("web"))
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil).Saw = p[0] })
	}},
	{"EXACT-5", "shown a newer one", broken, func(t *tape) {
		a, p := t.family(0, "p")
		q := t.shows("rs", p[0], p[0].labelled("db"), "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, q, nil).Saw = p[0] })
	}},
	{"EXACT-5", "shown a newer one that changes nothing", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("db")
		again := p[0].as(func(*thing) {})
		t.shows("rs", p[0], q, "default/a")
		t.shows("rs", q, again, "default/a")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, again, nil).Saw = p[0] })
	}},
	{"EXACT-5", "shown a newer one while it was at it", kept, func(t *tape) {
		a, p := t.family(0, "p")
		q := p[0].labelled("web")
		t.sync("rs", a, func() {
			t.shows("rs", p[0], q, "default/a")
			t.commit("rs", "delete", a, q, nil).Saw = p[0]
		})
	}},
	{"EXACT-5", "knows a newer version only from its own write, and keeps its answers", broken,
		func(t *tape) { t.stale("rs", set("a", 0), nil) }},
	{"EXACT-5", "told of a newer one by its own write alone", kept, func(t *tape) { t.stale("op", app("a"), nil) }},
	{"EXACT-5", "told so, when its cache was to know a newer one still", broken, func(t *tape) {
		t.stale("op", app("a"), func(p, q *thing) { t.deliver("op", p, p.labelled("mid"), "default/a") })
	}},
	{"EXACT-5", "told so, and its cache shows the newer one after it has read", kept, func(t *tape) {
		a := app("a")
		p := pod("p", a)
		q := p.labelled("db")
		t.exist(a, p)
		t.show("op", a, p)
		t.sync("op", a, func() { t.commit("op", "update", a, p, q) })
		t.sync("op", a, func() {
			t.deliver("op", p, q, "default/a")
			t.commit("op", "delete", a, q, nil).Saw = p
		})
	}},
	{"EXACT-5", "told so, and its cache had shown the newer one before", broken, func(t *tape) {
		t.stale("op", app("a"), func(p, q *thing) { t.deliver("op", p, q, "default/a") })
	}},
	{"EXACT-5", "its cache shows a dependent without an owner", broken, func(t *tape) {
		a, p := app("a"), pod("p", nil)
		t.exist(a, p)
		t.show("op", a, p)
		q := p.labelled("db").owned(controlledBy(a))
		t.sync("op", a, func() { t.commit("op", "update", a, p, q) })
		t.sync("op", a, func() { t.commit("op", "delete", a, q, nil).Saw = p })
	}},
	{"EXACT-5", "an earlier life was shown a newer one", committed, func(t *tape) { t.behind("delete") }},
	{"EXACT-5", "overwritten on an older view", committed, func(t *tape) { t.behind("update") }},
	{"EXACT-5", "put back by a patch, though shown a newer one", broken, func(t *tape) { t.patches(sim.Guards{}) }},
	{"EXACT-5", "put back by a server-side apply of what its owner says", kept, func(t *tape) {
		t.patches(sim.Guards{Applies: true})
	}},
	{"EXACT-5", "itself put back by a server-side apply, though shown a newer one", broken, func(t *tape) {
		a := set("a", 2)
		b := a.as(func(o *thing) { o.Replicas = 3 })
		t.exist(a)
		t.show("rs", a)
		t.shows("rs", a, b, "default/a")
		t.sync("rs", b, func() {
			r := t.commit("rs", "patch", b, b, a.as(func(*thing) {}))
			r.Saw, r.Guards = a, sim.Guards{Applies: true}
		})
	}},

	{"EXACT-6", "another owner's finalizer", kept, func(t *tape) {
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
	{"EXACT-8", "what it has just made, in a gap of the watch", kept, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a).on("n1"))
			t.fault("rs", "relist").Object.Kind = "Pod"
			t.status(a, func(o *thing) { o.Placed = 1 })
		})
	}},
	{"EXACT-8", "what it had made, after a gap of the watch", broken, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", a).on("n1")) })
		t.fault("rs", "relist").Object.Kind = "Pod"
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Placed = 1 }) })
	}},
	{"EXACT-8", "fewer", broken, func(t *tape) {
		a := set("a", 2)
		a.Placed = 2
		t.exist(a)
		t.show("rs", a)
		for _, name := range []string{"p", "q"} {
			t.appears("rs", pod(name, a).on(name), "default/a")
		}
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Placed = 1 }) })
	}},
	{"EXACT-8", "without one that its request found gone", kept, func(t *tape) {
		a := set("a", 1)
		a.Placed = 1
		p := pod("p", a).on("n1")
		t.exist(a, p)
		t.show("rs", a)
		t.deliver("rs", nil, p, "default/a")
		t.user(p, nil)
		t.sync("rs", a, func() {
			t.refuse("rs", "patch", a, p, p, 404, "not found")
			t.status(a, func(o *thing) { o.Placed = 0 })
		})
	}},
	{"EXACT-8", "more of those in a state", broken, func(t *tape) {
		a, _ := t.family(1, "p")
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted, o.Placed = 1, 1 }) })
	}},
	{"EXACT-8", "the sum of what its own say", kept, func(t *tape) {
		a, _ := t.threads(2, 3)
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted, o.Threads = 2, 5 }) })
	}},
	{"EXACT-8", "less than its own say", broken, func(t *tape) {
		a, _ := t.threads(2, 3)
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted, o.Threads = 2, 4 }) })
	}},
	{"EXACT-8", "more than its own say", broken, func(t *tape) {
		a, _ := t.threads(2, 3)
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted, o.Threads = 2, 6 }) })
	}},
	{"EXACT-8", "one of its own says more meanwhile", kept, func(t *tape) {
		a, own := t.threads(2, 3)
		t.sync("rs", a, func() {
			more := own[0].as(func(o *thing) { o.Threads = 4 })
			t.shows("rs", own[0], more, "default/a")
			t.status(a, func(o *thing) { o.Counted, o.Threads = 2, 5 })
		})
	}},
	{"EXACT-8", "one that it did not select when the sync began", kept, func(t *tape) {
		a := set("a", 2)
		a.Placed = 2
		t.exist(a)
		t.show("rs", a)
		p, q := pod("p", a).on("p"), pod("q", a).on("q").labelled("other")
		for _, o := range []*thing{p, q} {
			t.appears("rs", o, "default/a")
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
			t.shows("rs", p[0], nil, "default/a")
			t.status(a, func(o *thing) { o.Counted = 1 })
		})
	}},
	{"EXACT-8", "as its cache shows it, before it shows its own delete", kept, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, p[0], nil) })
		t.sync("rs", a, func() { t.status(a, func(o *thing) { o.Counted = 2 }) })
	}},
	{"EXACT-8", "too few when the world settled", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a).on("n1"))
		t.settled()
	}},
})

// behind records that a controller restarts with an older list, and writes to a pod that it received in a newer version
// before the restart.
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

// patches records that a controller restores an old version of a pod, although it received the new one.
func (t *tape) patches(guards sim.Guards) {
	a, p := t.family(1, "p")
	q := p[0].as(func(o *thing) { o.Node = "n1" })
	t.shows("rs", p[0], q, "default/a")
	t.sync("rs", a, func() {
		r := t.commit("rs", "patch", a, q, p[0].as(func(*thing) {}))
		r.Saw, r.Guards = p[0], guards
	})
}

// threads stores a set with a pod for each number. The number is the pod's number of threads.
func (t *tape) threads(numbers ...int) (*thing, []*thing) {
	a := set("a", len(numbers))
	t.exist(a)
	t.show("rs", a)
	var own []*thing
	for i, n := range numbers {
		p := pod(string(rune('p'+i)), a)
		p.Threads = n
		t.appears("rs", p, "default/a")
		own = append(own, p)
	}
	return a, own
}

// stale records that a controller changes a Pod, and deletes it in a later reconcile because of the old version in its
// cache.
func (t *tape) stale(process string, a *thing, between func(p, q *thing)) {
	p := pod("p", a)
	q := p.labelled("db")
	t.exist(a, p)
	t.show(process, a, p)
	t.sync(process, a, func() { t.commit(process, "update", a, p, q) })
	if between != nil {
		between(p, q)
	}
	t.sync(process, a, func() { t.commit(process, "delete", a, q, nil).Saw = p })
}
