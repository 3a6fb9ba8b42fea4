package law

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// Stories of operators, with and without violations.
var _ = tells([]story{
	{"LAW-2", "its own with another owner, left as it is", kept, func(t *tape) {
		t.shares(func(p, b *thing) *thing { return p.labelled("other") })
	}},
	{"LAW-2", "its own, whose list of owners it rewrites", broken, func(t *tape) {
		t.shares(func(p, b *thing) *thing { return p.owned(p.OwnerReferences[0]) })
	}},
	{"LAW-2", "its own, whose other owner is gone", kept, func(t *tape) {
		t.shares(func(p, b *thing) *thing { t.user(b, nil); return p.owned(p.OwnerReferences[0]) })
	}},
	{"LAW-2", "its own, from a copy that did not have the other owner", committed, func(t *tape) {
		a, b := set("a", 1), object("ConfigMap", "b")
		p := pod("p", a)
		t.exist(a, b, p)
		q := t.becomes(p, p.owned(p.OwnerReferences[0], plain(b)))
		t.sync("rs", a, func() { t.commit("rs", "update", a, q, q.owned(p.OwnerReferences[0])).Saw = p })
	}},
	{"LAW-2", "its own, with a reference that it put there itself", kept, func(t *tape) {
		a, b := set("a", 1), object("ConfigMap", "b")
		p := pod("p", a)
		t.exist(a, b, p)
		q := p.owned(p.OwnerReferences[0], plain(b))
		t.sync("rs", a, func() {
			t.commit("rs", "update", a, p, q)
			t.commit("rs", "update", a, q, q.owned(p.OwnerReferences[0]))
		})
	}},

	{"LAW-2", "a Pod of its own StatefulSet, which is restarted", kept, func(t *tape) { t.recycled("op", app("a"), true, "delete") }},
	{"LAW-2", "a Pod of its own StatefulSet, which a controller of Kubernetes deletes", broken, func(t *tape) {
		t.recycled("rs", set("a", 1), true, "delete")
	}},
	{"LAW-2", "a Pod of another StatefulSet", broken, func(t *tape) { t.recycled("op", app("a"), false, "delete") }},
	{"LAW-2", "a Pod of a StatefulSet that it created for no owner", kept, func(t *tape) {
		a, b := app("a"), object("StatefulSet", "b")
		p := pod("p", b)
		t.exist(a)
		t.sync("op", a, func() { t.commit("op", "create", a, nil, b) })
		t.exist(p)
		t.sync("op", a, func() { t.commit("op", "delete", a, p, nil) })
	}},
	{"LAW-2", "a Pod of the ReplicaSet of its own Deployment", kept, func(t *tape) {
		a, d := app("a"), object("Deployment", "d")
		d.OwnerReferences = []metav1.OwnerReference{controlledBy(a)}
		b := object("ReplicaSet", "b")
		b.OwnerReferences = []metav1.OwnerReference{controlledBy(d)}
		p := pod("p", b)
		t.exist(a, d, b, p)
		t.sync("op", a, func() { t.commit("op", "delete", a, p, nil) })
	}},
	{"LAW-2", "a Pod of its own StatefulSet, which one request marks as terminating and removes", kept, func(t *tape) {
		a, b := app("a"), object("StatefulSet", "b")
		b.OwnerReferences = []metav1.OwnerReference{controlledBy(a)}
		p := pod("p", b)
		t.exist(a, b, p)
		t.sync("op", a, func() {
			t.commit("op", "delete", a, p, p.dying())
			t.commit("op", "delete", a, p.dying(), nil)
		})
	}},
	{"LAW-2", "an eviction of a Pod of another set", kept, func(t *tape) {
		p := pod("p", object("StatefulSet", "b"))
		t.exist(set("a", 1), p)
		t.sync("rs", set("a", 1), func() { t.commit("rs", "create", set("a", 1), p, nil).Subresource = "eviction" })
	}},
	{"LAW-2", "a Pod of its own StatefulSet, which gets another label", kept, func(t *tape) { t.recycled("op", app("a"), true, "update") }},
	{"LAW-2", "a Pod of its own StatefulSet, which selects it no longer", broken, func(t *tape) {
		a, b := app("a"), object("StatefulSet", "b")
		b.OwnerReferences = []metav1.OwnerReference{controlledBy(a)}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		p := pod("p", b)
		t.exist(a, b, p)
		t.sync("op", a, func() { t.commit("op", "update", a, p, p.labelled("db")) })
	}},
	{"LAW-2", "a Pod of another StatefulSet, which gets another label", broken, func(t *tape) { t.recycled("op", app("a"), false, "update") }},
	{"LAW-2", "a Pod of its own StatefulSet, which a controller of Kubernetes labels", broken, func(t *tape) {
		t.recycled("rs", set("a", 1), true, "update")
	}},
	{"LAW-2", "a scheduling gate of a Pod of its own StatefulSet", kept, func(t *tape) { t.ungated(0, "gate") }},
	{"LAW-2", "a scheduling gate that a Pod of its own StatefulSet gets", broken, func(t *tape) { t.ungated(1, "gate") }},
	{"LAW-2", "an edit of a Pod of its own StatefulSet", broken, func(t *tape) { t.ungated(0, "other") }},

	{"LAW-1", "by a key that is no name", kept, func(t *tape) { t.keyed("a.again") }},
	{"LAW-1", "by the key of another", broken, func(t *tape) { t.exist(set("c", 0)); t.keyed("c") }},
	{"LAW-1", "by the key of another that is gone", broken, func(t *tape) {
		c := set("c", 0)
		t.exist(c)
		t.show("rs", c)
		t.shows("rs", c, nil)
		t.keyed("c")
	}},

	{"EXACT-1", "listed live, and one too far", broken, func(t *tape) {
		a, p := t.family(1, "p", "q")
		t.sync("rs", a, func() {
			t.lists("rs", a)
			t.commit("rs", "delete", a, p[0], nil)
			t.commit("rs", "delete", a, p[1], nil)
		})
	}},
	{"EXACT-1", "listed live, and shown what its cache has not", committed, func(t *tape) {
		a, p := t.family(1, "p", "q")
		n := pod("n", a)
		t.exist(n)
		t.sync("rs", a, func() {
			t.lists("rs", a)
			t.commit("rs", "delete", a, p[0], nil)
			t.user(n, nil)
			t.commit("rs", "delete", a, p[1], nil)
		})
	}},
	{"EXACT-2", "listed live, and one too many", broken, func(t *tape) {
		a, _ := t.family(1, "p")
		t.sync("rs", a, func() { t.lists("rs", a); t.commit("rs", "create", a, nil, pod("q", a)) })
	}},

	{"EXACT-2", "read live, and gone before it acts on that", kept, func(t *tape) {
		a, _ := t.family(1, "p")
		two := a.as(func(o *thing) { o.Replicas = 2 })
		t.sync("rs", a, func() {
			t.user(a, two)
			t.read("rs", a, two)
			t.shows("rs", two, nil, "default/a")
			t.commit("rs", "create", a, nil, pod("q", a))
		})
	}},
	{"EXACT-2", "gone before it acts, and one too many by all it read", broken, func(t *tape) {
		a, _ := t.family(1, "p", "q")
		two := a.as(func(o *thing) { o.Replicas = 2 })
		t.sync("rs", a, func() {
			t.user(a, two)
			t.read("rs", a, two)
			t.shows("rs", two, nil, "default/a")
			t.commit("rs", "create", a, nil, pod("n", a))
		})
	}},

	{"EXACT-5", "put back by an update without a version", committed, func(t *tape) { t.putsBack(false) }},
	{"EXACT-5", "an update with a version", kept, func(t *tape) { t.putsBack(true) }},

	{"LAW-1", "for an owner in another namespace", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		p := pod("p", a)
		p.Namespace = "other"
		t.sync("rs", a, func() { t.commit("rs", "create", a, nil, p) })
	}},

	{"FIN-1", "its own, that it does not declare", kept, func(t *tape) { t.hangs("op", "op") }},
	{"FIN-1", "one that the user was seen to put on", broken, func(t *tape) { t.hangs(User, "op") }},
	{"FIN-1", "one that another was seen to put on", broken, func(t *tape) { t.hangs("job", "op") }},
	{"EXACT-6", "a finalizer that it was seen to put on", broken, func(t *tape) {
		o := t.stored(object("App", "a"))
		held := o.as(func(o *thing) { o.Finalizers = []string{"example.com/late"} })
		t.sync("op", o, func() { t.commit("op", "update", o, o, held) })
		t.user(held, held.dying("example.com/late"))
		t.settled()
	}},
})

// shares records that a set's controller writes to a pod that also has another owner.
func (t *tape) shares(change func(p, b *thing) *thing) {
	a, b := set("a", 1), object("ConfigMap", "b")
	p := pod("p", a)
	p = p.owned(p.OwnerReferences[0], plain(b))
	t.exist(a, b, p)
	t.sync("rs", a, func() { t.commit("rs", "update", a, p, change(p, b)) })
}

// putsBack records that a set's controller labels an old version of a pod.
func (t *tape) putsBack(version bool) {
	a, p := t.family(1, "p")
	q := p[0].as(func(o *thing) { o.Node = "n1" })
	t.user(p[0], q)
	t.sync("rs", a, func() {
		r := t.commit("rs", "update", a, q, p[0].labelled("web"))
		r.Saw, r.Guards.ResourceVersion = p[0], version
	})
}

// hangs records that one controller adds a finalizer to an object, and that another one removes it.
func (t *tape) hangs(puts, takes string) {
	o := t.stored(object("App", "a"))
	held := o.as(func(o *thing) { o.Finalizers = []string{"example.com/late"} })
	t.commit(puts, "update", o, o, held)
	t.commit(takes, "update", o, held, held.as(func(o *thing) { o.Finalizers = nil }))
}

// keyed records that a set's controller creates a pod for the set in a reconcile of another key.
func (t *tape) keyed(key string) {
	a, _ := t.family(1)
	t.commit("rs", "create", nil, nil, pod("p", a)).For = sim.Ref{Kind: "ReplicaSet", Namespace: "default", Name: key}
}

// lists records that a controller lists the pods live.
func (t *tape) lists(process string, owner *thing) {
	t.add(sim.Record{Op: sim.Read, Process: process, Verb: "list", Object: sim.Ref{Kind: "Pod", Namespace: "default"},
		For: owner.ref(), SawFor: owner})
}

// The text of a violation says what is wrong.
func TestTold(t *testing.T) {
	gone, a := set("a", 0), set("a", 1).again()
	for _, c := range []struct {
		law, text string
		tell      func(t *tape)
	}{
		{"ADOPT-8", "treated as its own by a recreated owner rs/a", func(t *tape) {
			p := pod("p", gone)
			t.exist(a, p)
			t.sync("rs", a, func() { t.commit("rs", "delete", a, p, nil) })
		}},
		{"LAW-1", "created for rs/a, which is gone", func(t *tape) {
			t.commit("rs", "create", nil, nil, pod("p", gone)).For = sim.Ref{Kind: "ReplicaSet", Namespace: "default",
				Name: "a"}
		}},
		{"LAW-1", "created for another rs/a than the one that is being synced", func(t *tape) {
			t.exist(gone, set("b", 1))
			t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", gone)) })
		}},
		{"LAW-2", "takes off the reference to cm/b, which is there", func(t *tape) {
			t.shares(func(p, b *thing) *thing { return p.owned(p.OwnerReferences[0]) })
		}},
		{"EXACT-6", "rs/b stays terminating, held by " + ownFinalizer + " and " + tracking + " alone", func(t *tape) {
			t.exist(set("b", 0).dying(ownFinalizer, tracking))
			t.settled()
		}},
		{"NOFIGHT-3", "sts/s wants 2, owns 1 (1 Pod, 0 Revision); not owned: revision/stray", func(t *tape) {
			t.exist(object("Revision", "stray"))
			t.line(2, "s-0")
			t.settled()
		}},
	} {
		tp := &tape{}
		c.tell(tp)
		b := judge(tp).First()
		if b == nil || b.Law.ID != c.law || b.Text != c.text {
			t.Errorf("got %v, want %s: %s", b, c.law, c.text)
		}
	}
}

// A controller need not count a pod that its live list lacks.
func TestListedGone(t *testing.T) {
	tp := &tape{}
	a, p := tp.family(1, "p")
	tp.user(p[0], nil)
	tp.sync("rs", a, func() { tp.lists("rs", a); tp.commit("rs", "create", a, nil, pod("q", a)) })
	for _, b := range judge(tp).Violations() {
		if b.Law.ID == "EXACT-2" {
			t.Error(b)
		}
	}
}

// app returns an object of the operator, without a selector.
func app(name string) *thing { return object("App", name) }

func job(name string) *thing {
	o := set(name, 0)
	o.Kind = "Job"
	return o
}

func (o *thing) held(finalizers ...string) *thing {
	return o.as(func(o *thing) { o.Finalizers = finalizers })
}

const (
	tracking = "batch.kubernetes.io/job-tracking" // declared by the job controller
	cleanup  = "example.com/cleanup"              // of the operator, whose contract does not declare it
)

var _ = tells([]story{
	{"LAW-1", "created with a ControllerRef of another kind", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.Kind = "ReplicationController" })
	}},
	{"LAW-1", "created with a ControllerRef of another name", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.Name = "b" })
	}},
	{"LAW-1", "created with a ControllerRef of a version that is not served", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.APIVersion = "v9" })
	}},
	{"LAW-1", "created with a ControllerRef of another served version", kept, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.APIVersion = "v2" })
	}},
	{"LAW-1", "created with a ControllerRef of another group", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.APIVersion = "apps/v1" })
	}},
	{"LAW-1", "adopted with a ControllerRef of another name", broken, func(t *tape) {
		t.misnames(pod("p", nil), func(r *metav1.OwnerReference) { r.Name = "b" })
	}},
	{"LAW-1", "adopted with a ControllerRef that blocks no deletion", broken, func(t *tape) {
		a, p := t.orphan(1)
		t.sync("rs", a, func() { t.commit("rs", "patch", a, p, unblocking(p, a)) })
	}},
	{"LAW-1", "adopted with one, by whom does not owe as much", kept, func(t *tape) {
		v, p := object("Vault", "v"), pod("p", nil)
		t.exist(v, p)
		t.sync("vault", v, func() { t.commit("vault", "patch", v, p, unblocking(p, v)) })
	}},
	{"LAW-1", "adopted with its own", kept, func(t *tape) {
		t.misnames(pod("p", nil), func(*metav1.OwnerReference) {})
	}},
	{"LAW-1", "created from a queue of pods", kept, func(t *tape) {
		a, p := app("a"), pod("p", nil)
		t.exist(a, p)
		t.show("op", a, p)
		r := t.commit("op", "create", nil, nil, pod("q", a))
		r.For = sim.Ref{Kind: "App", Namespace: "default", Name: "p"}
	}},
})

// misnames records that a controller creates a pod, or adopts p, with a ControllerRef that f changes.
func (t *tape) misnames(p *thing, f func(*metav1.OwnerReference)) {
	a := set("a", 1)
	t.exist(a)
	ref := controlledBy(a)
	f(&ref)
	if p == nil {
		t.commit("rs", "create", a, nil, pod("p", nil).owned(ref))
		return
	}
	t.exist(p)
	t.sync("rs", a, func() { t.commit("rs", "patch", a, p, p.owned(ref)) })
}

var _ = tells([]story{
	{"LAW-2", "writes a rival's status", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		t.exist(a, b)
		t.commit("rs", "update", a, b, b.as(func(o *thing) { o.Node = "x" })).Subresource = "status"
	}},
	{"LAW-2", "writes another's dependent of a kind it does not make", broken, func(t *tape) {
		a, b := set("a", 1), app("b")
		c := object("ConfigMap", "c").owned(controlledBy(b))
		t.exist(a, b, c)
		t.commit("rs", "update", a, c, c.labelled("x"))
	}},
	{"LAW-2", "another's, in a collection that it deletes", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		p := pod("p", b)
		t.exist(a, b, p)
		t.commit("rs", "deletecollection", a, p, nil)
	}},
	{"LAW-2", "another's by now, of a kind it does not make", committed, func(t *tape) {
		a, b := set("a", 1), app("b")
		c := object("ConfigMap", "c")
		d := c.owned(controlledBy(b))
		t.exist(a, b, c)
		t.user(c, d)
		t.commit("rs", "update", a, d, d.labelled("x")).Saw = c
	}},
	{"LAW-2", "writes an object without an owner", kept, func(t *tape) {
		a, c := set("a", 1), object("ConfigMap", "c")
		t.exist(a, c)
		t.commit("rs", "update", a, c, c.labelled("x"))
	}},
	{"LAW-2", "writes its own object", kept, func(t *tape) {
		a := app("a")
		t.exist(a)
		t.commit("op", "update", a, a, a.labelled("x"))
	}},
	{"LAW-2", "deletes what it created without an owner, of a kind that another controller reconciles", kept, func(t *tape) {
		a, b := app("a"), set("b", 1)
		t.exist(a)
		t.commit("op", "create", a, nil, b)
		t.commit("op", "delete", a, b, nil)
	}},
	{"LAW-2", "deletes what a user created without an owner, of a kind that another controller reconciles", broken, func(t *tape) {
		a, b := app("a"), set("b", 1)
		t.exist(a)
		t.user(nil, b)
		t.commit("op", "delete", a, b, nil)
	}},
	{"LAW-2", "deletes what it created without an owner, and is another's now", broken, func(t *tape) {
		a, b := app("a"), set("b", 1)
		d := object("Deployment", "d")
		t.exist(a, d)
		t.commit("op", "create", a, nil, b)
		c := t.becomes(b, b.owned(controlledBy(d)))
		t.commit("op", "delete", a, c, nil)
	}},
	{"LAW-2", "scales by its office", kept, func(t *tape) {
		a, b := app("a"), rc("b", 1)
		t.exist(a, b)
		t.commit("op", "patch", a, b, b.as(func(o *thing) { o.Replicas = 0 })).Subresource = "scale"
	}},
	{"LAW-2", "takes the owner off what it scales by its office", broken, func(t *tape) {
		a, d := app("a"), object("Deployment", "d")
		b := rc("b", 1).owned(controlledBy(d))
		t.exist(a, d, b)
		t.commit("op", "patch", a, b, b.owned())
	}},
	{"LAW-2", "removes what it is to scale", broken, func(t *tape) {
		a, b := app("a"), rc("b", 1)
		t.exist(a, b)
		t.commit("op", "delete", a, b, nil)
	}},
	{"LAW-2", "removes by its office, and says what it has to spare", kept, func(t *tape) {
		a, b := object("Policy", "a"), rc("b", 1)
		t.exist(a, b)
		t.commit("cleaner", "delete", a, b, nil)
	}},
	{"LAW-2", "hands over by its office what it says it may", kept, func(t *tape) {
		a, d := object("Policy", "a"), object("Deployment", "d")
		b := rc("b", 1).owned(controlledBy(d))
		t.exist(a, d, b)
		t.commit("cleaner", "update", a, b, b.owned())
	}},
	{"LAW-2", "hands over what it says it has to leave", broken, func(t *tape) {
		a, d := object("Policy", "a"), object("Deployment", "d")
		b := rc("kept", 1).owned(controlledBy(d))
		t.exist(a, d, b)
		t.commit("cleaner", "update", a, b, b.owned())
	}},
	{"LAW-2", "from a queue of pods, its own", kept, func(t *tape) { t.otherQueue("App") }},
	{"LAW-2", "from a queue of pods, another's", broken, func(t *tape) { t.otherQueue("ReplicaSet") }},
	{"LAW-2", "adoption that takes finalizers off", broken, func(t *tape) {
		t.adoptsHeld("rs", set("a", 1), []string{cleanup}, nil)
	}},
	{"LAW-2", "adoption that puts a finalizer on", broken, func(t *tape) {
		t.adoptsHeld("rs", set("a", 1), nil, []string{cleanup})
	}},
	{"LAW-2", "adoption that puts its own finalizer on", kept, func(t *tape) {
		t.adoptsHeld("job", job("a"), []string{cleanup}, []string{cleanup, tracking})
	}},
})

// otherQueue records that the operator deletes a pod in the reconcile of a key with the pod's name.
func (t *tape) otherQueue(kind string) {
	a := object(kind, "a")
	p := pod("p", a)
	t.exist(a, p)
	t.show("op", a, p)
	t.commit("op", "delete", nil, p, nil).For = sim.Ref{Kind: "App", Namespace: "default", Name: "p"}
}

// adoptsHeld records that a controller adopts a pod and changes its finalizers in the same write.
func (t *tape) adoptsHeld(process string, a *thing, before, after []string) {
	p := pod("p", nil).held(before...)
	t.exist(a, p)
	t.sync(process, a, func() { t.commit(process, "patch", a, p, p.owned(controlledBy(a)).held(after...)) })
}

// recycled records that a process writes to a Pod of a StatefulSet, which the reconciled object a may own.
func (t *tape) recycled(process string, a *thing, own bool, verb string) {
	b := object("StatefulSet", "b")
	if own {
		b.OwnerReferences = []metav1.OwnerReference{controlledBy(a)}
	}
	p := pod("p", b)
	t.exist(a, b, p)
	edited := p.labelled("db")
	if verb == "delete" {
		edited = nil
	}
	t.sync(process, a, func() { t.commit(process, verb, a, p, edited) })
}

// ungated lets an operator remove a scheduling gate or another value from the spec of a Pod of its own StatefulSet, or, if
// from is 1, add it.
func (t *tape) ungated(from int, what string) {
	a, b := app("a"), object("StatefulSet", "b")
	b.OwnerReferences = []metav1.OwnerReference{controlledBy(a)}
	p := pod("p", b)
	with := p.as(func(o *thing) {
		if what == "gate" {
			o.Spec.SchedulingGates = []string{"gate"}
		} else {
			o.Node = "other"
		}
	})
	states := []*thing{with, p.as(func(*thing) {})}
	t.exist(a, b, states[from])
	t.sync("op", a, func() { t.commit("op", "update", a, states[from], states[1-from]) })
}
