package law

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

var _ = tells([]story{
	{"stay-within-bounds", "as many as are allowed", kept, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(2)) })
	}},
	{"stay-within-bounds", "more than are allowed", broken, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(3)) })
	}},
	{"stay-within-bounds", "more than are allowed, by its own doing in this sync", broken, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() {
			t.commit("vault", "update", v, p, p.threads(2))
			t.commit("vault", "update", v, q, q.threads(2))
		})
	}},
	{"stay-within-bounds", "more, with one that was not shown yet", committed, func(t *tape) {
		v, _, q := t.threaded()
		t.show("vault", v, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, q, q.threads(3)) })
	}},
	{"stay-within-bounds", "more, with one that was shown in the middle of the sync", committed, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, q)
		t.sync("vault", v, func() {
			t.show("vault", p)
			t.commit("vault", "update", v, q, q.threads(3))
		})
	}},
	{"stay-within-bounds", "more, with one that its cache shows to have less", committed, func(t *tape) {
		v, p, q := t.threaded()
		t.show("vault", v, p, q)
		t.sync("vault", v, func() { t.commit("vault", "update", v, p, p.threads(2)) })
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
})

func (o *thing) counting(n int) *thing { return o.as(func(o *thing) { o.Counted = n }) }

// threaded stores a vault that allows three threads, and two Pods with one thread each.
func (t *tape) threaded() (v, p, q *thing) {
	v = object("Vault", "v").threads(3)
	p, q = pod("p", v).threads(1), pod("q", v).threads(1)
	t.exist(v, p, q)
	return v, p, q
}

func (o *thing) threads(n int) *thing { return o.as(func(o *thing) { o.Threads = n }) }

// busy stores a Job that may have most active pods at one time.
func (t *tape) busy(most int) *thing {
	a := job("a")
	a.Replicas = most
	t.exist(a)
	t.show("job", a)
	return a
}

// Stories of owners with a maximum number of dependents at one time, and of statuses that count inactive dependents.
var _ = tells([]story{
	{"EXACT-2", "one at a time", kept, func(t *tape) {
		a := t.busy(1)
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("p", a)) })
	}},
	{"EXACT-2", "a second one at one time", broken, func(t *tape) {
		a := t.busy(1)
		p := pod("p", a)
		t.appears("job", p, "default/a")
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "a second one, the first was not shown yet", committed, func(t *tape) {
		a := t.busy(1)
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("p", a)) })
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "two in one sync", broken, func(t *tape) {
		a := t.busy(1)
		t.sync("job", a, func() {
			t.commit("job", "create", a, nil, pod("p", a))
			t.commit("job", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "one that replaces another, in one sync", kept, func(t *tape) {
		a := t.busy(1)
		p := pod("p", a)
		t.appears("job", p, "default/a")
		t.sync("job", a, func() {
			t.commit("job", "delete", a, p, nil)
			t.commit("job", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "the first has failed", kept, func(t *tape) {
		a := t.busy(1)
		p := pod("p", a).as(func(o *thing) { o.Failed = true })
		t.appears("job", p, "default/a")
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "any number", kept, func(t *tape) {
		a := t.busy(0)
		p := pod("p", a)
		t.appears("job", p, "default/a")
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("q", a)) })
	}},
	{"LAW-3", "the dependent of the settled world is terminating", kept, func(t *tape) {
		a := set("a", 0)
		a.Counted = 1
		t.exist(a, pod("p", a).dying(cleanup))
		t.settled()
	}},
	{"LAW-3", "counts one that it has read live", kept, func(t *tape) {
		a, p := t.owning(1)
		t.show("rs", a)
		t.sync("rs", a, func() { t.read("rs", a, p); t.status(a, func(o *thing) { o.Counted = 1 }) })
	}},
	{"LAW-3", "counts another's that it has read live", broken, func(t *tape) {
		a, b, p := t.rivals("b")
		t.show("rs", a, b)
		t.sync("rs", a, func() { t.read("rs", a, p); t.status(a, func(o *thing) { o.Counted = 1 }) })
	}},
	{"LAW-2", "made before ControllerRef, by one that polls", kept, func(t *tape) { t.madeBy(nil) }},
	{"LAW-2", "made by one that polls, and another's by now", broken, func(t *tape) { t.madeBy(set("b", 1)) }},
	{"LAW-2", "not made by who polls", broken, func(t *tape) {
		a, p := object("CronJob", "a"), pod("p", nil)
		t.exist(a, p)
		t.show("cron", a)
		t.sync("cron", a, func() { t.commit("cron", "delete", a, p, nil) })
	}},
})

// madeBy records that a polling controller deletes a pod that it created. Now the pod has this owner.
func (t *tape) madeBy(owner *thing) {
	a := object("CronJob", "a")
	p := pod("p", owner)
	p.Annotations = map[string]string{createdBy: `{"reference":{"uid":"` + string(a.UID) + `"}}`}
	if t.exist(a, p); owner != nil {
		t.exist(owner)
	}
	t.show("cron", a)
	t.sync("cron", a, func() { t.commit("cron", "delete", a, p, nil) })
}

// timing returns a controller that deletes a failed Run after as many minutes as the Run has Threads.
func timing() []Actor {
	stays := func(r *thing, now time.Time) string {
		switch {
		case r.Kind != "Run" || !r.Failed:
			return "it goes on"
		case now.Before(sim.Epoch.Add(time.Duration(r.Threads) * time.Minute)):
			return "its time is not over"
		}
		return ""
	}
	return []Actor{{Process: "ttl", Controller: "ttl", Contract: Contract{Profile: Upstream, Invariants: []*Invariant{
		{ID: "not-before-ttl", When: AtDelete | WhenSettled, Check: func(f *Facts) string {
			if f.Before != nil {
				return stays(f.Before.(*thing), f.Now)
			}
			if f.Forever {
				f.Now = f.Now.Add(time.Hour)
			}
			for _, r := range f.All("Run") {
				if stays(r.(*thing), f.Now) == "" {
					return "run/" + r.(*thing).Name + " is still there"
				}
			}
			return ""
		}}}}}}
}

var _ = plays(timing)

// failed returns a failed Run to delete after this number of minutes.
func failed(minutes int) *thing {
	r := object("Run", "r")
	r.Failed, r.Threads = true, minutes
	return r
}

var _ = tells([]story{
	{"not-before-ttl", "its time is over", kept, func(t *tape) {
		r := t.stored(failed(1))
		t.at += time.Minute
		t.commit("ttl", "delete", nil, r, nil)
	}},
	{"not-before-ttl", "its time is not over", broken, func(t *tape) {
		r := t.stored(failed(1))
		t.at += 59 * time.Second
		t.commit("ttl", "delete", nil, r, nil)
	}},
	{"not-before-ttl", "it goes on", broken, func(t *tape) {
		r := object("Run", "r")
		t.exist(r)
		t.commit("ttl", "delete", nil, r, nil)
	}},
	{"not-before-ttl", "it was given more time since it was shown", committed, func(t *tape) {
		r := failed(0)
		more := r.as(func(r *thing) { r.Threads = 5 })
		t.exist(r)
		t.show("ttl", r)
		t.user(r, more)
		t.commit("ttl", "delete", nil, more, nil).Saw = value(r)
	}},
	{"not-before-ttl", "another client deletes it", kept, func(t *tape) {
		r := t.stored(failed(1))
		t.user(r, nil)
	}},
	{"not-before-ttl", "nobody waits for its time to be over", broken, func(t *tape) { t.leaves(failed(1), "", false) }},
	{"not-before-ttl", "its time will be over when the clock has cut it short", kept, func(t *tape) {
		t.leaves(failed(1), CutShort, false)
	}},
	{"not-before-ttl", "its time was over when the clock cut it short", broken, func(t *tape) {
		t.leaves(failed(0), CutShort, false)
	}},
	{"not-before-ttl", "it is left as its deletion is forbidden", kept, func(t *tape) {
		r := t.stored(failed(0))
		t.show("ttl", r)
		for range 3 {
			t.start("ttl", r)
			t.refuse("ttl", "delete", r, r, r, 403, "no permission")
			t.end("ttl", r, "no permission")
			t.at += 5e6
		}
		t.settled()
	}},
	{"not-before-ttl", "nothing is to go", kept, func(t *tape) { t.leaves(object("Run", "r"), "", false) }},
	{"not-before-ttl", "it is left while its controller is down", kept, func(t *tape) { t.leaves(failed(1), "", true) }},
})

// leaves records that the world settles while an object still exists.
func (t *tape) leaves(r *thing, reason string, down bool) {
	t.exist(r)
	t.show("ttl", r)
	if down {
		t.fault("ttl", "crash")
	}
	t.settled().Reason = reason
}
