package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
)

// adopts has a set adopt a pod in a sync of its own, as it should be done.
func (t *tape) adopts(process string, owner, p *thing) *thing {
	q := p.owned(append(p.OwnerReferences, controlledBy(owner))...)
	t.sync(process, owner, func() { t.commit(process, "patch", owner, p, q) })
	return q
}

var apiStories = []story{
	{"API-1", "one", kept, func(t *tape) { a := set("a", 1); t.exist(a, pod("p", a)) }},
	{"API-1", "two", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		t.exist(a, b, pod("p", a).owned(controlledBy(a), controlledBy(b)))
	}},
	{"API-2", "refused behind a controller", kept, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", a)
		t.exist(a, b, p)
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
		a, b := set("a", 1), rc("b", 1)
		p := pod("p", nil)
		t.exist(a, b, p)
		q := t.adopts("rs", a, p)
		t.refuse("rc", "patch", b, q, p, 422, secondController)
	}},
	{"API-4", "the loser lands", broken, func(t *tape) {
		a, b := set("a", 1), rc("b", 1)
		p := pod("p", nil)
		t.exist(a, b, p)
		q := t.adopts("rs", a, p)
		t.sync("rc", b, func() { t.commit("rc", "patch", b, q, q.owned(controlledBy(b))).Saw = p })
	}},
	{"API-5", "released after a restart, not matching", kept, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a)
		t.exist(a, p)
		q := p.labelled("other")
		t.user(p, q)
		t.fault("rs", "restart").Incarnation = 1
		t.commit("rs", "patch", a, q, q.owned()).Incarnation = 1
	}},
	{"API-5", "released after a restart, matching", broken, func(t *tape) {
		a := set("a", 1)
		p := pod("p", a)
		t.exist(a, p)
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
}

var lawStories = []story{
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
	{"LAW-1", "with a reference that does not control", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.commit("rs", "create", a, nil, pod("p", nil).owned(plain(a)))
	}},
	{"LAW-1", "the server drops the field", kept, func(t *tape) {
		a, q := set("a", 1), pod("q", nil)
		t.exist(a, q)
		t.fault(Server, "downgrade")
		t.commit("rs", "create", a, nil, pod("p", nil).owned(plain(a)))
		t.commit("rs", "patch", a, q, q.owned(plain(a)))
	}},
	{"LAW-1b", "an orphan", kept, func(t *tape) {
		a, p := set("a", 1), pod("p", nil)
		t.exist(a, p)
		t.adopts("rs", a, p)
	}},
	{"LAW-1b", "another's", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", a)
		t.exist(a, b, p)
		t.sync("rs", b, func() { t.commit("rs", "update", b, p, p.owned(controlledBy(b))) })
	}},
	{"LAW-1b", "another's by now", committed, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", nil)
		t.exist(a, b, p)
		q := p.owned(controlledBy(a))
		t.user(p, q)
		t.sync("rs", b, func() { t.commit("rs", "update", b, q, q.owned(controlledBy(b))).Saw = p })
	}},
	{"LAW-2", "its own", kept, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a)
		t.exist(a, p)
		t.commit("rs", "delete", a, p, nil)
	}},
	{"LAW-2", "another's", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p)
		t.commit("rs", "delete", a, p, p.dying())
	}},
	{"LAW-2", "nobody's", broken, func(t *tape) {
		a, p := set("a", 0), pod("p", nil)
		t.exist(a, p)
		t.commit("rs", "delete", a, p, nil)
	}},
	{"LAW-2", "blind", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p)
		t.commit("rs", "delete", a, p, nil).Saw = nil
	}},
	{"LAW-2", "another's by now", committed, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p)
		t.commit("rs", "delete", a, p, nil).Saw = p.owned(controlledBy(a))
	}},
	{"LAW-2", "adoption that edits too", broken, func(t *tape) {
		a, p := set("a", 1), pod("p", nil)
		t.exist(a, p)
		q := p.owned(controlledBy(a))
		q.Node = "n1"
		t.sync("rs", a, func() { t.commit("rs", "patch", a, p, q) })
	}},
	{"LAW-2", "takes back a plain reference", kept, func(t *tape) {
		a, p := set("a", 0), pod("p", nil).labelled("other")
		p.OwnerReferences = []metav1.OwnerReference{plain(a)}
		t.exist(a, p)
		t.commit("rs", "patch", a, p, p.owned())
	}},
	{"LAW-2", "the kubelet", kept, func(t *tape) {
		p := pod("p", nil)
		t.exist(p)
		t.commit("kubelet", "delete", nil, p, nil)
	}},
	{"LAW-3", "counts its own", kept, func(t *tape) {
		a := set("a", 1)
		p := pod("p", a)
		t.exist(a, p)
		t.show("rs", a)
		t.deliver("rs", nil, p, "default/a")
		t.sync("rs", a, func() {
			t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Counted = 1 })).Subresource = "status"
		})
		t.settled()
	}},
	{"LAW-3", "counts one it has just made", kept, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.show("rs", a)
		t.sync("rs", a, func() {
			t.commit("rs", "create", a, nil, pod("p", a))
			t.commit("rs", "update", a, a, a.as(func(o *thing) { o.Counted = 1 })).Subresource = "status"
		})
	}},
	{"LAW-3", "counts another's in its status", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p)
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
	{"LAW-3", "says so at rest", broken, func(t *tape) {
		a := set("a", 0)
		a.Counted = 1
		t.exist(a)
		t.settled()
	}},
}

var fightStories = []story{
	{"NOFIGHT-1", "quiet", kept, func(t *tape) { t.settled() }},
	{"NOFIGHT-1", "a cycle", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.Fighting, Reason: fight.CycleReason([]int{3, 5})})
	}},
	{"NOFIGHT-2", "one adoption", kept, func(t *tape) {
		a, p := set("a", 1), pod("p", nil)
		t.exist(a, p)
		t.adopts("rs", a, p)
	}},
	{"NOFIGHT-2", "there and back", broken, func(t *tape) {
		a, b := set("a", 1), rc("b", 1)
		p := pod("p", nil)
		t.exist(a, b, p)
		q := t.adopts("rs", a, p)
		r := q.owned()
		t.commit("rs", "patch", a, q, r)
		t.adopts("rc", b, r)
	}},
	{"NOFIGHT-2", "there and back after a crash", broken, func(t *tape) { t.back(false) }},
	{"NOFIGHT-2", "there and back on an older list after a crash", committed, func(t *tape) { t.back(true) }},
	{"NOFIGHT-3", "as many as wanted", kept, func(t *tape) {
		a, b := set("a", 1), rc("b", 2)
		t.exist(a, b, pod("p", a), pod("q", b), pod("r", b))
		dead := pod("dead", b)
		dead.Failed = true
		t.exist(dead)
		t.settled()
	}},
	{"NOFIGHT-3", "one too many", broken, func(t *tape) {
		a, b := set("a", 1), rc("b", 0)
		t.exist(a, b, pod("p", a), pod("q", b))
		t.settled()
	}},
	{"NOFIGHT-3", "somebody is down", kept, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "crash")
		t.settled()
	}},
	{"NOFIGHT-3", "up again in another generation", broken, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "crash")
		t.fault("rs", "switch")
		t.settled()
	}},
	{"NOFIGHT-3", "what it was kept from seeing it sees after a restart", broken, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "hold").Object.Kind = "Pod"
		t.fault("rs", "restart")
		t.settled()
	}},
	{"NOFIGHT-3", "nobody is there to do it", kept, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "stop")
		t.settled()
	}},
	{"NOFIGHT-3", "somebody is kept from seeing", kept, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "hold").Object.Kind = "Pod"
		t.settled()
	}},
}

var restStories = []story{
	{"EXACT-7", "at rest", kept, func(t *tape) { t.settled() }},
	{"EXACT-7", "given up", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.Unsettled, Message: "no write in 20000 steps"})
	}},
	{"EXACT-7b", "an error is no panic", kept, func(t *tape) {
		t.add(sim.Record{Op: sim.SyncEnd, Process: "rs", Message: "no luck"})
	}},
	{"EXACT-7b", "panics", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.SyncEnd, Process: "rs", Reason: "panic", Message: "panic in rs"})
	}},
}

// back has a set's controller let go of what it had adopted before a crash, and
// take it back; it may have gone by a list from before the pod's labels came back.
func (t *tape) back(older bool) {
	a, p := set("a", 1), pod("p", nil)
	t.exist(a, p)
	q := t.adopts("rs", a, p)
	saw := q.labelled("other")
	if !older {
		saw = q
	}
	t.fault("rs", "crash")
	t.fault("rs", "restart").Incarnation = 1
	r := q.owned()
	c := t.commit("rs", "patch", a, q, r)
	c.Incarnation, c.Saw = 1, saw
	t.commit("rs", "patch", a, r, r.owned(controlledBy(a))).Incarnation = 1
}
