package law

import "github.com/threelaws/threelaws/sim"

// collects records that the garbage collector receives the deletion of the owner, and deletes the pod.
func (t *tape) collects(p, owner *thing) *sim.Record {
	t.deliver("gc", owner, nil)
	return t.commit("gc", "delete", nil, p, nil)
}

// dependent stores a set with a pod, both shown to the garbage collector.
func (t *tape) dependent() (a, p *thing) {
	a = set("a", 1)
	p = pod("p", a)
	t.exist(a, p)
	t.show("gc", a, p)
	return a, p
}

// blocksAgain records that a user makes a reference to a waiting owner blocking, and that the garbage collector then
// removes the owner. shown is set if the garbage collector receives the change of the reference.
func (t *tape) blocksAgain(shown bool) {
	a := set("a", 1)
	p := pod("p", nil).owned(plain(a))
	t.exist(a, p)
	t.show("gc", a, p)
	b := t.becomes(a, a.dying(foregroundFinalizer))
	q := t.becomes(p, p.owned(controlledBy(a)))
	if shown {
		t.deliver("gc", p, q)
	}
	t.commit("gc", "patch", nil, b, nil)
}

// tiedAgain records that the garbage collector orphans a dependent, that a user adds the reference again, and that the
// garbage collector then removes the owner. shown is set if the garbage collector receives the added reference.
func (t *tape) tiedAgain(shown bool) {
	a, p := t.dependent()
	b := t.becomes(a, a.dying(orphanFinalizer))
	q := p.owned()
	t.commit("gc", "patch", nil, p, q)
	again := t.becomes(q, q.owned(controlledBy(a)))
	if shown {
		t.deliver("gc", p, again)
	}
	t.commit("gc", "patch", nil, b, nil)
}

var _ = tells([]story{
	{"GC-1", "collected", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		t.collects(p, a)
		t.settled()
	}},
	{"GC-1", "a dead reference kept", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 0)
		t.exist(a, b, pod("p", nil).owned(controlledBy(a), plain(b)))
		t.user(b, nil)
		t.settled()
	}},
	{"GC-1", "no collector running", kept, func(t *tape) {
		a, _ := t.dependent()
		t.user(a, nil)
		t.fault("gc", "crash")
		t.settled()
	}},
	{"GC-2", "waits", kept, func(t *tape) {
		a, p := t.dependent()
		b := t.becomes(a, a.dying(foregroundFinalizer))
		t.commit("gc", "delete", nil, p, nil)
		t.commit("gc", "patch", nil, b, nil)
		t.settled()
	}},
	{"GC-2", "had not seen", committed, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a))
		b := t.becomes(a, a.dying(foregroundFinalizer))
		t.commit("gc", "patch", nil, b, nil)
	}},
	{"GC-2", "blocks again, unseen", committed, func(t *tape) { t.blocksAgain(false) }},
	{"GC-2", "blocks again, and was shown so", broken, func(t *tape) { t.blocksAgain(true) }},
	{"GC-2", "waits for ever", broken, func(t *tape) {
		t.exist(set("a", 0).dying(foregroundFinalizer))
		t.settled()
	}},
	{"GC-3", "orphaned first", kept, func(t *tape) {
		a := set("a", 1)
		orphaned(t, a)
		t.commit("gc", "patch", nil, a.dying(orphanFinalizer), nil)
	}},
	{"GC-3", "goes first", broken, func(t *tape) {
		a, _ := t.dependent()
		b := t.becomes(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, b, nil)
	}},
	{"GC-3", "had not seen", committed, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a))
		b := t.becomes(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, b, nil)
	}},
	{"GC-3", "orphaned, and tied again unseen", committed, func(t *tape) { t.tiedAgain(false) }},
	{"GC-3", "orphaned, and tied again, and was shown so", broken, func(t *tape) { t.tiedAgain(true) }},
	{"GC-3", "never goes", broken, func(t *tape) { t.exist(set("a", 0).dying(orphanFinalizer)); t.settled() }},
	{"GC-4", "survives", kept, func(t *tape) {
		a := set("a", 1)
		orphaned(t, a)
		t.commit("gc", "patch", nil, a.dying(orphanFinalizer), nil)
	}},
	{"GC-4", "deleted", broken, func(t *tape) {
		a, p := t.dependent()
		b := t.becomes(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, b, nil)
		t.collects(p, a)
	}},
	{"GC-4", "adopted again unchecked, then deleted", broken, func(t *tape) { readopted(t, false) }},
	{"GC-4", "adopted again in the gap, then deleted", committed, func(t *tape) { readopted(t, true) }},
	{"GC-4", "not seen, then deleted", committed, func(t *tape) {
		a, p := t.owning(1)
		b := t.becomes(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, b, nil)
		t.collects(p, a)
	}},
	{"GC-4", "its controller's finalizer deletes it", kept, func(t *tape) {
		a, p := t.appWithPod()
		b := t.becomes(a, a.dying(orphanFinalizer, cleanup))
		t.commit("op", "delete", b, p, nil)
	}},
	{"GC-4", "its controller deletes it without a finalizer", broken, func(t *tape) {
		a, p := t.appWithPod()
		b := t.becomes(a, a.dying(orphanFinalizer))
		t.commit("op", "delete", b, p, nil)
	}},
	{"GC-4", "deleted for the next owner", kept, func(t *tape) {
		a := set("a", 1)
		p := orphaned(t, a)
		b := rc("b", 1)
		t.exist(b)
		q := t.adopts("rc", b, p)
		t.user(b, nil)
		t.collects(q, b)
	}},
	{"GC-5", "the collector was shown the owner", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		t.collects(p, a)
	}},
	{"GC-5", "looked", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		t.refuse("gc", "get", nil, a, nil, 404, "not found")
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-5", "found a recreated object", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		b := t.stored(a.again())
		t.read("gc", nil, b)
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-5", "did not look", broken, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-5", "the owner is there", broken, func(t *tape) {
		_, p := t.dependent()
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-5", "another owner since", committed, func(t *tape) {
		a, p := t.dependent()
		b := rc("b", 1)
		t.user(a, nil)
		t.exist(b)
		t.deliver("gc", a, nil)
		q := t.becomes(p, p.owned(controlledBy(b)))
		t.commit("gc", "delete", nil, q, nil).Saw = p
	}},
	{"GC-6", "resolved", kept, func(t *tape) {
		p := pod("p", set("ghost", 1))
		t.exist(p)
		t.refuse("gc", "get", nil, set("ghost", 1), nil, 404, "not found")
		t.commit("gc", "delete", nil, p, nil)
		t.settled()
	}},
	{"GC-6", "unresolved", broken, func(t *tape) { t.exist(pod("p", set("ghost", 1))); t.settled() }},
	{"GC-6", "a circle", broken, func(t *tape) {
		a, b := set("a", 0), set("b", 0)
		t.exist(a.owned(controlledBy(b)).dying(foregroundFinalizer),
			b.owned(controlledBy(a)).dying(foregroundFinalizer))
		t.settled()
	}},
	{"GC-7", "out of reach", kept, func(t *tape) {
		a := set("a", 0)
		a.Namespace = "prod"
		p := pod("p", a)
		t.exist(a, p)
		t.refuse("gc", "get", nil, set("a", 0), nil, 404, "not found")
		t.commit("gc", "delete", nil, p, nil)
		t.settled()
	}},
	{"GC-7", "kept from afar", broken, func(t *tape) {
		a := set("a", 0)
		a.Namespace = "prod"
		t.exist(a, pod("p", a))
		t.settled()
	}},
	{"GC-7", "no owner at all", broken, func(t *tape) {
		p := pod("p", nil)
		t.exist(p)
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-7", "another within reach", broken, func(t *tape) {
		a, b := set("a", 0), set("b", 1)
		a.Namespace = "prod"
		p := pod("p", nil).owned(plain(a), controlledBy(b))
		t.exist(a, b, p)
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-8", "the waiting one is dropped", kept, func(t *tape) {
		a, b, p := twoOwners(t)
		t.commit("gc", "patch", nil, p, p.owned(controlledBy(b)))
		t.commit("gc", "patch", nil, a, nil)
		t.settled()
	}},
	{"GC-8", "deleted for the waiting one", broken, func(t *tape) {
		_, _, p := twoOwners(t)
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-8", "the other one waited when it was read, and was deleted once more", committed, func(t *tape) {
		a, b, p := twoOwners(t)
		w := t.becomes(b, b.dying(foregroundFinalizer))
		t.read("gc", nil, a)
		t.read("gc", nil, w)
		t.user(w, b.dying(orphanFinalizer))
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"GC-8", "still waiting", broken, func(t *tape) { twoOwners(t); t.settled() }},
	{"GC-9", "by uid", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		t.collects(p, a)
	}},
	{"GC-9", "by name", broken, func(t *tape) {
		a, p := t.dependent()
		t.user(a, nil)
		t.collects(p, a).Guards.UID = false
	}},
})

// readopted records that a set adopts its pod again after the garbage collector has orphaned it. Then the garbage
// collector deletes the pod, because the set is gone.
func readopted(t *tape, looked bool) {
	a := set("a", 1)
	t.start("rs", a)
	if looked {
		t.read("rs", a, a)
	}
	p := orphaned(t, a)
	q := p.owned(controlledBy(a))
	t.commit("rs", "patch", a, p, q)
	t.commit("gc", "patch", nil, a.dying(orphanFinalizer), nil)
	t.collects(q, a)
}

// twoOwners stores a pod for which one owner waits. The other owner keeps the pod.
func twoOwners(t *tape) (waiting, other, p *thing) {
	a, b := set("a", 0), set("b", 1)
	p = pod("p", nil).owned(plain(a), controlledBy(b))
	t.exist(a, b, p)
	w := t.becomes(a, a.dying(foregroundFinalizer))
	return w, b, p
}
