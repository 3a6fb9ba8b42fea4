package law

import "github.com/threelaws/threelaws/sim"

// chained stores three sets. Each owns the next one, which blocks its deletion.
func (t *tape) chained() (a, b, c *thing) {
	a = set("a", 1)
	b = set("b", 1).owned(controlledBy(a))
	c = set("c", 1).owned(controlledBy(b))
	t.exist(a, b, c)
	t.show("gc", a, b, c)
	return a, b, c
}

// unblocking returns an object whose reference does not block its owner.
func unblocking(o, owner *thing) *thing {
	ref := controlledBy(owner)
	ref.BlockOwnerDeletion = nil
	return o.owned(ref)
}

// finalized returns an object with a finalizer for a deletion policy, although it is not terminating.
func finalized(o *thing, finalizer string) *thing {
	return o.as(func(o *thing) { o.Finalizers = []string{finalizer} })
}

// below records that the garbage collector deletes the middle set of a chain, after its owner is gone. f returns that
// set before and after.
func (t *tape) below(f func(b *thing) (before, after *thing)) *sim.Record {
	a, b, _ := t.chained()
	before, after := f(b)
	if before != b {
		t.user(b, before)
	}
	t.shows("gc", a, nil)
	r := t.commit("gc", "delete", nil, before, after)
	r.Saw = value(b)
	return r
}

var _ = tells([]story{
	{"GC-1", "takes along what is below", kept, func(t *tape) {
		t.below(func(b *thing) (before, after *thing) { return b, nil })
	}},
	{"GC-1", "its dependents are orphaned, which no deletion requires", broken, func(t *tape) {
		t.below(func(b *thing) (before, after *thing) { return b, b.dying(orphanFinalizer) })
	}},
	{"GC-1", "what is below is orphaned, as a finalizer says", kept, func(t *tape) {
		t.below(func(b *thing) (before, after *thing) {
			before = finalized(b, orphanFinalizer)
			return before, before.dying(orphanFinalizer)
		})
	}},
	{"GC-1", "what is below is orphaned, as a finalizer said when it was read", committed, func(t *tape) {
		t.below(func(b *thing) (before, after *thing) { return b, b.dying(orphanFinalizer) }).Saw =
			value(finalized(set("b", 1), orphanFinalizer))
	}},
	{"GC-1", "nothing is below", kept, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		b = b.owned(controlledBy(a))
		t.exist(a, b)
		t.user(a, nil)
		t.collects(b, a).After = value(b.dying(orphanFinalizer))
	}},

	{"GC-2", "has the finalizer before its deletion", broken, func(t *tape) {
		a, b, c := set("a", 1), finalized(set("b", 1), foregroundFinalizer), pod("c", nil)
		b = b.owned(controlledBy(a))
		t.exist(a, b, c.owned(controlledBy(b)))
		t.user(a, nil)
		t.collects(b, a)
	}},
	{"GC-2", "has got the finalizer since it was read", committed, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		b = b.owned(controlledBy(a))
		held := finalized(b, foregroundFinalizer)
		t.exist(a, b, pod("c", b))
		t.user(b, held)
		t.user(a, nil)
		t.collects(held, a).Saw = b
	}},
	{"GC-2", "has the finalizer, and nothing that blocks it", kept, func(t *tape) {
		a, b := set("a", 1), finalized(set("b", 1), foregroundFinalizer)
		b = b.owned(controlledBy(a))
		t.exist(a, b, pod("c", nil).owned(plain(b)))
		t.user(a, nil)
		t.collects(b, a)
	}},
	{"GC-2", "has both finalizers: what depends on it is to stay", kept, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		b = b.owned(controlledBy(a)).as(func(o *thing) {
			o.Finalizers = []string{foregroundFinalizer, orphanFinalizer}
		})
		t.exist(a, b, pod("c", b))
		t.shows("gc", a, nil)
		t.commit("gc", "delete", nil, b, b.dying(orphanFinalizer))
	}},

	{"GC-6", "a circle is broken", kept, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		a, b = a.owned(controlledBy(b)), b.owned(controlledBy(a))
		t.exist(a, b)
		was := a
		a = a.dying(foregroundFinalizer)
		t.user(was, a)
		t.commit("gc", "patch", nil, b, unblocking(b, a))
	}},
	{"GC-6", "a chain whose last waits is taken for a circle, as upstream does", kept, func(t *tape) {
		a, b, c := t.chained()
		t.user(c, c.dying(foregroundFinalizer))
		t.commit("gc", "patch", nil, b, unblocking(b, a))
	}},
	{"GC-6", "nothing waits", broken, func(t *tape) {
		a, b, _ := t.chained()
		t.start("gc", nil)
		t.commit("gc", "patch", nil, b, unblocking(b, a))
	}},
	{"GC-6", "what waited has let go of it", broken, func(t *tape) {
		a, b, c := t.chained()
		d := t.becomes(c, c.owned())
		going := t.becomes(d, d.dying(foregroundFinalizer))
		t.deliver("gc", c, d)
		t.deliver("gc", d, going)
		t.start("gc", nil)
		t.commit("gc", "patch", nil, b, unblocking(b, a))
	}},
	{"GC-6", "what waited is gone, which was not shown", committed, func(t *tape) {
		a, b, c := t.chained()
		going := t.shows("gc", c, c.dying(foregroundFinalizer))
		t.user(going, nil)
		t.start("gc", nil)
		t.commit("gc", "patch", nil, b, unblocking(b, a))
	}},

	{"GC-7", "in no namespace itself", broken, func(t *tape) {
		n := object("Node", "n")
		n.Namespace = ""
		n = n.owned(plain(set("a", 1)))
		t.exist(n)
		t.refuse("gc", "get", nil, set("a", 1), nil, 404, "not found")
		t.commit("gc", "delete", nil, n, nil)
	}},
	{"GC-7", "in no namespace itself, and left alone", kept, func(t *tape) {
		n := object("Node", "n")
		n.Namespace = ""
		t.exist(n.owned(plain(set("a", 1))))
		t.settled()
	}},
})
