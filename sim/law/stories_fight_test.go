package law

import (
	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
)

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
	{"NOFIGHT-2", "there and back, and the server has charged a quota", broken, func(t *tape) { t.chargedBetween() }},
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
	{"NOFIGHT-3", "up again in another era", broken, func(t *tape) {
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

// chargedBetween has an object go from one owner to another, and the server has written what a
// quota was charged since it was let go: nobody has acted in between.
func (t *tape) chargedBetween() {
	a, b, p, q := set("a", 1), rc("b", 1), pod("p", nil), pod("other", nil)
	t.exist(a, b, p, q)
	mine := t.adopts("rs", a, p)
	free := mine.owned()
	t.commit("rs", "patch", a, mine, free)
	t.commit(Server, "update", nil, q, q)
	t.adopts("rc", b, free)
}
