package law

// busy stores a Job that may have so many at one time, shown to its controller.
func (t *tape) busy(most int) *thing {
	a := job("a")
	a.Replicas = most
	t.exist(a)
	t.show("job", a)
	return a
}

// mostStories are of owners that want no number of dependents, but only so many at
// one time, and of what a status may have that is not active.
var mostStories = []story{
	{"EXACT-2", "one at a time", kept, func(t *tape) {
		a := t.busy(1)
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("p", a)) })
	}},
	{"EXACT-2", "a second one at one time", broken, func(t *tape) {
		a := t.busy(1)
		p := pod("p", a)
		t.exist(p)
		t.deliver("job", nil, p, "default/a")
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
		t.exist(p)
		t.deliver("job", nil, p, "default/a")
		t.sync("job", a, func() {
			t.commit("job", "delete", a, p, nil)
			t.commit("job", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "the first has failed", kept, func(t *tape) {
		a := t.busy(1)
		p := pod("p", a).as(func(o *thing) { o.Failed = true })
		t.exist(p)
		t.deliver("job", nil, p, "default/a")
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("q", a)) })
	}},
	{"EXACT-2", "any number", kept, func(t *tape) {
		a := t.busy(0)
		p := pod("p", a)
		t.exist(p)
		t.deliver("job", nil, p, "default/a")
		t.sync("job", a, func() { t.commit("job", "create", a, nil, pod("q", a)) })
	}},
	{"LAW-3", "has one at rest that is being deleted", kept, func(t *tape) {
		a := set("a", 0)
		a.Counted = 1
		t.exist(a, pod("p", a).dying(cleanup))
		t.settled()
	}},
	{"LAW-3", "counts one that it has read live", kept, func(t *tape) {
		a := set("a", 1)
		p := pod("p", a)
		t.exist(a, p)
		t.show("rs", a)
		t.sync("rs", a, func() { t.read("rs", a, p); t.status(a, func(o *thing) { o.Counted = 1 }) })
	}},
	{"LAW-3", "counts another's that it has read live", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p)
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
}

// madeBy has a controller that polls delete what it has made, and whose it is now.
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
