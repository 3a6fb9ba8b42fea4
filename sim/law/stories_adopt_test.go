package law

var _ = tells([]story{
	{"ADOPT-1", "matching", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.adopts("rs", a, p)
	}},
	{"ADOPT-1", "not matching", broken, func(t *tape) {
		a, p := set("a", 1), pod("p", nil).labelled("db")
		t.exist(a, p)
		t.adopts("rs", a, p)
	}},
	{"ADOPT-1", "in another namespace", broken, func(t *tape) {
		a, p := set("a", 1), pod("p", nil)
		p.Namespace = "prod"
		t.exist(a, p)
		t.adopts("rs", a, p)
	}},
	{"ADOPT-1", "not matching any more", committed, func(t *tape) {
		a, p := set("a", 1), pod("p", nil)
		q := p.labelled("db")
		t.exist(a, p)
		t.user(p, q)
		t.sync("rs", a, func() { t.commit("rs", "patch", a, q, q.owned(controlledBy(a))).Saw = p })
	}},
	{"ADOPT-2", "no orphan left", kept, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a), pod("q", nil).labelled("db"))
		t.settled()
	}},
	{"ADOPT-2", "an orphan left", broken, func(t *tape) {
		t.exist(set("a", 0), pod("p", nil))
		t.settled()
	}},
	{"ADOPT-3", "status", kept, func(t *tape) {
		a := set("a", 1).dying(foregroundFinalizer)
		t.exist(a)
		t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Node = "x" })).Subresource = "status"
	}},
	{"ADOPT-3", "creates", broken, func(t *tape) {
		a := set("a", 1).dying(foregroundFinalizer)
		t.exist(a)
		t.commit("rs", "create", a, nil, pod("p", a))
	}},
	{"ADOPT-3", "creates, not knowing", committed, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.user(a, a.dying(foregroundFinalizer))
		t.commit("rs", "create", a, nil, pod("p", a))
	}},
	{"ADOPT-3", "edits its own object", broken, func(t *tape) {
		a := set("a", 1).dying(foregroundFinalizer)
		t.exist(a)
		t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Node = "x" }))
	}},
	{"ADOPT-3", "deletes its own object again, with another policy", kept, func(t *tape) {
		a := set("a", 1).dying()
		t.exist(a)
		t.commit("rs", "delete", a, a, a.dying(foregroundFinalizer))
	}},
	{"ADOPT-4", "reads first", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.adopts("rs", a, p)
	}},
	{"ADOPT-4", "does not", broken, func(t *tape) {
		a, p := t.orphan(1)
		t.start("rs", a)
		t.commit("rs", "patch", a, p, p.owned(controlledBy(a)))
	}},
	{"ADOPT-4", "read in the sync before", broken, func(t *tape) {
		a, p := t.orphan(1)
		t.sync("rs", a, func() {})
		t.start("rs", a)
		t.commit("rs", "patch", a, p, p.owned(controlledBy(a)))
	}},
	{"ADOPT-4", "reads and does not mind", broken, func(t *tape) {
		a, p := t.orphan(1)
		t.start("rs", a)
		t.refuse("rs", "get", a, a, nil, 404, "not found")
		t.commit("rs", "patch", a, p, p.owned(controlledBy(a)))
	}},
	{"ADOPT-4", "gone since it read", committed, func(t *tape) {
		a, p := t.orphan(1)
		t.start("rs", a)
		t.read("rs", a, a)
		t.user(a, nil)
		t.commit("rs", "patch", a, p, p.owned(controlledBy(a)))
	}},
	{"ADOPT-5", "the living", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.adopts("rs", a, p)
	}},
	{"ADOPT-5", "the dying", broken, func(t *tape) {
		a, p := set("a", 1), pod("p", nil).dying("x")
		t.exist(a, p)
		t.adopts("rs", a, p)
	}},
	{"ADOPT-5", "dying since", committed, func(t *tape) {
		a, p := t.orphan(1)
		q := t.becomes(p, p.dying("x"))
		t.sync("rs", a, func() { t.commit("rs", "patch", a, q, q.owned(controlledBy(a))).Saw = p })
	}},
	{"ADOPT-6", "the loser lets be", kept, func(t *tape) { lostRace(t) }},
	{"ADOPT-6", "the loser deletes", broken, func(t *tape) {
		b, q := lostRace(t)
		t.commit("rc", "delete", b, q, nil)
	}},
	{"ADOPT-7", "another client adopts", kept, func(t *tape) {
		a, b := set("a", 1), rc("b", 1)
		p := orphaned(t, a)
		t.exist(b)
		t.adopts("rc", b, p)
	}},
	{"ADOPT-7", "the one being deleted adopts", broken, func(t *tape) {
		a := set("a", 1)
		p := orphaned(t, a)
		t.start("rs", a)
		t.commit("rs", "patch", a, p, p.owned(controlledBy(a)))
	}},
	{"ADOPT-7", "it had looked", committed, func(t *tape) {
		a := set("a", 1)
		t.start("rs", a)
		t.read("rs", a, a)
		p := orphaned(t, a)
		t.commit("rs", "patch", a, p, p.owned(controlledBy(a)))
	}},
	{"ADOPT-8", "adopts the orphans of an earlier object of its name", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.user(a, nil)
		b := t.stored(a.again())
		t.adopts("rs", b, p)
	}},
	{"ADOPT-8", "takes the dependents of an earlier object of its name for its own", broken, func(t *tape) {
		a, p := t.owning(1)
		t.user(a, nil)
		b := t.stored(a.again())
		t.commit("rs", "delete", b, p, nil)
	}},
	{"ADOPT-8", "writes the status of a recreated object", committed, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.user(a, nil)
		b := t.stored(a.again())
		t.commit("rs", "update", a, b, b.as(func(o *thing) { o.Counted = 1 })).Saw = nil
	}},
	{"ADOPT-8", "writes the status of a recreated object that its cache already has", committed, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.user(a, nil)
		b := t.stored(a.again())
		t.commit("rs", "patch", a, b, b.as(func(o *thing) { o.Counted = 1 })).Subresource = "status"
	}},
	{"ADOPT-8", "writes to a recreated object that its cache already has", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.user(a, nil)
		b := t.stored(a.again())
		t.commit("rs", "patch", a, b, b.labelled("x"))
	}},
})

// lostRace records that rs adopts a pod, and that rc then fails to adopt it.
func lostRace(t *tape) (loser, p *thing) {
	a, b := set("a", 1), rc("b", 1)
	p = pod("p", nil)
	t.exist(a, b, p)
	q := t.adopts("rs", a, p)
	t.sync("rc", b, func() { t.refuse("rc", "patch", b, q, p, 422, secondController) })
	return b, q
}

// orphaned records that the user deletes a set with the policy Orphan, and that the garbage collector removes the
// reference of its pod. The set stays.
func orphaned(t *tape, a *thing) *thing {
	p := pod("p", a)
	t.exist(a, p)
	t.show("gc", a, p)
	t.user(a, a.dying(orphanFinalizer))
	q := p.owned()
	t.commit("gc", "patch", nil, p, q)
	return q
}

var _ = tells([]story{
	{"ORPHAN-1", "released", kept, func(t *tape) {
		a, p := t.owning(0)
		q := t.becomes(p, p.labelled("db"))
		t.commit("rs", "patch", a, q, q.owned())
		t.settled()
	}},
	{"ORPHAN-1", "released with another's reference", broken, func(t *tape) {
		a, b := set("a", 0), set("b", 0)
		p := pod("p", nil).labelled("db").owned(controlledBy(a), plain(b))
		t.exist(a, b, p)
		t.commit("rs", "patch", a, p, p.owned())
	}},
	{"ORPHAN-2", "gone, no error", kept, func(t *tape) { lostRelease(t, "") }},
	{"ORPHAN-2", "gone, an error", broken, func(t *tape) { lostRelease(t, `release pod: pods "p" not found`) }},
	{"ORPHAN-3", "orphaned", kept, func(t *tape) {
		a := set("a", 1)
		orphaned(t, a)
		b := a.dying(orphanFinalizer)
		t.commit("gc", "patch", nil, b, nil)
		t.settled()
	}},
	{"ORPHAN-3", "left owned", broken, func(t *tape) {
		a, _ := t.owning(1)
		b := t.becomes(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, b, nil)
		t.settled()
	}},
	{"ORPHAN-3", "not collected", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a))
		t.user(a, nil)
		t.settled()
	}},
	{"ORPHAN-4", "any owner keeps", kept, func(t *tape) {
		a, b := set("a", 1), set("b", 0)
		p := pod("p", nil).owned(controlledBy(a), plain(b))
		t.exist(a, b, p)
		t.user(a, nil)
		t.commit("gc", "patch", nil, p, p.owned(plain(b)))
	}},
	{"ORPHAN-4", "only a ControllerRef keeps", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 0)
		p := pod("p", nil).owned(controlledBy(a), plain(b))
		t.exist(a, b, p)
		t.user(a, nil)
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"ORPHAN-4", "the owner waited when it was read, and was deleted once more", committed, func(t *tape) {
		a, b := set("a", 1), set("b", 0)
		p := pod("p", nil).owned(controlledBy(a), plain(b))
		w := b.dying(foregroundFinalizer)
		t.exist(a, w, p)
		t.user(a, nil)
		t.read("gc", nil, w)
		t.user(w, b.dying(orphanFinalizer))
		t.commit("gc", "delete", nil, p, nil)
	}},
	{"ORPHAN-4", "only a ControllerRef dangles", broken, func(t *tape) {
		a := set("a", 0)
		t.exist(a, pod("p", nil).labelled("db").owned(plain(a)))
		t.user(a, nil)
		t.settled()
	}},
})

// lostRelease records that a release finds the pod deleted, and that the reconcile ends with err.
func lostRelease(t *tape, err string) {
	a := set("a", 1)
	p := pod("p", a).labelled("db")
	t.exist(a, p)
	t.start("rs", a)
	t.user(p, nil)
	t.refuse("rs", "patch", a, p, p, 404, `pods "p" not found`)
	t.end("rs", a, err)
}
