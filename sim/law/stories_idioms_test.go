package law

import "github.com/threelaws/threelaws/sim"

var (
	atVersion = sim.Guards{UID: true, ResourceVersion: true}
	applied   = sim.Guards{Applies: true}
)

// app stores an App and p, and shows both to the operator.
func (t *tape) app(p *thing) (a, q *thing) {
	a = object("App", "a")
	t.exist(a)
	t.show("op", a)
	if p != nil {
		t.exist(p)
		t.show("op", p)
	}
	return a, p
}

// elsewhere returns an object in another namespace.
func (o *thing) elsewhere() *thing { return o.as(func(o *thing) { o.Namespace = "edge" }) }

// keyed sets the key of a record's reconcile. The key names no object of the kind that the process reconciles.
func keyed(r *sim.Record, namespace, name string) {
	r.For, r.SawFor = sim.Ref{Kind: "App", Namespace: namespace, Name: name}, nil
}

func edited(o *thing) *thing { return o.as(func(o *thing) { o.Node = "n1" }) }

// Stories of usual operators, each beside a similar violation.
var _ = tells([]story{
	{"LAW-2", "CreateOrUpdate finds an orphan by its name", kept, func(t *tape) {
		a, p := t.app(pod("a", nil))
		t.commit("op", "update", a, p, edited(p.owned(controlledBy(a)))).Guards = atVersion
	}},
	{"LAW-2", "an apply finds an orphan by its name", kept, func(t *tape) {
		a, p := t.app(pod("a", nil))
		r := t.commit("op", "patch", a, p, edited(p.owned(controlledBy(a))))
		r.Guards, r.Saw = applied, nil
	}},
	{"LAW-2", "an apply finds what an earlier owner of the name had", kept, func(t *tape) {
		p := pod("p", object("App", "a").again())
		a, _ := t.app(p.owned())
		r := t.commit("op", "patch", a, p.owned(), edited(p.owned(controlledBy(a))))
		r.Guards, r.Saw = applied, p
	}},
	{"LAW-2", "an apply takes what it saw with another owner", broken, func(t *tape) {
		p := pod("p", object("App", "b"))
		a, _ := t.app(p.owned())
		r := t.commit("op", "patch", a, p.owned(), edited(p.owned(controlledBy(a))))
		r.Guards, r.Saw = applied, p
	}},
	{"ADOPT-5", "the dying, by an apply of its name", committed, func(t *tape) {
		a, p := t.app(pod("a", nil).dying("x"))
		r := t.commit("op", "patch", a, p, p.owned(controlledBy(a)))
		r.Guards, r.Saw = applied, p
	}},
	{"LAW-2", "an orphan is overwritten unseen", broken, func(t *tape) {
		a, p := t.app(pod("a", nil))
		t.commit("op", "update", a, p, edited(p.owned(controlledBy(a)))).Saw = nil
	}},
	{"LAW-2", "CreateOrUpdate drops what others put into the metadata", broken, func(t *tape) {
		p := pod("a", nil)
		p.Finalizers = []string{"example.com/other"}
		a, _ := t.app(p)
		q := edited(p.owned(controlledBy(a)))
		q.Finalizers = nil
		t.commit("op", "update", a, p, q).Guards = atVersion
	}},
	{"LAW-2", "a second queue, whose keys name nothing of its kind", kept, func(t *tape) {
		a, _ := t.app(nil)
		p := pod("p", a)
		t.commit("op", "create", a, nil, p)
		keyed(t.commit("op", "update", nil, p, edited(p)), "secret:default", "token")
	}},
	{"LAW-2", "of an owner that is gone, another's", broken, func(t *tape) {
		a, _ := t.app(nil)
		b := object("App", "b")
		p := pod("p", b)
		t.exist(b, p)
		t.shows("op", a, nil)
		keyed(t.commit("op", "delete", nil, p, nil), "default", "a")
	}},
	{"LAW-1", "out of reach of references", kept, func(t *tape) {
		a, _ := t.app(nil)
		p := pod("p", nil).elsewhere()
		t.commit("op", "create", a, nil, p)
		t.commit("op", "update", a, p, edited(p))
		t.commit("op", "delete", a, edited(p), nil)
	}},
	{"LAW-2", "out of reach, and a user's", broken, func(t *tape) {
		a, p := t.app(pod("p", nil).elsewhere())
		t.commit("op", "delete", a, p, nil)
	}},
	{"LAW-1", "for the incarnation that was read live", kept, func(t *tape) {
		a, _ := t.app(nil)
		b := a.again()
		t.user(a, nil)
		t.exist(b)
		t.start("op", a)
		t.read("op", a, b)
		t.commit("op", "create", a, nil, pod("p", b))
		t.commit("op", "update", a, b, edited(b)).Subresource = "status"
		t.end("op", a, "")
	}},
	{"LAW-1", "for another incarnation than was read", broken, func(t *tape) {
		a, _ := t.app(nil)
		b := a.again()
		t.user(a, nil)
		t.exist(b)
		t.start("op", a)
		t.commit("op", "create", a, nil, pod("p", b))
		t.end("op", a, "")
	}},
	{"EXACT-4", "an apply is decided for a name", kept, func(t *tape) {
		a, _ := t.app(nil)
		p := pod("p", a)
		q := p.again()
		t.commit("op", "create", a, nil, q)
		r := t.commit("op", "patch", a, q, edited(q))
		r.Saw, r.Guards = p, applied
	}},
	{"EXACT-4", "a patch is not", broken, func(t *tape) {
		a, _ := t.app(nil)
		p := pod("p", a)
		q := p.again()
		t.commit("op", "create", a, nil, q)
		t.commit("op", "patch", a, q, edited(q)).Saw = p
	}},
	{"LAW-1b", "an apply over what an earlier object of the name had applied", committed, func(t *tape) {
		a, _ := t.app(nil)
		p := pod("p", a.again())
		t.exist(p)
		r := t.commit("op", "patch", a, p, p.owned(controlledBy(a)))
		r.Saw, r.Guards = nil, applied
	}},
	{"LAW-1b", "an update over what an earlier object of the name had made", broken, func(t *tape) {
		a, _ := t.app(nil)
		p := pod("p", a.again())
		t.exist(p)
		t.commit("op", "update", a, p, p.owned(controlledBy(a))).Guards = atVersion
	}},
	{"ADOPT-7", "by one that is not held to look again", committed, func(t *tape) {
		a, p := t.app(nil)
		p = pod("p", a)
		t.exist(p)
		t.user(a, a.dying(orphanFinalizer))
		q := p.owned()
		t.commit("gc", "patch", nil, p, q)
		t.start("op", a)
		t.commit("op", "update", a, q, q.owned(controlledBy(a))).Guards = atVersion
		t.end("op", a, "")
	}},
	{"GC-3", "adopted again after it was orphaned", committed, func(t *tape) {
		a, _ := t.app(nil)
		b := t.becomes(a, a.dying(orphanFinalizer))
		p := pod("p", a) // its creator had not seen it yet
		t.commit("op", "create", a, nil, p)
		q := p.owned()
		t.commit("gc", "patch", nil, p, q)
		t.start("op", a)
		again := q.owned(controlledBy(a))
		t.commit("op", "update", a, q, again).Guards = atVersion
		t.end("op", a, "")
		t.show("gc", again)
		t.commit("gc", "patch", nil, b, nil)
	}},
})

// ordinals stores a set, whose controller creates pods a-0 and a-1. Then the process by deletes a-0.
func (t *tape) ordinals(want int, by string) (a, last *thing) {
	a = set("a", want)
	t.exist(a)
	t.show("rs", a)
	first, last := pod("a-0", a), pod("a-1", a)
	t.start("rs", a)
	for _, p := range []*thing{first, last} {
		if t.generates {
			p.GenerateName = "a-"
		}
		t.commit("rs", "create", a, nil, p)
		t.deliver("rs", nil, p, "default/a")
	}
	t.end("rs", a, "")
	t.commit(by, "delete", a, first, nil)
	t.deliver("rs", first, nil, "default/a")
	return a, last
}

// scaled records that the user scales a set, and that the controller receives it.
func (t *tape) scaled(a *thing, want int) *thing {
	b := a.as(func(o *thing) { o.Replicas = want })
	t.shows("rs", a, b, "default/a")
	return b
}

var _ = tells([]story{
	{"EXACT-1", "the last goes, though another client took the first", kept, func(t *tape) {
		a, last := t.ordinals(2, User)
		a = t.scaled(a, 1)
		t.sync("rs", a, func() { t.commit("rs", "delete", a, last, nil) })
	}},
	{"EXACT-1", "the last goes, though its controller took the first", broken, func(t *tape) {
		a, last := t.ordinals(1, "rs")
		t.sync("rs", a, func() { t.commit("rs", "delete", a, last, nil) })
	}},
	{"EXACT-1", "another client took one, and all are alike", broken, func(t *tape) {
		t.generates = true
		a, last := t.ordinals(2, User)
		a = t.scaled(a, 1)
		t.sync("rs", a, func() { t.commit("rs", "delete", a, last, nil) })
	}},
	{"EXACT-2", "the first is put back, though the last is one too many", kept, func(t *tape) {
		a, _ := t.ordinals(2, User)
		a = t.scaled(a, 1)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("a-0", a)) })
	}},
	{"EXACT-2", "another than was taken is made", broken, func(t *tape) {
		a, _ := t.ordinals(2, User)
		a = t.scaled(a, 1)
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("a-2", a)) })
	}},
})

// Stories of a controller with a finalizer that keeps its dependents until it has counted them, like the Job
// controller.
var _ = tells([]story{
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
	{"LAW-2", "removes its finalizer from a terminating object whose owner is gone", kept, func(t *tape) {
		t.unhands(func(p *thing) *thing { return p.dying(tracking) })
	}},
	{"LAW-2", "removes its finalizer from another owner's object that is not terminating", broken, func(t *tape) {
		t.unhands(func(p *thing) *thing { return p.held(tracking) })
	}},
	{"ADOPT-8", "takes its finalizer off a terminating dependent of an earlier object", kept, func(t *tape) {
		t.unhands(func(p *thing) *thing { return p.dying(tracking) })
	}},
	{"ADOPT-3", "removes its finalizer from a dependent while it is terminating", kept, func(t *tape) {
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
	{"WATCH-4", "a key of other work belongs to no object", kept, func(t *tape) {
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
})

// tallied records that a Job has two finished pods, and that its status counts each of the numbers, one after another.
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

// ofOtherWork refers to a reconcile whose key names no Job.
var ofOtherWork = sim.Ref{Kind: "Job", Namespace: "default", Name: "orphan:p"}

// unhands records that a controller removes its finalizer from a dependent of an earlier owner of the same name.
func (t *tape) unhands(is func(p *thing) *thing) {
	a := job("a")
	p := pod("p", a)
	held := is(p)
	t.exist(a, held)
	t.user(a, nil)
	next := t.stored(a.again())
	var after *thing
	if held.DeletionTimestamp == nil {
		after = held.held()
	}
	t.commit("job", "patch", next, held, after)
}

func (o *thing) ended() *thing { return o.as(func(o *thing) { o.Failed = true }) }

// frees records that the Job controller writes to a pod with finalizers.
func (t *tape) frees(p *thing, left func(*thing) *thing, finalizers ...string) {
	p = p.held(finalizers...)
	t.exist(p)
	t.commit("job", "patch", nil, p, left(p.held())).For = ofOtherWork
}

func stays(p *thing) *thing { return p }
func goes(*thing) *thing    { return nil }

// counted stores a Job with two finished pods, and with a status that counts n of them.
func (t *tape) counted(n int) {
	a := job("a").as(func(o *thing) { o.Placed = n })
	ended := func(name string) *thing { return pod(name, a).as(func(o *thing) { o.Node = name }) }
	t.exist(a, ended("p"), ended("q"))
	t.settled()
}

// outgrown records that a controller keeps a pod that its owner no longer selects.
func (t *tape) outgrown(process string, a *thing) {
	t.exist(a, pod("p", a).labelled("db"))
	t.start(process, a)
	t.end(process, a, "")
	t.settled()
}
