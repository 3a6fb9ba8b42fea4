package law

var _ = tells([]story{
	{"EXACT-14", "the generation that it began with", kept, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.read("rs", a, p)
			t.read("rs", a, newer)
			t.commit("rs", "update", a, newer, newer.observes(1))
		})
	}},
	{"EXACT-14", "a newer one, before it looks at anything else", kept, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.read("rs", a, newer)
			t.read("rs", a, p)
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
	{"EXACT-14", "a newer one, and it looks at nothing else", kept, func(t *tape) {
		t.rereads(func(a, newer, _ *thing) {
			t.read("rs", a, newer)
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
	{"EXACT-14", "one before that which it wrote", kept, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.read("rs", a, p)
			t.read("rs", a, newer)
			third := newer.generation(3)
			t.commit("rs", "update", a, newer, third)
			t.commit("rs", "update", a, third, third.observes(2))
		})
	}},
	{"EXACT-14", "a newer one, and it looks again", kept, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.read("rs", a, p)
			t.read("rs", a, newer)
			t.read("rs", a, p)
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
	{"EXACT-14", "one that it wrote", kept, func(t *tape) {
		a, p := t.family(1, "p")
		t.sync("rs", a, func() {
			t.read("rs", a, p[0])
			newer := a.generation(2)
			t.commit("rs", "update", a, a, newer)
			t.read("rs", a, newer)
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
	{"EXACT-14", "one of an earlier reconcile", kept, func(t *tape) {
		a, p := t.family(1, "p")
		newer := t.becomes(a, a.generation(2))
		t.sync("rs", a, func() {
			t.read("rs", a, p[0])
			t.read("rs", a, newer)
		})
		t.sync("rs", newer, func() { t.commit("rs", "update", newer, newer, newer.observes(2)) })
	}},
	{"EXACT-14", "a newer one than it worked from", broken, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.read("rs", a, p)
			t.read("rs", a, newer)
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
	{"EXACT-14", "a newer one, after an Event", broken, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.read("rs", a, p)
			t.read("rs", a, newer)
			t.commit("rs", "create", a, nil, object("Event", "e"))
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
	{"EXACT-14", "a newer one than its write came from", broken, func(t *tape) {
		t.rereads(func(a, newer, p *thing) {
			t.commit("rs", "update", a, p, p.labelled("web"))
			t.read("rs", a, newer)
			t.commit("rs", "update", a, newer, newer.observes(2))
		})
	}},
})

// rereads records a reconcile of a that calls f, while a newer generation of a is stored. p is a dependent of a.
func (t *tape) rereads(f func(a, newer, p *thing)) {
	a, p := t.family(1, "p")
	newer := t.becomes(a, a.generation(2))
	t.sync("rs", a, func() { f(a, newer, p[0]) })
}

// generation returns a newer version of an object after a change of its spec.
func (o *thing) generation(n int64) *thing { return o.as(func(o *thing) { o.Generation = n }) }

// observes returns a version of an object whose status reports a generation.
func (o *thing) observes(n int64) *thing {
	return o.as(func(o *thing) { o.Status.ObservedGeneration = n })
}
