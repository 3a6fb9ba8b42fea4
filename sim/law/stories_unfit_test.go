package law

// unfitStories are of dependents that their owner selects, and that would not be taken for one of its own.
var unfitStories = []story{
	{"API-5", "let go after a restart, of another name than a member has", kept, func(t *tape) {
		a, _ := t.line(0)
		x := pod("x", a)
		t.exist(x)
		t.fault("sts", "restart").Incarnation = 1
		t.commit("sts", "patch", a, x, x.owned()).Incarnation = 1
	}},
	{"API-5", "let go after a restart, of a member's name", broken, func(t *tape) {
		a, p := t.line(1, "s-0")
		t.fault("sts", "restart").Incarnation = 1
		t.commit("sts", "patch", a, p[0], p[0].owned()).Incarnation = 1
	}},
	{"EXACT-8", "a set that is going does not count one that is no member", kept, func(t *tape) {
		t.tellsOf(1, "s-0", "x")
	}},
	{"EXACT-8", "a set that is going counts one that is no member", kept, func(t *tape) {
		t.tellsOf(2, "s-0", "x")
	}},
	{"EXACT-8", "a set that is going leaves out a member", broken, func(t *tape) {
		t.tellsOf(1, "s-0", "s-1")
	}},
	{"EXACT-8", "a set that is going leaves out all", broken, func(t *tape) { t.tellsOf(-1, "s-0", "x") }},
}

// tellsOf has the status of a set of named pods that is going say how many it has; less than none is none at all.
func (t *tape) tellsOf(n int, pods ...string) {
	a, _ := t.line(len(pods))
	for _, name := range pods {
		p := pod(name, a)
		t.exist(p)
		t.deliver("sts", nil, p, "default/s")
	}
	b := a.dying("example.com/kept")
	t.user(a, b)
	t.deliver("sts", a, b, "default/s")
	t.sync("sts", b, func() {
		t.commit("sts", "update", b, b, b.as(func(o *thing) { o.Placed = n })).Subresource = "status"
	})
}
