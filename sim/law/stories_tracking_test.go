package law

import "github.com/threelaws/threelaws/sim"

// trackingStories are of a controller that keeps its dependents by a finalizer until
// it has counted them, as Job does.
var trackingStories = []story{
	{"LAW-2", "takes its own finalizer off an orphan", kept, func(t *tape) {
		t.frees(pod("p", nil), stays, tracking)
	}},
	{"LAW-2", "takes its own finalizer off a dying orphan, which is gone then", kept, func(t *tape) {
		t.frees(pod("p", nil).dying(), goes, tracking)
	}},
	{"LAW-2", "takes another's finalizer off an orphan with it", broken, func(t *tape) {
		t.frees(pod("p", nil), stays, tracking, cleanup)
	}},
	{"LAW-2", "takes another's finalizer off a dying orphan with it", broken, func(t *tape) {
		t.frees(pod("p", nil).dying(), goes, tracking, cleanup)
	}},
	{"LAW-2", "relabels an orphan as it takes its finalizer off", broken, func(t *tape) {
		t.frees(pod("p", nil), func(p *thing) *thing { return p.labelled("x") }, tracking)
	}},
	{"LAW-2", "takes its own finalizer off what another controls", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.frees(pod("p", a), stays, tracking)
	}},
	{"LAW-2", "deletes an orphan that only its finalizer holds", broken, func(t *tape) {
		p := pod("p", nil).held(tracking)
		t.exist(p)
		t.commit("job", "delete", nil, p, nil).For = ofOtherWork
	}},
	{"LAW-2", "takes its finalizer off what is going and whose owner is gone", kept, func(t *tape) {
		t.unhands(func(p *thing) *thing { return p.dying(tracking) })
	}},
	{"LAW-2", "takes its finalizer off what another has and is not going", broken, func(t *tape) {
		t.unhands(func(p *thing) *thing { return p.held(tracking) })
	}},
	{"ADOPT-8", "takes its finalizer off what is going and was a namesake's", kept, func(t *tape) {
		t.unhands(func(p *thing) *thing { return p.dying(tracking) })
	}},
	{"ADOPT-3", "takes its finalizer off a dependent while it is going", kept, func(t *tape) {
		a := job("a").dying(cleanup)
		p := pod("p", a).held(tracking)
		t.exist(a, p)
		t.commit("job", "patch", a, p, p.held())
	}},
	{"ADOPT-3", "and off one that is orphaned meanwhile", kept, func(t *tape) {
		a := job("a").dying(cleanup)
		p := pod("p", nil).held(tracking)
		t.exist(a, p)
		t.commit("job", "patch", a, p, p.held())
	}},
	{"ADOPT-3", "relabels the dependent as well", broken, func(t *tape) {
		a := job("a").dying(cleanup)
		p := pod("p", a).held(tracking)
		t.exist(a, p)
		t.commit("job", "patch", a, p, p.held().labelled("x"))
	}},
	{"WATCH-4", "a key of other work is nobody's", kept, func(t *tape) {
		t.seen("a")
		t.deliver("rs", nil, pod("p", nil), "default/a", "default/orphan:p")
	}},
	{"ORPHAN-1", "not released by one that has ended", kept, func(t *tape) { t.outgrown("job", job("a").ended()) }},
	{"ORPHAN-1", "not released by one that goes on", broken, func(t *tape) { t.outgrown("rs", set("a", 1)) }},
	{"EXACT-8", "counts those that are gone as well", kept, func(t *tape) { t.counted(3) }},
	{"EXACT-8", "counts each of two as it ends", kept, func(t *tape) { t.tallied(1, 2) }},
	{"EXACT-8", "counts one twice", broken, func(t *tape) { t.tallied(1, 3) }},
	{"EXACT-8", "leaves out one that is there", broken, func(t *tape) { t.counted(1) }},
	{"EXACT-8", "leaves out one that a life had set free which did not see the Job", committed, func(t *tape) {
		a := job("a")
		p := pod("p", a).held(tracking).as(func(o *thing) { o.Node = "p" })
		t.exist(a, p)
		t.fault("job", "crash")
		t.add(sim.Record{Op: sim.FaultHit, Process: "job", Verb: "restart", Incarnation: 1})
		free := t.commit("job", "patch", nil, p, p.held())
		free.For, free.Incarnation = ofOtherWork, 1
		t.settled()
	}},
	{"ADOPT-2", "not adopted by one that has ended", kept, func(t *tape) {
		t.exist(job("a").ended(), pod("p", nil))
		t.settled()
	}},
}

// tallied has a Job whose two pods have ended say of how many it has counted, in one
// write after another.
func (t *tape) tallied(numbers ...int) {
	a := job("a")
	t.exist(a, pod("p", a).on("n").as(func(o *thing) { o.Failed = true }),
		pod("q", a).on("n").as(func(o *thing) { o.Failed = true }))
	t.show("job", a)
	for _, n := range numbers {
		b := a.as(func(o *thing) { o.Placed = n })
		t.sync("job", a, func() { t.commit("job", "update", a, a, b).Subresource = "status" })
		t.deliver("job", a, b)
		a = b
	}
	t.settled()
}

// ofOtherWork is what a key stands for that names no Job.
var ofOtherWork = sim.Ref{Kind: "Job", Namespace: "default", Name: "orphan:p"}

// unhands is the story of a controller that removes its finalizer from a dependent of an earlier owner of the same name.
func (t *tape) unhands(is func(p *thing) *thing) {
	a := job("a")
	p := pod("p", a)
	held := is(p)
	t.exist(a, held)
	t.user(a, nil)
	next := a.again()
	t.exist(next)
	var after *thing
	if held.DeletionTimestamp == nil {
		after = held.held()
	}
	t.commit("job", "patch", next, held, after)
}

func (o *thing) ended() *thing { return o.as(func(o *thing) { o.Failed = true }) }

// frees has the Job controller write a pod that finalizers hold.
func (t *tape) frees(p *thing, left func(*thing) *thing, finalizers ...string) {
	p = p.held(finalizers...)
	t.exist(p)
	t.commit("job", "patch", nil, p, left(p.held())).For = ofOtherWork
}

func stays(p *thing) *thing { return p }
func goes(*thing) *thing    { return nil }

// counted has a status say how many of two that are there, and of others, ended.
func (t *tape) counted(n int) {
	a := job("a").as(func(o *thing) { o.Placed = n })
	ended := func(name string) *thing { return pod(name, a).as(func(o *thing) { o.Node = name }) }
	t.exist(a, ended("p"), ended("q"))
	t.settled()
}

// outgrown has an owner keep what it does not select.
func (t *tape) outgrown(process string, a *thing) {
	t.exist(a, pod("p", a).labelled("db"))
	t.start(process, a)
	t.end(process, a, "")
	t.settled()
}
