package law

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// byName returns a controller that distinguishes its dependents by name: for a set s with two replicas it creates
// Pods s-0 and s-1. It also creates Revisions, without a watch, and sets the owners of Claims.
func byName() Actor {
	number := func(owner, object runtime.Object) int {
		rest, ok := strings.CutPrefix(object.(*thing).Name, owner.(*thing).Name+"-")
		n, err := strconv.Atoi(rest)
		if !ok || err != nil {
			return -1
		}
		return n
	}
	is := func(object runtime.Object, kind string) bool { return object.(*thing).Kind == kind }
	return Actor{Process: "sts", Controller: "statefulset", For: kind("StatefulSet"),
		Owns: kinds("Pod", "Revision"), Contract: Contract{Unwatched: kinds("Revision"), Profile: Upstream,
			Selector: selectorOf,
			Replicas: func(o runtime.Object) int { return o.(*thing).Replicas },
			Active:   func(o runtime.Object) bool { return is(o, "Pod") && !o.(*thing).Failed },
			Wanted: func(owner, o runtime.Object) bool {
				n := number(owner, o)
				return !is(o, "Pod") || n >= 0 && n < owner.(*thing).Replicas
			},
			Adoptable:    func(owner, o runtime.Object) bool { return !is(o, "Pod") || number(owner, o) >= 0 },
			BlocksCreate: func(_, o runtime.Object) bool { return o.(*thing).DeletionTimestamp != nil },
			Counts: []Count{{Name: "placed", Is: func(_, o runtime.Object) bool { return is(o, "Pod") },
				Of: func(o runtime.Object) int {
					if n := o.(*thing).Placed; n != 0 {
						return max(n, 0)
					}
					return -1
				}}}},
	}
}

// line stores a set s. Its controller creates pods with these names, and receives them.
func (t *tape) line(want int, pods ...string) (a *thing, have []*thing) {
	a = set("s", want)
	a.Kind = "StatefulSet"
	t.exist(a)
	t.show("sts", a)
	for _, name := range pods {
		p := pod(name, a)
		t.sync("sts", a, func() { t.commit("sts", "create", a, nil, p) })
		t.deliver("sts", nil, p, "default/s")
		have = append(have, p)
	}
	return a, have
}

// resized records that the user scales a set, and that the controller receives it.
func (t *tape) resized(a *thing, want int) *thing {
	b := a.as(func(o *thing) { o.Replicas = want })
	t.shows("sts", a, b, "default/s")
	return b
}

// gives records that a set's controller changes the owners of a claim.
func (t *tape) gives(a, claim *thing, to ...metav1.OwnerReference) *thing {
	next := claim.owned(to...)
	t.sync("sts", a, func() { t.commit("sts", "update", a, claim, next).Guards.ResourceVersion = true })
	return next
}

var _ = tells([]story{
	{"EXACT-1", "what is not wanted goes, though one that is wanted is missing", kept, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		a = t.resized(a, 1)
		t.shows("sts", p[0], nil, "default/s")
		t.sync("sts", a, func() { t.commit("sts", "delete", a, p[1], nil) })
	}},
	{"EXACT-1", "one that is wanted goes, though another is too many", broken, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		t.sync("sts", a, func() { t.commit("sts", "delete", a, p[0], nil) })
	}},
	{"EXACT-2", "two of those that are wanted, where one is", broken, func(t *tape) {
		a, _ := t.line(1, "s-0")
		t.sync("sts", a, func() { t.commit("sts", "create", a, nil, pod("s-00", a)) })
	}},
	{"EXACT-2", "two of those that are wanted, in one sync", broken, func(t *tape) {
		a, _ := t.line(1)
		t.sync("sts", a, func() {
			t.commit("sts", "create", a, nil, pod("s-0", a))
			t.commit("sts", "create", a, nil, pod("s-00", a))
		})
	}},
	{"EXACT-2", "two of those that are wanted, the other not shown yet", committed, func(t *tape) {
		a, _ := t.line(1)
		t.exist(pod("s-0", a))
		t.sync("sts", a, func() { t.commit("sts", "create", a, nil, pod("s-00", a)) })
	}},
	{"EXACT-1", "not wanted by what it had been shown", committed, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		a = t.resized(a, 1)
		t.user(a, a.as(func(o *thing) { o.Replicas = 2 }))
		t.sync("sts", a, func() { t.commit("sts", "delete", a, p[1], nil) })
	}},
	{"EXACT-1", "the last goes after one that had come to an end", kept, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		a = t.resized(a, 1)
		failed := p[0].as(func(o *thing) { o.Failed = true })
		t.shows("sts", p[0], failed, "default/s")
		t.sync("sts", a, func() {
			t.commit("sts", "delete", a, failed, nil)
			t.commit("sts", "delete", a, p[1], nil)
		})
	}},
	{"EXACT-2", "what is wanted comes, though another is too many", kept, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		a = t.resized(a, 1)
		t.shows("sts", p[0], nil, "default/s")
		t.sync("sts", a, func() { t.commit("sts", "create", a, nil, pod("s-0", a)) })
	}},
	{"EXACT-2", "what is not wanted comes, though there are too few", broken, func(t *tape) {
		a, _ := t.line(2, "s-0")
		t.sync("sts", a, func() { t.commit("sts", "create", a, nil, pod("s-7", a)) })
	}},
	{"EXACT-2", "wanted when it was last shown", committed, func(t *tape) {
		a, _ := t.line(2, "s-0")
		t.user(a, a.as(func(o *thing) { o.Replicas = 1 }))
		t.sync("sts", a, func() { t.commit("sts", "create", a, nil, pod("s-1", a)) })
	}},

	{"ADOPT-1", "of its name", kept, func(t *tape) {
		a, _ := t.line(1)
		p := t.appears("sts", pod("s-0", nil), "default/s")
		t.sync("sts", a, func() { t.commit("sts", "patch", a, p, p.owned(controlledBy(a))) })
	}},
	{"ADOPT-1", "of another name", broken, func(t *tape) {
		a, _ := t.line(1)
		p := t.appears("sts", pod("other-0", nil), "default/s")
		t.sync("sts", a, func() { t.commit("sts", "patch", a, p, p.owned(controlledBy(a))) })
	}},
	{"ADOPT-2", "of another name, and left an orphan", kept, func(t *tape) {
		a, _ := t.line(1, "s-0")
		t.appears("sts", pod("other-0", nil), "default/s")
		t.sync("sts", a, func() {})
		t.settled()
	}},
	{"LAW-3", "one of another name is none of its share", kept, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		other := pod("other-0", nil)
		t.appears("sts", other, "default/s")
		held := p[1].dying("example.com/held")
		t.shows("sts", p[1], held, "default/s")
		t.sync("sts", a, func() {})
		t.settled()
	}},
	{"ORPHAN-1", "of another name, and kept", broken, func(t *tape) {
		a, _ := t.line(1, "s-0")
		t.exist(pod("other-0", a))
		t.settled()
	}},

	{"NOFIGHT-3", "one place is held by a terminating dependent", kept, func(t *tape) {
		a, p := t.line(2, "s-0", "s-1")
		held := p[1].dying("example.com/held")
		t.shows("sts", p[1], held, "default/s")
		t.sync("sts", a, func() {})
		t.settled()
	}},
	{"NOFIGHT-3", "one place is empty", broken, func(t *tape) {
		t.line(2, "s-0")
		t.settled()
	}},

	{"WATCH-1", "an event on a kind that it does not watch enqueues nothing", kept, func(t *tape) {
		a, _ := t.line(1, "s-0")
		r := object("Revision", "r").owned(controlledBy(a))
		t.appears("sts", r)
	}},

	{"LAW-1b", "a claim is given to its pod, and taken back", kept, func(t *tape) {
		a, p := t.line(1, "s-0")
		c := t.claim(a)
		t.gives(a, t.gives(a, c, controlledBy(p[0])), controlledBy(a))
	}},
	{"LAW-1b", "a claim is taken back from a pod that is gone by then", kept, func(t *tape) {
		a, p := t.line(1, "s-0")
		c := t.claim(a)
		c = t.gives(a, c, controlledBy(p[0]))
		t.user(p[0], nil)
		t.gives(a, c, controlledBy(a))
	}},
	{"LAW-1b", "a claim is taken from a pod of another set", broken, func(t *tape) {
		a, _ := t.line(1, "s-0")
		p := t.stored(pod("x-0", set("x", 1)))
		c := t.claim(p)
		t.gives(a, c, controlledBy(a))
	}},
	{"LAW-1b", "a claim is given to a pod that was let go", committed, func(t *tape) { t.givesToFreed(false) }},
	{"LAW-1b", "a claim is given to a pod that is shown to be free meanwhile", committed, func(t *tape) {
		a, p := t.line(1, "s-0")
		c := t.claim(a)
		t.sync("sts", a, func() {
			t.user(p[0], p[0].owned())
			t.deliver("sts", p[0], p[0].owned())
			t.commit("sts", "update", a, c, c.owned(controlledBy(p[0]))).Guards.ResourceVersion = true
		})
	}},
	{"LAW-1b", "a claim is given to a pod that is known to be free", broken, func(t *tape) { t.givesToFreed(true) }},
	{"LAW-2", "the claim of its pod", kept, func(t *tape) {
		a, p := t.line(1, "s-0")
		c := t.claim(p[0])
		t.gives(a, c)
	}},
	{"LAW-2", "the claim of another's pod", broken, func(t *tape) {
		a, _ := t.line(1, "s-0")
		p := t.stored(pod("x-0", set("x", 1)))
		c := t.claim(p)
		t.gives(a, c)
	}},
	{"NOFIGHT-2", "a claim goes to its pod and back, twice", kept, func(t *tape) {
		a, p := t.line(1, "s-0")
		c := t.claim(a)
		for range 2 {
			c = t.gives(a, c, controlledBy(p[0]))
			c = t.gives(a, c, controlledBy(a))
		}
	}},
	{"API-5", "after a restart a claim is given to its pod", kept, func(t *tape) {
		a, p := t.line(1, "s-0")
		c := t.claim(a)
		t.fault("sts", "crash")
		t.fault("sts", "restart")
		t.gives(a, c, controlledBy(p[0]))
	}},
})

// givesToFreed records that a user removes a pod from its set, and that the controller makes the pod the owner of a
// claim.
func (t *tape) givesToFreed(shown bool) {
	a, p := t.line(1, "s-0")
	c := t.claim(a)
	free := t.becomes(p[0], p[0].owned())
	if shown {
		t.deliver("sts", p[0], free)
	}
	t.gives(a, c, controlledBy(p[0]))
}

// Stories of dependents that a StatefulSet selects, but that have another name than its members.
var _ = tells([]story{
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
	{"EXACT-8", "a terminating set does not count a pod that is not a member", kept, func(t *tape) {
		t.tellsOf(1, "s-0", "x")
	}},
	{"EXACT-8", "a terminating set counts a pod that is not a member", kept, func(t *tape) {
		t.tellsOf(2, "s-0", "x")
	}},
	{"EXACT-8", "a terminating set leaves out a member", broken, func(t *tape) {
		t.tellsOf(1, "s-0", "s-1")
	}},
	{"EXACT-8", "a terminating set leaves out all", broken, func(t *tape) { t.tellsOf(-1, "s-0", "x") }},
})

// tellsOf records that the status of a terminating set counts n pods; a negative n stands for no count.
func (t *tape) tellsOf(n int, pods ...string) {
	a, _ := t.line(len(pods))
	for _, name := range pods {
		t.appears("sts", pod(name, a), "default/s")
	}
	b := t.shows("sts", a, a.dying("example.com/kept"), "default/s")
	t.sync("sts", b, func() {
		t.commit("sts", "update", b, b, b.as(func(o *thing) { o.Placed = n })).Subresource = "status"
	})
}
