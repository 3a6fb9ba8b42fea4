package law

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// adopts records that a controller adopts a pod in a reconcile, after a live read of the owner.
func (t *tape) adopts(process string, owner, p *thing) *thing {
	q := p.owned(append(p.OwnerReferences, controlledBy(owner))...)
	t.sync(process, owner, func() { t.commit(process, "patch", owner, p, q) })
	return q
}

var _ = tells([]story{
	{"API-1", "one", kept, func(t *tape) { a := set("a", 1); t.exist(a, pod("p", a)) }},
	{"API-1", "two", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		t.exist(a, b, pod("p", a).owned(controlledBy(a), controlledBy(b)))
	}},
	{"API-2", "refused behind a controller", kept, func(t *tape) {
		_, b, p := t.rivals("a")
		t.refuse("rs", "patch", b, p, pod("p", nil), 422, secondController+". Found more")
	}},
	{"API-2", "refused behind a plain owner", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", nil).owned(plain(a))
		t.exist(a, b, p)
		t.refuse("rs", "patch", b, p, p, 422, "Pod is invalid: "+secondController)
	}},
	{"API-3", "complete", kept, func(t *tape) { a := set("a", 1); t.exist(a, pod("p", nil).owned(plain(a))) }},
	{"API-3", "no uid", broken, func(t *tape) {
		t.exist(pod("p", nil).owned(metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "x"}))
	}},
	{"API-3", "an event", broken, func(t *tape) { t.exist(pod("p", nil).owned(plain(object("Event", "e")))) }},
	{"API-4", "the loser is refused", kept, func(t *tape) {
		a, b, p := t.contested()
		q := t.adopts("rs", a, p)
		t.refuse("rc", "patch", b, q, p, 422, secondController)
	}},
	{"API-4", "the loser lands", broken, func(t *tape) {
		a, b, p := t.contested()
		q := t.adopts("rs", a, p)
		t.sync("rc", b, func() { t.commit("rc", "patch", b, q, q.owned(controlledBy(b))).Saw = p })
	}},
	{"API-5", "released after a restart, not matching", kept, func(t *tape) {
		a, p := t.owning(0)
		q := t.becomes(p, p.labelled("other"))
		t.fault("rs", "restart").Incarnation = 1
		t.commit("rs", "patch", a, q, q.owned()).Incarnation = 1
	}},
	{"API-5", "released after a restart, matching", broken, func(t *tape) {
		a, p := t.owning(1)
		t.fault("rs", "restart").Incarnation = 1
		t.commit("rs", "patch", a, p, p.owned()).Incarnation = 1
	}},
	{"API-5", "released after a restart, as the selector was before the crash", committed, func(t *tape) {
		a := set("a", 1)
		a.Selector = map[string]string{"app": "other"}
		p := pod("p", a)
		t.exist(a, p)
		b := a.as(func(o *thing) { o.Selector = p.Labels })
		t.user(a, b)
		t.fault("rs", "restart").Incarnation = 1
		t.commit("rs", "patch", a, p, p.owned()).Incarnation = 1
	}},
	{"API-6", "adopted by a list that was not written before", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.sync("rs", a, func() { t.commit("rs", "update", a, p, p.owned(controlledBy(a))) })
	}},
	{"API-6", "a list in the place of the winner's", broken, func(t *tape) {
		a, b, p := t.contested()
		q := t.adopts("rs", a, p)
		t.sync("rc", b, func() { t.commit("rc", "update", b, q, q.owned(controlledBy(b))).Saw = p })
	}},
})

var _ = tells([]story{
	{"LAW-1", "with a ControllerRef", kept, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.commit("rs", "create", a, nil, pod("p", a))
	}},
	{"LAW-1", "without", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.commit("rs", "create", a, nil, pod("p", nil))
	}},
	{"LAW-1", "for the owner that was recreated during the reconcile", kept, func(t *tape) {
		a := t.appears("rs", set("a", 1))
		t.sync("rs", a, func() {
			t.shows("rs", a, nil)
			again := t.appears("rs", a.again())
			t.commit("rs", "create", a, nil, pod("p", again))
		})
	}},
	{"LAW-1", "for a recreated owner that the cache does not show", broken, func(t *tape) {
		a := t.appears("rs", set("a", 1))
		t.sync("rs", a, func() {
			t.shows("rs", a, nil)
			again := t.stored(a.again())
			t.commit("rs", "create", a, nil, pod("p", again))
		})
	}},
	{"LAW-1", "without, for itself", kept, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.commit("rs", "create", a, nil, pod("itself", nil))
	}},
	{"LAW-1", "with a reference that does not control", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.commit("rs", "create", a, nil, pod("p", nil).owned(plain(a)))
	}},
	{"LAW-1", "a reference to its own dependent", broken, func(t *tape) {
		a := set("a", 1)
		p := pod("p", a)
		t.exist(a, p)
		t.commit("rs", "patch", a, a, a.owned(plain(p)))
	}},
	{"LAW-1", "a reference to its own dependent that the user has written", kept, func(t *tape) {
		a := set("a", 1)
		p := pod("p", a)
		t.exist(a, p, pod("q", a))
		b := a.owned(plain(p))
		t.user(a, b)
		t.commit("rs", "patch", a, b, b.labelled("other"))
	}},
	{"LAW-1", "a reference to another's dependent", kept, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p, pod("q", a))
		t.commit("rs", "patch", a, a, a.owned(plain(p)))
	}},
	{"LAW-1", "the server drops the field", kept, func(t *tape) {
		a, q := set("a", 1), pod("q", nil)
		t.exist(a, q)
		t.fault(Server, "downgrade")
		t.commit("rs", "create", a, nil, pod("p", nil).owned(plain(a)))
		t.commit("rs", "patch", a, q, q.owned(plain(a)))
	}},
	{"LAW-1b", "an orphan", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.adopts("rs", a, p)
	}},
	{"LAW-1b", "another's", broken, func(t *tape) {
		_, b, p := t.rivals("a")
		t.sync("rs", b, func() { t.commit("rs", "update", b, p, p.owned(controlledBy(b))) })
	}},
	{"LAW-1b", "another's by now", committed, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", nil)
		t.exist(a, b, p)
		q := t.becomes(p, p.owned(controlledBy(a)))
		t.sync("rs", b, func() { t.commit("rs", "update", b, q, q.owned(controlledBy(b))).Saw = p })
	}},
	{"LAW-2", "its own", kept, func(t *tape) {
		a, p := t.owning(0)
		t.commit("rs", "delete", a, p, nil)
	}},
	{"LAW-2", "another's", broken, func(t *tape) {
		a, _, p := t.rivals("b")
		t.commit("rs", "delete", a, p, p.dying())
	}},
	{"LAW-2", "without an owner", broken, func(t *tape) {
		a, p := t.orphan(0)
		t.commit("rs", "delete", a, p, nil)
	}},
	{"LAW-2", "blind", broken, func(t *tape) {
		a, _, p := t.rivals("b")
		t.commit("rs", "delete", a, p, nil).Saw = nil
	}},
	{"LAW-2", "another's by now", committed, func(t *tape) {
		a, _, p := t.rivals("b")
		t.commit("rs", "delete", a, p, nil).Saw = p.owned(controlledBy(a))
	}},
	{"LAW-2", "takes back a plain reference", kept, func(t *tape) {
		a, p := set("a", 0), pod("p", nil).labelled("other")
		p.OwnerReferences = []metav1.OwnerReference{plain(a)}
		t.exist(a, p)
		t.commit("rs", "patch", a, p, p.owned())
	}},
	{"LAW-3", "counts its own", kept, func(t *tape) {
		a, p := t.owning(1)
		t.show("rs", a)
		t.deliver("rs", nil, p, "default/a")
		t.sync("rs", a, func() {
			t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Counted = 1 })).Subresource = "status"
		})
		t.settled()
	}},
	{"LAW-3", "counts one it has just made", kept, func(t *tape) {
		a, _ := t.family(1)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a))
			t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Counted = 1 })).Subresource = "status"
		})
	}},
	{"LAW-3", "counts another's in its status", broken, func(t *tape) {
		a, b, p := t.rivals("b")
		t.show("rs", a, b)
		t.deliver("rs", nil, p, "default/b")
		t.sync("rs", a, func() {
			t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Counted = 1 })).Subresource = "status"
		})
	}},
	{"LAW-3", "is content with another's", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		t.exist(a, b, pod("p", b))
		t.settled()
	}},
	{"LAW-3", "says so once settled", broken, func(t *tape) {
		a := set("a", 0)
		a.Counted = 1
		t.exist(a)
		t.settled()
	}},
})
