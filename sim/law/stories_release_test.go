package law

import "testing"

var _ = tells([]story{
	{"ORPHAN-1", "owned by one whose selector nobody can read", kept, func(t *tape) {
		a := set("a", 1)
		a.Selector = nil
		t.exist(a, pod("p", a))
		t.settled()
	}},
	{"ORPHAN-1", "released without its finalizers", broken, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a).labelled("db").held(cleanup)
		t.exist(a, p)
		t.commit("rs", "patch", a, p, p.owned().held())
	}},
	{"ORPHAN-1", "released with its own finalizer taken off", kept, func(t *tape) {
		a := job("a")
		p := pod("p", a).labelled("db").held(tracking)
		t.exist(a, p)
		t.commit("job", "patch", a, p, p.owned().held())
	}},
	{"ORPHAN-1", "released though it matches", broken, func(t *tape) {
		a, p := t.owning(0)
		t.commit("rs", "patch", a, p, p.owned())
	}},
	{"ORPHAN-1", "released though it matches by now", committed, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a).labelled("db")
		q := p.labelled("web")
		t.exist(a, p)
		t.user(p, q)
		t.commit("rs", "patch", a, q, q.owned()).Saw = p
	}},
	{"ORPHAN-1", "not released, another controller is down", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a).labelled("db"))
		t.fault("rc", "crash")
		t.settled()
	}},
	{"ORPHAN-2", "its own child is gone, and it selects nothing", kept, func(t *tape) {
		a, p := t.appWithPod()
		t.user(p, nil)
		t.start("op", a)
		t.refuse("op", "update", a, p, p, 404, `pods "p" not found`)
		t.end("op", a, `pods "p" not found`)
	}},
	{"ADOPT-3", "its finalizer deletes what is its own", kept, func(t *tape) {
		t.cleansUp("op", app("a").dying(cleanup))
	}},
	{"ADOPT-3", "its declared finalizer does", kept, func(t *tape) { t.cleansUp("job", job("a").dying(tracking)) }},
	{"ADOPT-3", "deletes though another's finalizer holds it", broken, func(t *tape) {
		t.cleansUp("job", job("a").dying(cleanup))
	}},
	{"ADOPT-3", "deletes though only the collector's finalizer holds it", broken, func(t *tape) {
		t.cleansUp("op", app("a").dying(foregroundFinalizer))
	}},
	{"ADOPT-3", "its finalizer leaves behind what is its own", kept, func(t *tape) {
		t.leavesBehind(app("a").dying(cleanup), func(*thing) {})
	}},
	{"ADOPT-3", "leaves it behind and relabels it", broken, func(t *tape) {
		t.leavesBehind(app("a").dying(cleanup), func(p *thing) { p.Labels = map[string]string{"app": "db"} })
	}},
	{"ADOPT-3", "leaves it behind though no finalizer of its own holds the owner", broken, func(t *tape) {
		t.leavesBehind(app("a").dying(foregroundFinalizer), func(*thing) {})
	}},
})

// leavesBehind records that an operator removes its reference from a pod of its terminating owner. The function beside
// makes other changes to the pod in the same write.
func (t *tape) leavesBehind(a *thing, beside func(p *thing)) {
	p := pod("p", a)
	q := p.owned()
	beside(q)
	t.exist(a, p)
	t.commit("op", "update", a, p, q)
}

// cleansUp records that a controller deletes a pod of its terminating owner.
func (t *tape) cleansUp(process string, a *thing) {
	p := pod("p", a)
	t.exist(a, p)
	t.commit(process, "delete", a, p, nil)
}

var _ = tells([]story{
	{"FIN-1", "the collector takes its own off", kept, func(t *tape) {
		a := set("a", 0)
		b := a.dying(foregroundFinalizer, cleanup)
		t.exist(a)
		t.user(a, b)
		t.commit("gc", "patch", nil, b, b.held(cleanup))
	}},
	{"FIN-1", "the collector takes another's off", broken, func(t *tape) {
		b := t.stored(set("a", 0).dying(foregroundFinalizer, cleanup))
		t.commit("gc", "patch", nil, b, nil)
	}},
	{"FIN-1", "an operator takes its own off", kept, func(t *tape) {
		a := app("a").dying(cleanup)
		t.exist(a)
		t.commit("op", "update", a, a, nil)
	}},
	{"FIN-1", "an operator takes off what another declares", broken, func(t *tape) {
		a := app("a").dying(tracking)
		t.exist(a)
		t.commit("op", "update", a, a, nil)
	}},
	{"FIN-1", "a write over a finalizer it had not seen", broken, func(t *tape) {
		a := set("a", 0)
		b := a.held(cleanup)
		t.exist(a)
		t.user(a, b)
		t.commit("rs", "update", a, b, b.held()).Saw = a
	}},
	{"FIN-1", "one that it created the object with", kept, func(t *tape) {
		a, _ := t.family(1)
		p := pod("p", a).as(func(o *thing) { o.Finalizers = []string{cleanup} })
		t.commit("rs", "create", nil, nil, p)
		t.commit("rs", "update", nil, p, p.as(func(o *thing) { o.Finalizers = nil }))
	}},
	{"FIN-1", "a deletion by its policy", kept, func(t *tape) {
		a := app("a").held(orphanFinalizer)
		t.exist(a)
		t.commit("op", "delete", a, a, nil)
	}},
	{"GC-1", "cluster-scoped, not collected", broken, func(t *tape) { t.unscoped("Node") }},
	{"GC-1", "cluster-scoped, its owner would be in some namespace", kept, func(t *tape) { t.unscoped("ConfigMap") }},
	{"GC-1", "its owner is of a kind that nobody serves", kept, func(t *tape) {
		t.exist(pod("p", object("Widget", "w")))
		t.settled()
	}},
	{"GC-1", "its owner is of a kind of which no object was met", broken, func(t *tape) {
		t.exist(pod("p", object("Secret", "w")))
		t.settled()
	}},
	{"GC-1", "cuts a reference to a live owner", broken, func(t *tape) { t.cuts(set("b", 0)) }},
	{"GC-1", "cuts a reference to one that orphans", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, p, p.owned())
	}},
	{"GC-1", "cuts a reference to one that is to stay by now", committed, func(t *tape) {
		a, p := t.dependent()
		b := t.shows("gc", a, a.dying(orphanFinalizer, cleanup))
		t.user(b, b.held(cleanup))
		t.commit("gc", "patch", nil, p, p.owned())
	}},
	{"GC-1", "another controller is down", broken, func(t *tape) {
		a, _ := t.dependent()
		t.fault("rc", "crash")
		t.user(a, nil)
		t.settled()
	}},
	{"GC-3", "shown during the sync, before the request left", broken, func(t *tape) { t.lateDependent(0) }},
	{"GC-3", "shown after the request left", committed, func(t *tape) { t.lateDependent(-1) }},
})

// unscoped stores a cluster-scoped object whose owner is gone.
func (t *tape) unscoped(kind string) {
	o := object("Node", "n")
	o.Namespace = ""
	t.exist(o.owned(plain(object(kind, "gone"))))
	t.settled()
}

// cuts records that the garbage collector removes all references of a pod: to b, and to an owner that is gone.
func (t *tape) cuts(b *thing) {
	a := set("a", 0)
	p := pod("p", nil).owned(plain(a), plain(b))
	t.exist(b, p)
	t.show("gc", b, p)
	t.commit("gc", "patch", nil, p, p.owned())
}

// lateDependent records that the garbage collector receives a dependent during its work, and then removes the owner.
// The request for the removal was sent -left records before.
func (t *tape) lateDependent(left int) {
	a := set("a", 1)
	b := a.dying(orphanFinalizer)
	t.exist(a)
	t.show("gc", a)
	t.user(a, b)
	t.start("gc", nil)
	p := pod("p", a)
	t.exist(p)
	t.show("gc", p)
	r := t.commit("gc", "patch", nil, b, nil)
	r.Asked = r.Index + left
}

// If the garbage collector has removed the orphan finalizer too early, only GC-3 reports this. While another finalizer
// keeps the owner, the garbage collector may still orphan the dependents.
func TestPromisedLate(t *testing.T) {
	tp := &tape{}
	a := set("a", 1)
	p := pod("p", a)
	tp.exist(a, p)
	tp.show("gc", a) // but not the pod
	b := a.dying(orphanFinalizer, cleanup)
	tp.user(a, b)
	tp.start("gc", nil)
	tp.commit("gc", "patch", nil, b, b.held(cleanup))
	tp.show("gc", b.held(cleanup), p)
	tp.commit("gc", "patch", nil, p, p.owned())
	for _, b := range judge(tp).Violations() {
		if b.Law.ID != "GC-3" || b.Strength != Committed {
			t.Errorf("breaks another law: %s", b)
		}
	}
}
