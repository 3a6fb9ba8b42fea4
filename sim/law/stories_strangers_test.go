package law

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// What operators by strangers do, rightly and wrongly.
var strangerStories = []story{
	{"LAW-2", "its own with another owner, left as it is", kept, func(t *tape) {
		t.shares(func(p, b *thing) *thing { return p.labelled("other") })
	}},
	{"LAW-2", "its own, whose list of owners it writes anew", broken, func(t *tape) {
		t.shares(func(p, b *thing) *thing { return p.owned(p.OwnerReferences[0]) })
	}},
	{"LAW-2", "its own, whose other owner is gone", kept, func(t *tape) {
		t.shares(func(p, b *thing) *thing { t.user(b, nil); return p.owned(p.OwnerReferences[0]) })
	}},
	{"LAW-2", "its own, from a copy that did not have the other owner", committed, func(t *tape) {
		a, b := set("a", 1), object("ConfigMap", "b")
		p := pod("p", a)
		t.exist(a, b, p)
		q := p.owned(p.OwnerReferences[0], plain(b))
		t.user(p, q)
		t.sync("rs", a, func() { t.commit("rs", "update", a, q, q.owned(p.OwnerReferences[0])).Saw = p })
	}},
	{"LAW-2", "its own, with a reference that it put there itself", kept, func(t *tape) {
		a, b := set("a", 1), object("ConfigMap", "b")
		p := pod("p", a)
		t.exist(a, b, p)
		q := p.owned(p.OwnerReferences[0], plain(b))
		t.sync("rs", a, func() {
			t.commit("rs", "update", a, p, q)
			t.commit("rs", "update", a, q, q.owned(p.OwnerReferences[0]))
		})
	}},

	{"LAW-1", "by a key that is no name", kept, func(t *tape) { t.keyed("a.again") }},
	{"LAW-1", "by the key of another", broken, func(t *tape) { t.exist(set("c", 0)); t.keyed("c") }},
	{"LAW-1", "by the key of another that is gone", broken, func(t *tape) {
		c := set("c", 0)
		t.exist(c)
		t.show("rs", c)
		t.user(c, nil)
		t.deliver("rs", c, nil)
		t.keyed("c")
	}},

	{"EXACT-1", "listed live, and one too far", broken, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() {
			t.lists("rs", a)
			t.commit("rs", "delete", a, p[0], nil)
			t.commit("rs", "delete", a, p[1], nil)
		})
	}},
	{"EXACT-1", "listed live, and shown what its cache has not", committed, func(t *tape) {
		a, p := t.family(1, "p", "q")
		n := pod("n", a)
		t.exist(n)
		t.sync("rs", a, func() {
			t.lists("rs", a)
			t.commit("rs", "delete", a, p[0], nil)
			t.user(n, nil)
			t.commit("rs", "delete", a, p[1], nil)
		})
	}},
	{"EXACT-2", "listed live, and one too many", broken, func(t *tape) {
		a, _ := t.family(1, "p")
		t.sync("rs", a, func() { t.lists("rs", a); t.commit("rs", "create", a, nil, pod("q", a)) })
	}},

	{"EXACT-2", "read live, and gone before it acts on that", kept, func(t *tape) {
		a, _ := t.family(1, "p")
		two := a.as(func(o *thing) { o.Replicas = 2 })
		t.sync("rs", a, func() {
			t.user(a, two)
			t.read("rs", a, two)
			t.user(two, nil)
			t.deliver("rs", two, nil, "default/a")
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "gone before it acts, and one too many by all it read", broken, func(t *tape) {
		a, _ := t.family(1, "p", "q")
		two := a.as(func(o *thing) { o.Replicas = 2 })
		t.sync("rs", a, func() {
			t.user(a, two)
			t.read("rs", a, two)
			t.user(two, nil)
			t.deliver("rs", two, nil, "default/a")
			t.commit("rs", "create", a, nil, pod("n", a))
		})
	}},

	{"EXACT-5", "put back by an update without a version", committed, func(t *tape) { t.putsBack(false) }},
	{"EXACT-5", "an update with a version", kept, func(t *tape) { t.putsBack(true) }},

	{"LAW-1", "for an owner in another namespace", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		p := pod("p", a)
		p.Namespace = "other"
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, p) })
	}},

	{"FIN-1", "its own, that it does not declare", kept, func(t *tape) { t.hangs("op", "op") }},
	{"FIN-1", "one that another was seen to put on", broken, func(t *tape) { t.hangs("job", "op") }},
	{"EXACT-6", "a finalizer that it was seen to put on", broken, func(t *tape) {
		o := object("App", "a")
		t.exist(o)
		held := o.as(func(o *thing) { o.Finalizers = []string{"example.com/late"} })
		t.sync("op", o, func() { t.commit("op", "update", o, o, held) })
		t.user(held, held.dying("example.com/late"))
		t.settled()
	}},
	{"EXACT-6", "two that wait for each other", broken, func(t *tape) {
		t.exist(set("a", 0).dying(ownFinalizer, tracking))
		t.settled()
	}},
}

// shares has a set that owns a pod together with another object write to it.
func (t *tape) shares(change func(p, b *thing) *thing) {
	a, b := set("a", 1), object("ConfigMap", "b")
	p := pod("p", a)
	p = p.owned(p.OwnerReferences[0], plain(b))
	t.exist(a, b, p)
	t.sync("rs", a, func() { t.commit("rs", "update", a, p, change(p, b)) })
}

// putsBack has a set's controller label a pod that has been changed since it read it.
func (t *tape) putsBack(version bool) {
	a, p := t.family(1, "p")
	q := p[0].as(func(o *thing) { o.Node = "n1" })
	t.user(p[0], q)
	t.sync("rs", a, func() {
		r := t.commit("rs", "update", a, q, p[0].labelled("web"))
		r.Saw, r.Guards.ResourceVersion = p[0], version
	})
}

// hangs has one controller put a finalizer on an object and another take it off.
func (t *tape) hangs(puts, takes string) {
	o := object("App", "a")
	t.exist(o)
	held := o.as(func(o *thing) { o.Finalizers = []string{"example.com/late"} })
	t.commit(puts, "update", o, o, held)
	t.commit(takes, "update", o, held, held.as(func(o *thing) { o.Finalizers = nil }))
}

// keyed has a set's controller make a pod for it in the sync of some key.
func (t *tape) keyed(key string) {
	a := set("a", 1)
	t.exist(a)
	t.show("rs", a)
	t.commit("rs", "create", nil, nil, pod("p", a)).For = sim.Ref{Kind: "ReplicaSet", Namespace: "default", Name: key}
}

// lists has a controller list the pods live.
func (t *tape) lists(process string, owner *thing) {
	t.add(sim.Record{Op: sim.Read, Process: process, Verb: "list", Object: sim.Ref{Kind: "Pod", Namespace: "default"},
		For: owner.ref(), SawFor: owner})
}

// A breach is told so that one sees what is wrong.
func TestTold(t *testing.T) {
	gone, a := set("a", 0), set("a", 1).again()
	for _, c := range []struct {
		law, text string
		tell      func(t *tape)
	}{
		{"ADOPT-8", "treated as its own by a namesake of its owner rs/a", func(t *tape) {
			p := pod("p", gone)
			t.exist(a, p)
			t.sync("rs", a, func() { t.commit("rs", "delete", a, p, nil) })
		}},
		{"LAW-1", "created for rs/a, which is gone", func(t *tape) {
			t.commit("rs", "create", nil, nil, pod("p", gone)).For = sim.Ref{Kind: "ReplicaSet", Namespace: "default",
				Name: "a"}
		}},
		{"LAW-1", "created for another rs/a than the one that is being synced", func(t *tape) {
			t.exist(gone, set("b", 1))
			t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", gone)) })
		}},
		{"LAW-2", "takes off the reference to cm/b, which is there", func(t *tape) {
			t.shares(func(p, b *thing) *thing { return p.owned(p.OwnerReferences[0]) })
		}},
		{"EXACT-6", "rs/b stays terminating, held by " + ownFinalizer + " and " + tracking + " alone", func(t *tape) {
			t.exist(set("b", 0).dying(ownFinalizer, tracking))
			t.settled()
		}},
		{"NOFIGHT-3", "sts/s wants 2, owns 1 (1 Pod, 0 Revision); not owned: revision/stray", func(t *tape) {
			t.exist(object("Revision", "stray"))
			t.line(2, "s-0")
			t.settled()
		}},
	} {
		tp := &tape{}
		c.tell(tp)
		b := judge(tp).First()
		if b == nil || b.Law.ID != c.law || b.Text != c.text {
			t.Errorf("told %v, want %s: %s", b, c.law, c.text)
		}
	}
}

// What a live list did not show any more need not be counted.
func TestListedGone(t *testing.T) {
	tp := &tape{}
	a, p := tp.family(1, "p")
	tp.user(p[0], nil)
	tp.sync("rs", a, func() { tp.lists("rs", a); tp.commit("rs", "create", a, nil, pod("q", a)) })
	for _, b := range judge(tp).Breaches() {
		if b.Law.ID == "EXACT-2" {
			t.Error(b)
		}
	}
}
