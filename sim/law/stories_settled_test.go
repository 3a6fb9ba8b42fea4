package law

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
)

var _ = tells([]story{
	{"NOFIGHT-1", "quiet", kept, func(t *tape) { t.settled() }},
	{"NOFIGHT-1", "a cycle", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.Fighting, Reason: fight.CycleReason([]int{3, 5})})
	}},
	{"NOFIGHT-2", "one adoption", kept, func(t *tape) {
		a, p := t.orphan(1)
		t.adopts("rs", a, p)
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
	{"NOFIGHT-3", "a process is down", kept, func(t *tape) {
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
	{"NOFIGHT-3", "no controller runs for the owner", kept, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "stop")
		t.settled()
	}},
	{"NOFIGHT-3", "events of a process are withheld", kept, func(t *tape) {
		t.exist(set("a", 1))
		t.fault("rs", "hold").Object.Kind = "Pod"
		t.settled()
	}},
})

var _ = tells([]story{
	{"EXACT-7", "the world settled", kept, func(t *tape) { t.settled() }},
	{"EXACT-7", "given up", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.Unsettled, Message: "no write in 20000 steps"})
	}},
	{"EXACT-7b", "an error is no panic", kept, func(t *tape) {
		t.add(sim.Record{Op: sim.SyncEnd, Process: "rs", Message: "no luck"})
	}},
	{"EXACT-7b", "panics", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.SyncEnd, Process: "rs", Reason: "panic", Message: "panic in rs"})
	}},
})

// back records that a controller releases a pod that it had adopted before a crash, and adopts it again. older is set
// if it had read the pod with labels that do not match.
func (t *tape) back(older bool) {
	a, p := t.orphan(1)
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

// chargedBetween records that a pod passes from one owner to another. Between release and adoption, the server writes
// the usage of a quota.
func (t *tape) chargedBetween() {
	a, b, p, q := set("a", 1), rc("b", 1), pod("p", nil), pod("other", nil)
	t.exist(a, b, p, q)
	mine := t.adopts("rs", a, p)
	free := mine.owned()
	t.commit("rs", "patch", a, mine, free)
	t.commit(Server, "update", nil, q, q)
	t.adopts("rc", b, free)
}

// Stories of owners for which the server forbids new dependents.
var _ = tells([]story{
	{"NOFIGHT-3", "more is forbidden", kept, func(t *tape) { t.forbidden(2); t.settled() }},
	{"NOFIGHT-3", "more was forbidden, and another client has written since", broken, func(t *tape) {
		t.forbidden(2)
		t.exist(pod("other", nil))
		t.settled()
	}},
	{"NOFIGHT-3", "more was forbidden, and the controller does not retry after another client has written", broken, func(t *tape) {
		t.forbidden(2)
		was, is := pod("other", nil), pod("other", nil)
		t.exist(was)
		is.Failed = true
		t.commit("kubelet", "update", nil, was, is)
		t.settled()
	}},
	{"NOFIGHT-3", "more is forbidden, but there are too many", broken, func(t *tape) {
		a := t.forbidden(2)
		t.commit("rs", "create", a, nil, pod("p", a))
		t.commit("rs", "create", a, nil, pod("q", a))
		t.settled()
	}},
	{"WRITE-8", "forbidden, and tried again", kept, func(t *tape) { t.forbidden(2); t.settled() }},
	{"WRITE-8", "forbidden, and never tried again", broken, func(t *tape) { t.forbidden(1); t.settled() }},
	{"LAW-3", "lacks what is forbidden, beside what it selects and does not own", kept, func(t *tape) {
		b := rc("b", 1)
		t.exist(b, pod("theirs", b))
		t.forbidden(2)
		t.settled()
	}},
})

// forbidden records that a set's controller tries to create a pod, and is refused each time.
func (t *tape) forbidden(tries int) *thing {
	a, _ := t.family(1)
	for range tries {
		t.start("rs", a)
		t.refuse("rs", "create", a, pod("p", a), nil, 403, "exceeded quota")
		t.end("rs", a, "exceeded quota")
		t.at += 5e6
	}
	return a
}

// namespace stores a namespace, a pod and a set.
func (t *tape) namespace() (ns, p, s *thing) {
	ns = object("Namespace", "default")
	ns.Namespace = ""
	p, s = pod("p", nil), set("a", 0)
	s.Labels, s.Selector = map[string]string{"app": "other"}, map[string]string{"app": "other"}
	t.exist(ns, p, s)
	return ns, p, s
}

var _ = tells([]story{
	{"NS-1", "emptied, pods first", kept, func(t *tape) {
		ns, p, s := t.namespace()
		dying := ns.dying()
		t.user(ns, dying)
		t.commit("ns", "deletecollection", nil, p, nil)
		t.commit("ns", "deletecollection", nil, s, nil)
		t.commit("ns", "update", nil, dying, nil)
		t.settled()
	}},
	{"NS-1", "pods not first", broken, func(t *tape) {
		ns, _, s := t.namespace()
		t.user(ns, ns.dying())
		t.commit("ns", "deletecollection", nil, s, nil)
	}},
	{"NS-1", "goes too early", broken, func(t *tape) {
		ns, p, _ := t.namespace()
		dying := ns.dying()
		t.user(ns, dying)
		t.commit("ns", "deletecollection", nil, p, nil)
		t.commit("ns", "update", nil, dying, nil)
	}},
	{"NS-1", "of a namespace that is not terminating", broken, func(t *tape) {
		_, p, _ := t.namespace()
		t.commit("ns", "deletecollection", nil, p, nil)
	}},
	{"NS-1", "stays empty", broken, func(t *tape) {
		ns := object("Namespace", "empty")
		ns.Namespace = ""
		t.exist(ns)
		t.user(ns, ns.dying())
		t.settled()
	}},
})

// second returns a second controller of Apps, which owns Secrets.
func second() Actor {
	return Actor{Process: "second", Controller: "second", For: kind("App"), Owns: kinds("Secret"),
		Contract: Contract{
			Selector: selectorOf,
			Replicas: func(o runtime.Object) int { return o.(*thing).Replicas },
			Counted:  func(o runtime.Object) int { return o.(*thing).Counted },
		}}
}

// manned stores an App that wants Secrets of the second controller.
func (t *tape) manned(replicas int) *thing {
	a := object("App", "a")
	a.Replicas, a.Selector = replicas, a.Labels
	t.exist(a)
	return a
}

func secretOf(name string, owner *thing) *thing {
	s := pod(name, owner)
	s.Kind = "Secret"
	return s
}

// Stories of a kind with two controllers. The contract of the first one, the operator, has no number of replicas.
var _ = tells([]story{
	{"NOFIGHT-3", "the second controller of a kind has made what it was to", kept, func(t *tape) {
		a := t.manned(1)
		t.exist(secretOf("s", a), pod("p", a))
		t.settled()
	}},
	{"NOFIGHT-3", "the second controller of a kind has made none", broken, func(t *tape) {
		a := t.manned(1)
		t.exist(pod("p", a))
		t.settled()
	}},
	{"NOFIGHT-3", "the second controller of a kind is down, the first is not", kept, func(t *tape) {
		t.manned(1)
		t.fault("second", "crash")
		t.settled()
	}},
	{"NOFIGHT-3", "the first controller of a kind is down, the second is not", broken, func(t *tape) {
		t.manned(1)
		t.fault("op", "crash")
		t.settled()
	}},
	{"WRITE-3", "the first controller of a kind was off, the second is to blame", kept, func(t *tape) {
		a := t.manned(1)
		t.fault("op", "crash")
		t.fault("op", "restart")
		t.exist(secretOf("s", a))
		t.settled()
	}},
	{"LAW-3", "the second controller of a kind counts what is not its own", broken, func(t *tape) {
		a := t.manned(0).as(func(o *thing) { o.Counted = 1 })
		t.user(a, a)
		t.exist(secretOf("s", nil))
		t.settled()
	}},
	{"ORPHAN-1", "the second controller of a kind keeps what it does not select any more", broken, func(t *tape) {
		a := t.manned(1)
		t.exist(secretOf("s", a).labelled("db"))
		t.settled()
	}},
})

// The selector of an owner depends on the controller, and on the contract after an upgrade.
func TestSelectorIsOfItsController(t *testing.T) {
	all := func(runtime.Object) labels.Selector { return labels.Everything() }
	none := func(runtime.Object) labels.Selector { return labels.Nothing() }
	j := NewJudge([]Actor{{Process: "a", Controller: "a", For: kind("App"), Contract: Contract{Selector: all}},
		{Process: "b", Controller: "b", For: kind("App"), Contract: Contract{Selector: none}}}, All())
	owner, p := object("App", "a"), pod("p", nil)
	for i, want := range []bool{true, false} {
		if got := j.state.Selects(&j.state.processes[i].Actor, owner, p); got != want {
			t.Errorf("controller %d: selects %v, want %v", i, got, want)
		}
	}
	j.AddActor(Actor{Process: "a", Controller: "a", For: kind("App"), Contract: Contract{Selector: none}})
	if j.state.Selects(&j.state.processes[0].Actor, owner, p) {
		t.Error("the selector is still that of the contract before the upgrade")
	}
}
