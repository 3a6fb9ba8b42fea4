package law

import (
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
	{"LAW-1", "adopted with a ControllerRef that blocks no deletion", broken, func(t *tape) {
		a, p := set("a", 1), pod("p", nil)
		t.exist(a, p)
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
