package law

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// inUse is the finalizer of controllers that protect objects in use.
const inUse = "example.com/in-use"

var _ = plays(placing)

// placing returns three controllers: one with a dependent on each node, one that checks other objects than it writes,
// and one that shares its kind.
func placing() []Actor {
	return []Actor{
		{Process: "ds", Controller: "daemonset", For: kind("DaemonSet"), Owns: kinds("Pod"), Contract: Contract{Profile: Upstream,
			Identity: func(o runtime.Object) string { return o.(*thing).Node },
			AllowDuplicate: func(owner, a, b runtime.Object) bool {
				return owner.(*thing).Surge > 0 && a.(*thing).Name != b.(*thing).Name
			},
			Invariants: []*Invariant{{ID: "one-on-each-node", When: WhenSettled, Check: func(f *Facts) string {
				if have, want := len(f.Dependents), len(f.All("Node")); have != want {
					return "has " + strconv.Itoa(have) + " for " + strconv.Itoa(want) + " nodes"
				}
				for _, p := range f.Dependents {
					if f.Reconciled && p.(*thing).Failed {
						return "has one that failed, and was looked at since"
					}
				}
				return ""
			}}},
		}},
		{Process: "vp", Controller: "protection", Contract: Contract{Profile: Upstream, Finalizers: []string{inUse},
			FinalizerReason: func(o runtime.Object, all func(kind string) []runtime.Object) string {
				if o.(*thing).Failed {
					return "it says itself that it is"
				}
				for _, p := range all("Pod") {
					if p.(*thing).Node == o.(*thing).Name {
						return "it is in use"
					}
				}
				return ""
			}}},
		{Process: "pg", Controller: "podgc", Contract: Contract{Profile: Upstream, Invariants: []*Invariant{
			{ID: "keep-runnable-pods", When: AtWrite, Recent: time.Minute, Check: func(f *Facts) string {
				if f.Get("Node", "", f.Before.(*thing).Node) != nil && f.After != nil {
					return "its node is there"
				}
				return ""
			}}}}},
		{Process: "cleaner", Controller: "cleaner", For: kind("Policy"), Contract: Contract{
			MayEdit: kinds("ReplicationController"), Invariants: []*Invariant{
				{ID: "keep-runnable-pods", When: AtWrite, Check: func(f *Facts) string {
					if f.Before.(*thing).Name == "kept" {
						return "it is to be kept"
					}
					return ""
				}}}}},
		second(),
	}
}

func (t *tape) node(name string) *thing {
	n := object("Node", name)
	n.Namespace = ""
	t.exist(n)
	return n
}

var _ = tells([]story{
	{"EXACT-3", "the other was put there during the sync", committed, func(t *tape) { t.joins(true) }},
	{"EXACT-3", "the other was put there before the sync", broken, func(t *tape) { t.joins(false) }},
	{"EXACT-6", "nothing uses it", broken, func(t *tape) {
		t.exist(object("Disk", "d").dying(inUse), pod("p", nil).on("e"))
		t.settled()
	}},
	{"EXACT-6", "used, and with another finalizer that keeps nothing", kept, func(t *tape) {
		t.exist(object("Disk", "d").dying(inUse, ownFinalizer), pod("p", nil).on("d"))
		t.settled()
	}},

	{"one-on-each-node", "one for each", kept, func(t *tape) {
		t.node("n1")
		a := object("DaemonSet", "a")
		t.exist(a, pod("p", a).on("n1"))
		t.settled()
	}},
	{"one-on-each-node", "one is lacking", broken, func(t *tape) {
		t.node("n1")
		t.exist(object("DaemonSet", "a"), pod("p", nil).on("n1"))
		t.settled()
	}},
	{"one-on-each-node", "lacking while its controller is down", kept, func(t *tape) {
		t.node("n1")
		a := object("DaemonSet", "a")
		t.exist(a, pod("p", a).on("n1"))
		t.settled()
		t.node("n2")
		t.fault("ds", "crash")
		t.settled()
	}},

	{"one-on-each-node", "something failed that nobody was woken for", kept, func(t *tape) {
		t.node("n1")
		a := object("DaemonSet", "a")
		p := pod("p", a).on("n1").as(func(o *thing) { o.Failed = true })
		t.exist(a, p)
		t.deliver("ds", nil, a, "default/a")
		t.deliver("ds", nil, p, "default/a")
		t.sync("ds", a, func() {})
		t.deliver("ds", nil, object("Node", "n2"))
		t.settled()
	}},
	{"one-on-each-node", "something failed, and it was looked at since", broken, func(t *tape) {
		t.node("n1")
		a := object("DaemonSet", "a")
		p := pod("p", a).on("n1").as(func(o *thing) { o.Failed = true })
		t.exist(a, p)
		t.deliver("ds", nil, a, "default/a")
		t.deliver("ds", nil, p, "default/a")
		t.sync("ds", a, func() {})
		t.settled()
	}},

	{"keep-runnable-pods", "its node is gone", kept, func(t *tape) {
		p := pod("p", nil).on("n1")
		t.exist(p)
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
	{"keep-runnable-pods", "its node is there", broken, func(t *tape) {
		n, p := t.node("n1"), pod("p", nil).on("n1")
		t.exist(p)
		t.show("pg", n)
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
	{"keep-runnable-pods", "its node is there, but was not shown", broken, func(t *tape) {
		t.node("n1")
		p := pod("p", nil).on("n1")
		t.exist(p)
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
	{"keep-runnable-pods", "its node was not there when it looked", committed, func(t *tape) {
		p := pod("p", nil).on("n1")
		t.exist(p)
		n := object("Node", "n1")
		n.Namespace = ""
		t.refuse("pg", "get", nil, n, nil, 404, "not found")
		t.exist(n)
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
	{"keep-runnable-pods", "its node went a moment ago", broken, func(t *tape) {
		n, p := t.node("n1"), pod("p", nil).on("n1")
		t.exist(p)
		t.user(n, nil)
		t.refuse("pg", "get", nil, n, nil, 404, "not found")
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
	{"keep-runnable-pods", "its node went a while ago", kept, func(t *tape) {
		n, p := t.node("n1"), pod("p", nil).on("n1")
		t.exist(p)
		t.user(n, nil)
		t.at += 2 * time.Minute
		t.refuse("pg", "get", nil, n, nil, 404, "not found")
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
	{"keep-runnable-pods", "its node came back, and went again", kept, func(t *tape) {
		n, p := t.node("n1"), pod("p", nil).on("n1")
		t.exist(p)
		t.user(n, nil)
		t.at += 59 * time.Second
		again := n.again()
		t.exist(again)
		t.user(again, nil)
		t.at += 2 * time.Second
		t.commit("pg", "patch", nil, p, p.as(func(*thing) {}))
	}},
})

// joins records that a DaemonSet creates a pod for a node with another pod of the set. meanwhile is set if that pod was
// bound during the reconcile.
func (t *tape) joins(meanwhile bool) {
	a := object("DaemonSet", "a")
	p := pod("p", a)
	q := p.on("n1")
	t.exist(a, p)
	t.show("ds", a, p)
	bind := func() {
		t.commit("scheduler", "create", nil, p, q)
		t.deliver("ds", p, q, "default/a")
	}
	if !meanwhile {
		bind()
	}
	t.sync("ds", a, func() {
		if meanwhile {
			bind()
		}
		t.commit("ds", "create", a, nil, pod("r", a).on("n1"))
	})
}
