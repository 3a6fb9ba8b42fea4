package law

// forbiddenStories are of owners that lack what the server forbids.
var forbiddenStories = []story{
	{"NOFIGHT-3", "more is forbidden", kept, func(t *tape) { t.forbidden(2); t.settled() }},
	{"NOFIGHT-3", "more was forbidden, and somebody has acted since", broken, func(t *tape) {
		t.forbidden(2)
		t.exist(pod("other", nil))
		t.settled()
	}},
	{"NOFIGHT-3", "more was forbidden, and nobody asks after somebody has acted", broken, func(t *tape) {
		t.forbidden(2)
		was, is := pod("other", nil), pod("other", nil)
		t.exist(was)
		is.Failed = true
		t.commit("kubelet", "update", nil, was, is)
		t.settled()
	}},
	{"NOFIGHT-3", "more is forbidden, but there are too many", broken, func(t *tape) {
		a := t.forbidden(2)
		t.commit("rs", "create", a, nil, pod("p", a))
		t.commit("rs", "create", a, nil, pod("q", a))
		t.settled()
	}},
	{"WRITE-8", "forbidden, and tried again", kept, func(t *tape) { t.forbidden(2); t.settled() }},
	{"WRITE-8", "forbidden, and never tried again", broken, func(t *tape) { t.forbidden(1); t.settled() }},
	{"LAW-3", "lacks what is forbidden, beside what it selects and does not own", kept, func(t *tape) {
		b := rc("b", 1)
		t.exist(b, pod("theirs", b))
		t.forbidden(2)
		t.settled()
	}},
}

// forbidden has a set that wants one pod try so often to make it, and be refused.
func (t *tape) forbidden(tries int) *thing {
	a := set("a", 1)
	t.exist(a)
	t.show("rs", a)
	for range tries {
		t.start("rs", a)
		t.refuse("rs", "create", a, pod("p", a), nil, 403, "exceeded quota")
		t.end("rs", a, "exceeded quota")
		t.at += 5e6
	}
	return a
}
