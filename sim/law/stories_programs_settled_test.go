package law

import "github.com/threelaws/threelaws/sim"

// Stories of programs after the world has settled: they have received everything that existed then.
var _ = tells([]story{
	{"ADOPT-3", "a program adopts for an owner that was terminating when the world settled", broken, func(t *tape) {
		own := t.goesBefore(func() { t.settled() })
		p := pod("p", nil)
		t.exist(p)
		t.show("program", p)
		t.unattributed("patch", p, p, p.owned(controlledBy(own)))
	}},
	{"ADOPT-3", "a program creates for an owner that was terminating when the world settled", broken, func(t *tape) {
		own := t.goesBefore(func() { t.settled() })
		t.unattributed("create", nil, nil, pod("q", own))
	}},
	{"ADOPT-3", "a program creates for an owner that began to terminate after the world settled", kept, func(t *tape) {
		t.settled()
		own := t.goesBefore(func() {})
		t.unattributed("create", nil, nil, pod("q", own))
	}},
	{"ADOPT-3", "a program has crashed since the rest", kept, func(t *tape) {
		own := t.goesBefore(func() { t.settled() })
		t.fault("program", "crash")
		t.fault("program", "restart")
		t.unattributed("create", nil, nil, pod("q", own)).Incarnation = 1
	}},
	{"ADOPT-3", "what a program asked before it crashed is done after the next rest", kept, func(t *tape) {
		own := t.goesBefore(func() { t.settled() })
		t.fault("program", "crash")
		t.fault("program", "restart")
		t.settled()
		t.unattributed("create", nil, nil, pod("q", own))
	}},
	{"ADOPT-3", "a program was not shown, when the world settled, that its owner is terminating", kept, func(t *tape) {
		own := t.goesBefore(func() {
			t.fault("program", "hold").Object = fleet("", 0).ref()
			t.settled()
		})
		t.unattributed("create", nil, nil, pod("q", own))
	}},
	{"ADOPT-3", "a program creates for an owner that was terminating when time was up", kept, func(t *tape) {
		own := t.goesBefore(func() { t.settled().Reason = CutShort })
		t.unattributed("create", nil, nil, pod("q", own))
	}},
	{"ADOPT-3", "a program creates for an owner of another kind that was terminating when the world settled", kept, func(t *tape) {
		app := t.stored(object("App", "a"))
		t.user(app, app.dying("example.com/foreign"))
		t.settled()
		s := object("Secret", "s").owned(controlledBy(app))
		t.unattributed("create", nil, nil, s)
	}},
	{"ADOPT-3", "a program writes to a dependent of its owner, which was terminating when the world settled", kept, func(t *tape) {
		own := t.goesBefore(func() { t.settled() })
		p := t.stored(pod("q", own))
		t.show("program", p)
		t.unattributed("update", p, p, p.as(func(p *thing) { p.Annotations = map[string]string{"note": "it goes"} }))
	}},
	{"ADOPT-8", "a program deletes a dependent of an earlier object that was gone when the world settled", broken, func(t *tape) {
		p := t.comesBack(func() { t.settled() })
		t.unattributed("delete", p, p, nil)
	}},
	{"ADOPT-8", "a program deletes a dependent of an earlier cluster-scoped object that was gone when the world settled", broken,
		func(t *tape) {
			next := fleet("own", 0).as(func(o *thing) { o.Namespace = "" })
			t.exist(next)
			t.show("program", next)
			t.settled()
			p := pod("p", next.again())
			t.exist(p)
			t.show("program", p)
			t.unattributed("delete", p, p, nil)
		}},
	{"ADOPT-8", "a program writes to what was another's when it looked, and belongs to an earlier object", committed,
		func(t *tape) {
			p := t.comesBack(func() { t.settled() })
			t.unattributed("delete", p.owned(controlledBy(fleet("other", 0))), p, nil)
		}},
	{"ADOPT-8", "a program takes its finalizer off what belongs to an earlier object", kept, func(t *tape) {
		p := t.comesBack(func() { t.settled() }, handle)
		t.unattributed("update", p, p, p.held())
	}},
	{"ADOPT-8", "a program has crashed since the rest, and may not have seen the earlier object deleted", kept,
		func(t *tape) {
			p := t.comesBack(func() { t.settled() })
			t.fault("program", "crash")
			t.fault("program", "restart")
			t.show("program", p)
			t.unattributed("delete", p, p, nil).Incarnation = 1
		}},
	{"ADOPT-8", "a program deletes what belongs to an earlier object that went since the rest", kept, func(t *tape) {
		own := fleet("own", 1)
		p := pod("p", own)
		t.exist(own, p)
		t.show("program", own, p)
		t.settled()
		next := own.again()
		t.user(own, nil)
		t.user(nil, next)
		t.deliver("program", own, next)
		t.unattributed("delete", p, p, nil)
	}},
	{"ADOPT-8", "a program deletes a dependent of an earlier object that was terminating when the world settled, and is gone since", kept,
		func(t *tape) {
			own := t.goesBefore(func() { t.settled() })
			p := t.stored(pod("q", own))
			t.user(own, nil)
			next := own.again().as(func(o *thing) { o.DeletionTimestamp, o.Finalizers = nil, nil })
			t.user(nil, next)
			t.show("program", p)
			t.deliver("program", own, next)
			t.unattributed("delete", p, p, nil)
		}},
	{"ADOPT-8", "a program deletes a dependent that its owner created since the world settled, while its cache shows an earlier one", kept,
		func(t *tape) {
			own := fleet("own", 0)
			t.exist(own)
			t.show("program", own)
			t.settled()
			next := own.again()
			t.user(own, nil)
			t.user(nil, next)
			p := pod("p", next)
			t.exist(p)
			t.show("program", p)
			t.unattributed("delete", p, p, nil)
		}},
	{"ADOPT-8", "a program writes to an object that it does not create, whose owner is an earlier object that was gone when the world settled", kept,
		func(t *tape) {
			p := t.comesBack(func() { t.settled() })
			s := object("Secret", "s").owned(p.OwnerReferences...)
			t.exist(s)
			t.unattributed("update", s, s, s.as(func(s *thing) { s.Annotations = map[string]string{"seen": "yes"} }))
		}},
	{"ADOPT-8", "a program tidies a dependent of an owner that was gone when the world settled, and was not recreated", kept,
		func(t *tape) {
			p := pod("p", fleet("gone", 1))
			t.settled()
			t.exist(p)
			t.show("program", p)
			t.unattributed("delete", p, p, nil)
		}},
})

// goesBefore stores a terminating fleet with a pod, and calls the function then.
func (t *tape) goesBefore(then func()) (own *thing) {
	was := fleet("own", 2)
	own = was.dying("example.com/foreign")
	p := pod("p", was)
	t.exist(was, p)
	t.user(was, own)
	t.show("program", own, p)
	then()
	return own
}

// comesBack stores a pod of a fleet that was deleted and recreated. Before the pod appears, it calls the function then.
func (t *tape) comesBack(then func(), finalizers ...string) (p *thing) {
	own := fleet("own", 0)
	next := own.again()
	t.exist(own)
	t.show("program", own)
	t.user(own, nil)
	t.user(nil, next)
	t.deliver("program", own, next)
	then()
	p = pod("p", own).held(finalizers...)
	t.add(sim.Record{Op: sim.Commit, Process: "user", Verb: "create", Object: p.ref(), After: p})
	t.show("program", p)
	return p
}

// handle is the program's own finalizer.
const handle = "example.com/program"
