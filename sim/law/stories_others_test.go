package law

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// app is an object of the operator's: it selects nothing.
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
	cleanup  = "example.com/cleanup"              // the operator's, who declares none
)

var namingStories = []story{
	{"LAW-1", "created with a ControllerRef of another kind", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.Kind = "ReplicationController" })
	}},
	{"LAW-1", "created with a ControllerRef of another name", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.Name = "b" })
	}},
	{"LAW-1", "created with a ControllerRef of another version", broken, func(t *tape) {
		t.misnames(nil, func(r *metav1.OwnerReference) { r.APIVersion = "v2" })
	}},
	{"LAW-1", "adopted with a ControllerRef of another name", broken, func(t *tape) {
		t.misnames(pod("p", nil), func(r *metav1.OwnerReference) { r.Name = "b" })
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
}

// misnames creates a pod, or adopts p, with a ControllerRef that f changes.
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

var othersStories = []story{
	{"LAW-2", "scales a rival", broken, func(t *tape) {
		a, b := set("a", 1), set("b", 1)
		t.exist(a, b)
		t.commit("rs", "patch", a, b, b.as(func(o *thing) { o.Replicas = 0 })).Subresource = "scale"
	}},
	{"LAW-2", "deletes a rival of another kind", broken, func(t *tape) {
		a, b := set("a", 1), rc("b", 1)
		t.exist(a, b)
		t.commit("rs", "delete", a, b, nil)
	}},
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
	{"LAW-2", "another's by now, of a kind it does not make", committed, func(t *tape) {
		a, b := set("a", 1), app("b")
		c := object("ConfigMap", "c")
		d := c.owned(controlledBy(b))
		t.exist(a, b, c)
		t.user(c, d)
		t.commit("rs", "update", a, d, d.labelled("x")).Saw = c
	}},
	{"LAW-2", "writes what is nobody's", kept, func(t *tape) {
		a, c := set("a", 1), object("ConfigMap", "c")
		t.exist(a, c)
		t.commit("rs", "update", a, c, c.labelled("x"))
	}},
	{"LAW-2", "writes its own object", kept, func(t *tape) {
		a := app("a")
		t.exist(a)
		t.commit("op", "update", a, a, a.labelled("x"))
	}},
	{"LAW-2", "scales by its office", kept, func(t *tape) {
		a, b := app("a"), rc("b", 1)
		t.exist(a, b)
		t.commit("op", "patch", a, b, b.as(func(o *thing) { o.Replicas = 0 })).Subresource = "scale"
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
}

// otherQueue has the operator delete a pod of an owner of some kind for a key
// that is the pod's.
func (t *tape) otherQueue(kind string) {
	a := object(kind, "a")
	p := pod("p", a)
	t.exist(a, p)
	t.show("op", a, p)
	t.commit("op", "delete", nil, p, nil).For = sim.Ref{Kind: "App", Namespace: "default", Name: "p"}
}

// adoptsHeld has a controller adopt a pod whose finalizers change with that.
func (t *tape) adoptsHeld(process string, a *thing, before, after []string) {
	p := pod("p", nil).held(before...)
	t.exist(a, p)
	t.sync(process, a, func() { t.commit(process, "patch", a, p, p.owned(controlledBy(a)).held(after...)) })
}

var releaseStories = []story{
	{"ORPHAN-1", "released without its finalizers", broken, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a).labelled("db").held(cleanup)
		t.exist(a, p)
		t.commit("rs", "patch", a, p, p.owned().held())
	}},
	{"ORPHAN-1", "released with its own finalizer taken off", kept, func(t *tape) {
		a := job("a")
		p := pod("p", a).labelled("db").held(tracking)
		t.exist(a, p)
		t.commit("job", "patch", a, p, p.owned().held())
	}},
	{"ORPHAN-1", "released though it matches", broken, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a)
		t.exist(a, p)
		t.commit("rs", "patch", a, p, p.owned())
	}},
	{"ORPHAN-1", "released though it matches by now", committed, func(t *tape) {
		a := set("a", 0)
		p := pod("p", a).labelled("db")
		q := p.labelled("web")
		t.exist(a, p)
		t.user(p, q)
		t.commit("rs", "patch", a, q, q.owned()).Saw = p
	}},
	{"ORPHAN-1", "not released, another controller is down", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a, pod("p", a).labelled("db"))
		t.fault("rc", "crash")
		t.settled()
	}},
	{"ORPHAN-2", "its own child is gone, and it selects nothing", kept, func(t *tape) {
		a := app("a")
		p := pod("p", a)
		t.exist(a, p)
		t.user(p, nil)
		t.start("op", a)
		t.refuse("op", "update", a, p, p, 404, `pods "p" not found`)
		t.end("op", a, `pods "p" not found`)
	}},
	{"ADOPT-3", "its finalizer deletes what is its own", kept, func(t *tape) {
		t.cleansUp("op", app("a").dying(cleanup))
	}},
	{"ADOPT-3", "its declared finalizer does", kept, func(t *tape) { t.cleansUp("job", job("a").dying(tracking)) }},
	{"ADOPT-3", "deletes though another's finalizer holds it", broken, func(t *tape) {
		t.cleansUp("job", job("a").dying(cleanup))
	}},
	{"ADOPT-3", "deletes though only the collector's finalizer holds it", broken, func(t *tape) {
		t.cleansUp("op", app("a").dying(foregroundFinalizer))
	}},
}

// cleansUp has a controller delete a pod of its dying owner.
func (t *tape) cleansUp(process string, a *thing) {
	p := pod("p", a)
	t.exist(a, p)
	t.commit(process, "delete", a, p, nil)
}

var finalizerStories = []story{
	{"FIN-1", "the collector takes its own off", kept, func(t *tape) {
		a := set("a", 0)
		b := a.dying(foregroundFinalizer, cleanup)
		t.exist(a)
		t.user(a, b)
		t.commit("gc", "patch", nil, b, b.held(cleanup))
	}},
	{"FIN-1", "the collector takes another's off", broken, func(t *tape) {
		b := set("a", 0).dying(foregroundFinalizer, cleanup)
		t.exist(b)
		t.commit("gc", "patch", nil, b, nil)
	}},
	{"FIN-1", "an operator takes its own off", kept, func(t *tape) {
		a := app("a").dying(cleanup)
		t.exist(a)
		t.commit("op", "update", a, a, nil)
	}},
	{"FIN-1", "an operator takes off what another declares", broken, func(t *tape) {
		a := app("a").dying(tracking)
		t.exist(a)
		t.commit("op", "update", a, a, nil)
	}},
	{"FIN-1", "a write over a finalizer it had not seen", committed, func(t *tape) {
		a := set("a", 0)
		b := a.held(cleanup)
		t.exist(a)
		t.user(a, b)
		t.commit("rs", "update", a, b, b.held()).Saw = a
	}},
	{"FIN-1", "a deletion by its policy", kept, func(t *tape) {
		a := app("a").held(orphanFinalizer)
		t.exist(a)
		t.commit("op", "delete", a, a, nil)
	}},
	{"GC-1", "cluster-scoped, not collected", broken, func(t *tape) { t.unscoped("Node") }},
	{"GC-1", "cluster-scoped, its owner would be in some namespace", kept, func(t *tape) { t.unscoped("ConfigMap") }},
	{"GC-1", "its owner is of a kind that nobody serves", kept, func(t *tape) {
		t.exist(pod("p", object("Widget", "w")))
		t.settled()
	}},
	{"GC-1", "its owner is of a kind of which no object was met", broken, func(t *tape) {
		t.exist(pod("p", object("Secret", "w")))
		t.settled()
	}},
	{"GC-1", "cuts a reference to a live owner", broken, func(t *tape) { t.cuts(set("b", 0)) }},
	{"GC-1", "cuts a reference to one that orphans", kept, func(t *tape) {
		a, p := t.dependent()
		t.user(a, a.dying(orphanFinalizer))
		t.commit("gc", "patch", nil, p, p.owned())
	}},
	{"GC-1", "cuts a reference to one that is to stay by now", committed, func(t *tape) {
		a, p := t.dependent()
		b := a.dying(orphanFinalizer, cleanup)
		t.user(a, b)
		t.deliver("gc", a, b)
		t.user(b, b.held(cleanup))
		t.commit("gc", "patch", nil, p, p.owned())
	}},
	{"GC-1", "another controller is down", broken, func(t *tape) {
		a, _ := t.dependent()
		t.fault("rc", "crash")
		t.user(a, nil)
		t.settled()
	}},
	{"GC-3", "shown during the sync, before the request left", broken, func(t *tape) { t.lateDependent(0) }},
	{"GC-3", "shown after the request left", committed, func(t *tape) { t.lateDependent(-1) }},
}

// unscoped leaves a cluster-scoped object whose owner, of some kind, is gone.
func (t *tape) unscoped(kind string) {
	o := object("Node", "n")
	o.Namespace = ""
	t.exist(o.owned(plain(object(kind, "gone"))))
	t.settled()
}

// cuts has the collector take the reference to b off a pod with a dead one.
func (t *tape) cuts(b *thing) {
	a := set("a", 0)
	p := pod("p", nil).owned(plain(a), plain(b))
	t.exist(b, p)
	t.show("gc", b, p)
	t.commit("gc", "patch", nil, p, p.owned())
}

// lateDependent has the collector shown a dependent while it works, and then let
// its owner go with a request that left so many records from now.
func (t *tape) lateDependent(left int) {
	a := set("a", 1)
	b := a.dying(orphanFinalizer)
	t.exist(a)
	t.show("gc", a)
	t.user(a, b)
	t.start("gc", nil)
	p := pod("p", a)
	t.exist(p)
	t.show("gc", p)
	r := t.commit("gc", "patch", nil, b, nil)
	r.Asked = r.Index + left
}

// What a deletion promised its dependents the collector may still do when it has
// let the owner go too early, and something else holds that: the too early is
// another law's.
func TestPromisedLate(t *testing.T) {
	tp := &tape{}
	a := set("a", 1)
	p := pod("p", a)
	tp.exist(a, p)
	tp.show("gc", a) // and not the pod
	b := a.dying(orphanFinalizer, cleanup)
	tp.user(a, b)
	tp.start("gc", nil)
	tp.commit("gc", "patch", nil, b, b.held(cleanup))
	tp.show("gc", b.held(cleanup), p)
	tp.commit("gc", "patch", nil, p, p.owned())
	for _, b := range judge(tp).Breaches() {
		if b.Law.ID != "GC-3" || b.Strength != Committed {
			t.Errorf("breaks %s", b)
		}
	}
}
