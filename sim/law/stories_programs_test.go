package law

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// program returns a whole program: the records do not say when it reconciles which object.
func program() Actor {
	return Actor{Process: "program", Controller: "fleet", For: kind("Fleet"),
		Owns: kinds("Pod"), Opaque: true, Contract: Contract{Profile: Upstream, Selector: selectorOf,
			Replicas: func(o runtime.Object) int { return o.(*thing).Replicas }, Finalizers: []string{handle}},
	}
}

// limiting returns a program with a maximum number of dependents at one time.
func limiting() Actor {
	s := program()
	s.Process, s.Controller, s.For.Kind, s.Replicas = "limiting", "queue", "Queue", nil
	s.MaxActive = func(o runtime.Object) int { return o.(*thing).Replicas }
	s.Active = func(o runtime.Object) bool { return !o.(*thing).Failed }
	return s
}

// doubling returns a program with a second controller for the same dependents.
func doubling() Actor {
	s := program()
	s.Process, s.Controller, s.SharedKinds = "doubling", "doubling", kinds("Pod")
	return s
}

// labels records that the program labels a pod that f returns.
func (t *tape) labels(f func(own, other, p *thing) *thing) {
	t.writes(f, func(_, p *thing) *thing { return p.labelled("seen") })
}

// writes records that the program changes a pod that f returns. If the function to returns nil, the program deletes it.
func (t *tape) writes(f func(own, other, p *thing) *thing, to func(own, p *thing) *thing) {
	own, other := fleet("own", 1), fleet("other", 1)
	t.exist(own, other)
	t.show("doubling", own, other)
	is := t.stored(f(own, other, pod("p", nil)))
	t.show("doubling", is)
	verb, after := "update", to(own, is)
	if after == nil {
		verb = "delete"
	}
	t.unattributed(verb, is, is, after).Process = "doubling"
}

// limits records that the program creates the number made of pods, for an owner that allows at most the number most.
func (t *tape) limits(most, made int) (own, last *thing) {
	own = fleet("q", most)
	own.Kind = "Queue"
	t.exist(own)
	t.show("limiting", own)
	for range made {
		last = pod("p", own)
		asked := len(t.records)
		r := t.unattributed("create", nil, nil, last)
		r.Process, r.Asked = "limiting", asked
		t.show("limiting", last)
	}
	return own, last
}

// beside records that the program creates a pod, crashes and restarts. Then f is called, the program receives the pod,
// and it creates a second one.
func (t *tape) beside(f func(p *thing)) {
	own, p := t.limits(1, 1)
	t.fault("limiting", "crash")
	t.fault("limiting", "restart")
	f(p)
	t.show("limiting", own, p)
	asked := len(t.records)
	r := t.unattributed("create", nil, nil, pod("second", own))
	r.Process, r.Asked = "limiting", asked
}

func fleet(name string, replicas int) *thing {
	o := set(name, replicas)
	o.Kind = "Fleet"
	return o
}

// unattributed adds a commit of a program. The record does not say which object is reconciled.
func (t *tape) unattributed(verb string, saw, before, after *thing) *sim.Record {
	r := t.commit("program", verb, nil, before, after)
	r.Saw, r.Guards = value(saw), sim.Guards{}
	return r
}

// away records that a program deletes a pod that it had read as f returns it. Since then, g has changed the pod.
func (t *tape) away(f, g func(own, other, p *thing) *thing) {
	own, other := fleet("own", 1), fleet("other", 1)
	t.exist(own, other)
	t.show("program", own, other)
	p := pod("p", nil)
	saw := t.stored(f(own, other, p))
	t.show("program", saw)
	is := t.becomes(saw, g(own, other, saw))
	t.unattributed("delete", saw, is, nil)
}

func ofOwn(own, _, p *thing) *thing { return p.owned(controlledBy(own)) }
func nobodys(_, _, p *thing) *thing { return p.owned() }
func othersObject(_, _, p *thing) *thing {
	return p.owned(metav1.OwnerReference{APIVersion: "v1", Kind: "App", Name: "a", UID: "a", Controller: new(true)})
}

var _ = tells([]story{
	{"LAW-2", "a program deletes an object that it owned when it looked, and that has no owner now", committed, func(t *tape) {
		t.away(ofOwn, nobodys)
	}},
	{"LAW-2", "a program deletes what was its own when it looked, and is another owner's", committed, func(t *tape) {
		t.away(ofOwn, othersObject)
	}},
	{"LAW-2", "a program deletes what was an orphan when it looked", broken, func(t *tape) {
		t.away(nobodys, nobodys)
	}},
	{"LAW-2", "a program deletes what was another owner's when it looked", broken, func(t *tape) {
		t.away(othersObject, nobodys)
	}},
	{"LAW-2", "a program deletes what has come to be that of another of its objects", kept, func(t *tape) {
		t.away(ofOwn, func(_, other, p *thing) *thing { return p.owned(controlledBy(other)) })
	}},
	{"LAW-2", "a program writes to an orphan that another controller of it works on", kept, func(t *tape) {
		t.labels(nobodys)
	}},
	{"LAW-2", "a program writes to an object of another owner of a kind that another controller of it works on", kept, func(t *tape) {
		t.labels(othersObject)
	}},
	{"LAW-2", "a program takes an object of another owner of a kind that another controller of it works on", broken, func(t *tape) {
		t.writes(othersObject, func(own, p *thing) *thing { return p.owned(controlledBy(own)) })
	}},
	{"LAW-2", "a program deletes an object of another owner of a kind that another controller of it works on", broken, func(t *tape) {
		t.writes(othersObject, func(_, _ *thing) *thing { return nil })
	}},
	{"LAW-1", "a program that has another controller makes a pod for that one's object", kept, func(t *tape) {
		t.another(func(app, p *thing) {})
	}},
	{"LAW-1", "a program makes a pod for an object of a kind that it does not watch", broken, func(t *tape) {
		app := t.stored(object("Gadget", "a"))
		t.unattributed("create", nil, nil, pod("p", app))
	}},
	{"LAW-1", "a program makes a pod for an object that nobody has", broken, func(t *tape) {
		t.unattributed("create", nil, nil, othersObject(nil, nil, pod("p", nil)))
	}},
	{"LAW-1", "a program makes a pod for an object of another program", broken, func(t *tape) {
		rs := t.stored(set("web", 1))
		t.unattributed("create", nil, nil, pod("p", rs))
	}},
	{"LAW-2", "a program that has another controller deletes what that one has made", kept, func(t *tape) {
		t.another(func(app, p *thing) { t.unattributed("delete", p, p, nil) })
	}},
	{"LAW-2", "a program deletes an object that another client created, for an owner without an owner", broken, func(t *tape) {
		app := object("Gadget", "a")
		p := pod("p", app)
		t.exist(app, p)
		t.show("program", app, p)
		t.unattributed("delete", p, p, nil)
	}},
	{"ADOPT-4", "a program adopts for one of its own that is terminating", committed, func(t *tape) {
		t.takes(func(own *thing) *thing { return own.dying("orphan") })
	}},
	{"ADOPT-4", "a program adopts, and nobody knows whether it looked", kept, func(t *tape) {
		t.takes(func(own *thing) *thing { return own })
	}},
	{"LAW-1b", "a program gives what an earlier owner of the name left to the owner", broken, func(t *tape) {
		was := fleet("own", 1)
		p, own := pod("p", was), was.again()
		t.exist(was, p)
		t.show("program", was, p)
		t.user(was, nil)
		t.exist(own)
		t.show("program", own)
		t.unattributed("patch", p, p, p.owned(controlledBy(own)))
	}},
	{"NOFIGHT-3", "a program lacks what it is forbidden", kept, func(t *tape) { t.denied(403) }},
	{"NOFIGHT-3", "a program lacks what it is forbidden, and another says in an event that it is, too", kept,
		func(t *tape) { t.deniedBefore(403, func() { t.says("another") }) }},
	{"NOFIGHT-3", "a program lacks a dependent that it was forbidden to create, and another client has made room since", broken, func(t *tape) {
		t.deniedBefore(403, func() { t.user(nil, pod("room", nil)) })
	}},
	{"NOFIGHT-3", "a program lacks what it was refused otherwise", broken, func(t *tape) { t.denied(500) }},
	{"EXACT-4", "a program deletes a recreated object instead of the one it saw", broken, func(t *tape) {
		t.away(ofOwn, func(own, _, p *thing) *thing { return p.again() })
	}},
	{"EXACT-2", "a program creates one more though it was shown as many as the owner wants", broken, func(t *tape) {
		t.fills(1, 2)
	}},
	{"EXACT-2", "a program that may have one at a time makes another beside it, after a crash", broken, func(t *tape) {
		t.beside(func(*thing) {})
	}},
	{"EXACT-2", "a program that may have one at a time makes another when that has failed", kept, func(t *tape) {
		t.beside(func(p *thing) { t.user(p, p.as(func(p *thing) { p.Failed = true })) })
	}},
	{"EXACT-2", "a program that may have as many as it likes makes two", kept, func(t *tape) { t.limits(-1, 2) }},
	{"EXACT-2", "a program outside makes another though it was answered", broken, func(t *tape) {
		t.abroad(1, 1, 2, 0)
	}},
	{"EXACT-2", "a program outside makes another as it was not answered", kept, func(t *tape) {
		t.abroad(1, 1, 2, 1)
	}},
	{"EXACT-2", "a program outside makes one more once it was answered", broken, func(t *tape) {
		t.abroad(1, 1, 3, 1)
	}},
	{"EXACT-2", "a program outside may not have seen that fewer are asked for", kept, func(t *tape) {
		t.abroad(3, 1, 3, 0)
	}},
	{"LAW-1", "a program outside makes what has no owner", broken, func(t *tape) {
		t.unattributed("create", nil, nil, pod("p", nil)).Process = "outsider"
	}},
	{"LAW-2", "a program outside deletes what is another owner's", broken, func(t *tape) {
		p := pod("p", nil)
		p = othersObject(nil, nil, p)
		t.exist(p)
		r := t.unattributed("delete", nil, p, nil)
		r.Process, r.Guards.ResourceVersion = "outsider", true
	}},
	{"LAW-2", "a program outside deletes what it cannot have known to be another owner's", committed, func(t *tape) {
		p := pod("p", nil)
		p = othersObject(nil, nil, p)
		t.exist(p)
		t.unattributed("delete", nil, p, nil).Process = "outsider"
	}},
	{"LAW-2", "a program outside deletes an orphan", kept, func(t *tape) {
		p := pod("p", nil)
		t.exist(p)
		t.unattributed("delete", nil, p, nil).Process = "outsider"
	}},
	{"EXACT-2", "a program makes as many as are asked for", kept, func(t *tape) { t.fills(2, 2) }},
	{"EXACT-2", "a program makes as many as were asked for once", kept, func(t *tape) {
		own := t.fills(2, 1)
		less := own.as(func(o *thing) { o.Replicas = 1 })
		t.user(own, less)
		t.show("program", less)
		t.unattributed("create", nil, nil, pod("late", own)).Asked = len(t.records)
	}},
})

// another records that a program creates a pod for an object of an unknown kind.
func (t *tape) another(then func(app, p *thing)) {
	app := object("Gadget", "a")
	p := pod("p", app)
	t.exist(app)
	t.show("program", app)
	t.unattributed("create", nil, nil, p)
	t.show("program", p)
	then(app, p)
}

// takes records that a program adopts a pod for an owner that f has changed.
func (t *tape) takes(f func(own *thing) *thing) {
	own, p := fleet("own", 1), pod("p", nil)
	t.exist(own, p)
	t.show("program", own, p)
	if is := f(own); is != own {
		t.user(own, is)
	}
	t.unattributed("patch", p, p, p.owned(controlledBy(own)))
}

// A whole program acts as the garbage collector. It deletes a dependent that the owner's deletion should orphan. The
// records do not say what it knew.
func TestAProgramThatCollects(t *testing.T) {
	own := fleet("own", 1)
	p, going := pod("p", own), own.dying(metav1.FinalizerOrphanDependents)
	tp := &tape{}
	tp.exist(own, p)
	tp.show("gc", own, p)
	tp.user(own, going)
	tp.deliver("gc", own, going)
	write := sim.Record{Op: sim.Commit, Process: "gc", Verb: "patch", Object: own.ref(), Before: going, Saw: going}
	tp.add(write)
	write.Verb, write.Object, write.Before, write.Saw = "delete", p.ref(), p, p
	tp.add(write)
	for _, opaque := range []bool{true, false} {
		j := NewJudge([]Actor{{Process: "gc", Controller: collector, Contract: Contract{Profile: Upstream}, Opaque: opaque}}, All())
		j.Kinds = served
		tp.observed(j)
		for _, id := range []string{"GC-3", "GC-4"} {
			i := slices.IndexFunc(j.Violations(), func(b Violation) bool { return b.Law.ID == id })
			if i < 0 || j.Violations()[i].Strength == Committed != opaque {
				t.Errorf("opaque %t: %s: %v", opaque, id, j.Violations())
			}
		}
	}
}

// denied records that the server refuses a program's creation of a pod, and that the world settles.
func (t *tape) denied(code int) { t.deniedBefore(code, func() {}) }

// deniedBefore is denied, with a call of the function then before the world settles.
func (t *tape) deniedBefore(code int, then func()) {
	own := fleet("own", 1)
	t.exist(own)
	t.show("program", own)
	t.refuse("program", "create", nil, pod("p", own), nil, code, "no")
	then()
	t.settled()
}

// says records that a process creates an Event.
func (t *tape) says(process string) {
	e := pod("e", nil)
	e.Kind = "Event"
	t.commit(process, "create", nil, nil, e)
}

// outsider returns a program in another process.
func outsider() Actor {
	s := program()
	s.Process, s.Controller, s.Outside = "outsider", "outsider", true
	return s
}

// abroad records that the outsider creates as many pods as made says, for a fleet whose replicas changed from asked to
// asks. The first answers do not reach the outsider; the parameter told is their number.
func (t *tape) abroad(asked, asks, made, told int) (own *thing) {
	own = fleet("own", asked)
	t.exist(own)
	if asks != asked {
		less := own.as(func(o *thing) { o.Replicas = asks })
		t.user(own, less)
	}
	for i := range made {
		r := t.unattributed("create", nil, nil, pod("p", own))
		r.Process, r.Lost = "outsider", i < told
	}
	return own
}

// fills records that a program creates and receives the number made of pods, for an owner that wants the number want.
func (t *tape) fills(want, made int) *thing {
	own := fleet("own", want)
	t.exist(own)
	t.show("program", own)
	for range made {
		p := pod("p", own)
		asked := len(t.records)
		t.unattributed("create", nil, nil, p).Asked = asked
		t.show("program", p)
	}
	return own
}

// If a program creates a dependent without a ControllerRef and later deletes it, only the creation is a violation. It may
// not delete a dependent that has become an orphan.
func TestProgramDeletesWhatItCreatedWithoutOwner(t *testing.T) {
	for _, owned := range []bool{false, true} {
		tp := &tape{}
		own, p := fleet("own", 1), pod("p", nil)
		want := "LAW-1"
		if owned {
			p, want = pod("p", own), "LAW-2"
		}
		tp.exist(own)
		tp.unattributed("create", nil, nil, p)
		tp.show("program", p)
		if owned {
			p = tp.becomes(p, p.owned())
			tp.show("program", p)
		}
		tp.unattributed("delete", p, p, nil)
		if all := judge(tp).Violations(); len(all) != 1 || all[0].Law.ID != want {
			t.Errorf("want %s: %v", want, all)
		}
	}
}
