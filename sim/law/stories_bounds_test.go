package law

import "github.com/threelaws/threelaws/sim"

var boundsStories = []story{
	{"EXACT-11", "as many as are allowed", kept, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(2)) })
	}},
	{"EXACT-11", "more than are allowed", broken, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(3)) })
	}},
	{"EXACT-11", "more than are allowed, by its own doing in this sync", broken, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() {
			t.commit("vault", "update", v, p, p.threads(2))
			t.commit("vault", "update", v, q, q.threads(2))
		})
	}},
	{"EXACT-11", "more, with one that was not shown yet", committed, func(t *tape) {
		v, _, q := t.threaded()
		t.show("vault", v, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(3)) })
	}},
	{"EXACT-11", "more, with one that was shown in the middle of the sync", committed, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, q)
		t.sync("vault", v, func() {
			t.show("vault", p)
			t.commit("vault", "update", v, q, q.threads(3))
		})
	}},
	{"EXACT-11", "more, with one that its cache shows to have less", committed, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, p, p.threads(2)) })
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(2)) })
	}},
	{"EXACT-11", "more than are allowed by now", committed, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.user(v, v.threads(1))
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(2)) })
	}},

	{"EXACT-12", "counted once, though it is gone", kept, func(t *tape) {
		v := object("Vault", "v")
		p := pod("p", v)
		t.exist(v, p)
		t.user(p, nil)
		t.sync("vault", v, func() { t.commit("vault", "update", v, v, v.counting(1)) })
	}},
	{"EXACT-12", "counted not at all", kept, func(t *tape) {
		v := object("Vault", "v")
		t.exist(v, pod("p", v))
		t.settled()
	}},
	{"EXACT-12", "counted twice", broken, func(t *tape) {
		v := object("Vault", "v")
		one := v.counting(1)
		t.exist(v, pod("p", v))
		t.sync("vault", v, func() { t.commit("vault", "update", v, v, one) })
		t.sync("vault", one, func() { t.commit("vault", "update", one, one, one.counting(2)) })
	}},
	{"EXACT-12", "counted twice by a new life that was shown it as it was", committed, func(t *tape) {
		v := object("Vault", "v")
		p, one := pod("p", v), v.counting(1)
		t.exist(v, p)
		t.sync("vault", v, func() { t.commit("vault", "update", v, v, one) })
		t.user(p, nil)
		t.fault("vault", "crash")
		t.add(sim.Record{Op: sim.FaultHit, Process: "vault", Verb: "restart", Incarnation: 1})
		t.deliver("vault", nil, p).Incarnation = 1
		t.add(sim.Record{Op: sim.SyncStart, Process: "vault", For: one.ref(), SawFor: value(one), Incarnation: 1})
		t.commit("vault", "update", one, one, one.counting(2)).Incarnation = 1
	}},
	{"EXACT-12", "counted twice, as a life had it that was shown less than there was", committed, func(t *tape) {
		v := object("Vault", "v")
		one := v.counting(1)
		p := pod("p", v)
		t.exist(v, p)
		t.sync("vault", v, func() { t.commit("vault", "update", v, v, one) })
		for life := 1; life <= 2; life++ {
			t.fault("vault", "crash")
			t.add(sim.Record{Op: sim.FaultHit, Process: "vault", Verb: "restart", Incarnation: life})
			if life == 2 {
				t.deliver("vault", nil, p).Incarnation = life
			}
			t.add(sim.Record{Op: sim.SyncStart, Process: "vault", For: one.ref(), SawFor: value(one),
				Incarnation: life})
			t.commit("vault", "update", one, one, one.counting(life)).Incarnation = life
		}
	}},
	{"EXACT-12", "the user has counted another", kept, func(t *tape) {
		v := object("Vault", "v")
		one := v.counting(1)
		t.exist(v, pod("p", v))
		t.user(v, v.counting(7))
		t.user(v.counting(7), one)
		two := one.counting(7)
		t.sync("vault", one, func() { t.commit("vault", "update", one, one, two) })
	}},
}

func (o *thing) counting(n int) *thing { return o.as(func(o *thing) { o.Counted = n }) }

// threaded stores a vault that allows three threads, and Pods that have one each.
func (t *tape) threaded() (v, p, q *thing) {
	v = object("Vault", "v").threads(3)
	p, q = pod("p", v).threads(1), pod("q", v).threads(1)
	t.exist(v, p, q)
	return v, p, q
}

func (o *thing) threads(n int) *thing { return o.as(func(o *thing) { o.Threads = n }) }
