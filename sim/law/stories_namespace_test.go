package law

// namespace is one that holds a pod and a set.
func (t *tape) namespace() (ns, p, s *thing) {
	ns = object("Namespace", "default")
	ns.Namespace = ""
	p, s = pod("p", nil), set("a", 0)
	s.Labels, s.Selector = map[string]string{"app": "other"}, map[string]string{"app": "other"}
	t.exist(ns, p, s)
	return ns, p, s
}

var namespaceStories = []story{
	{"NS-1", "emptied, pods first", kept, func(t *tape) {
		ns, p, s := t.namespace()
		dying := ns.dying()
		t.user(ns, dying)
		t.commit("ns", "deletecollection", nil, p, nil)
		t.commit("ns", "deletecollection", nil, s, nil)
		t.commit("ns", "update", nil, dying, nil)
		t.settled()
	}},
	{"NS-1", "pods not first", broken, func(t *tape) {
		ns, _, s := t.namespace()
		t.user(ns, ns.dying())
		t.commit("ns", "deletecollection", nil, s, nil)
	}},
	{"NS-1", "goes too early", broken, func(t *tape) {
		ns, p, _ := t.namespace()
		dying := ns.dying()
		t.user(ns, dying)
		t.commit("ns", "deletecollection", nil, p, nil)
		t.commit("ns", "update", nil, dying, nil)
	}},
	{"NS-1", "of one that nobody deletes", broken, func(t *tape) {
		_, p, _ := t.namespace()
		t.commit("ns", "deletecollection", nil, p, nil)
	}},
	{"NS-1", "stays empty", broken, func(t *tape) {
		ns := object("Namespace", "empty")
		ns.Namespace = ""
		t.exist(ns)
		t.user(ns, ns.dying())
		t.settled()
	}},
}
