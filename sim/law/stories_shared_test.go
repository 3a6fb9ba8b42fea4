package law

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// crew is another controller of Apps, beside the operator: it keeps Secrets for them.
func crew() Actor {
	return Actor{Process: "crew", Controller: "crew", For: kind("App"), Owns: kinds("Secret"),
		Contract: Contract{
			Selector: selectorOf,
			Replicas: func(o runtime.Object) int { return o.(*thing).Replicas },
			Counted:  func(o runtime.Object) int { return o.(*thing).Counted },
		}}
}

// manned is an App for which the second of its controllers is to keep Secrets.
func (t *tape) manned(replicas int) *thing {
	a := object("App", "a")
	a.Replicas, a.Selector = replicas, a.Labels
	t.exist(a)
	return a
}

func secretOf(name string, owner *thing) *thing {
	s := pod(name, owner)
	s.Kind = "Secret"
	return s
}

// sharedKindStories are of a kind that two controllers sync, each for a part of what it
// asks for. The operator, which comes first, says nothing of numbers.
var sharedKindStories = []story{
	{"NOFIGHT-3", "the second controller of a kind has made what it was to", kept, func(t *tape) {
		a := t.manned(1)
		t.exist(secretOf("s", a), pod("p", a))
		t.settled()
	}},
	{"NOFIGHT-3", "the second controller of a kind has made none", broken, func(t *tape) {
		a := t.manned(1)
		t.exist(pod("p", a))
		t.settled()
	}},
	{"NOFIGHT-3", "the second controller of a kind is down, the first is not", kept, func(t *tape) {
		t.manned(1)
		t.fault("crew", "crash")
		t.settled()
	}},
	{"NOFIGHT-3", "the first controller of a kind is down, the second is not", broken, func(t *tape) {
		t.manned(1)
		t.fault("op", "crash")
		t.settled()
	}},
	{"WRITE-3", "the first controller of a kind was off, the second is to blame", kept, func(t *tape) {
		a := t.manned(1)
		t.fault("op", "crash")
		t.fault("op", "restart")
		t.exist(secretOf("s", a))
		t.settled()
	}},
	{"LAW-3", "the second controller of a kind counts what is not its own", broken, func(t *tape) {
		a := t.manned(0).as(func(o *thing) { o.Counted = 1 })
		t.user(a, a)
		t.exist(secretOf("s", nil))
		t.settled()
	}},
	{"ORPHAN-1", "the second controller of a kind keeps what it does not select any more", broken, func(t *tape) {
		a := t.manned(1)
		t.exist(secretOf("s", a).labelled("db"))
		t.settled()
	}},
}

// What an owner selects each controller of its kind reads for itself, and one that is
// upgraded reads it anew.
func TestSelectorIsOfItsController(t *testing.T) {
	all := func(runtime.Object) labels.Selector { return labels.Everything() }
	none := func(runtime.Object) labels.Selector { return labels.Nothing() }
	j := NewJudge([]Actor{{Process: "a", Controller: "a", For: kind("App"), Contract: Contract{Selector: all}},
		{Process: "b", Controller: "b", For: kind("App"), Contract: Contract{Selector: none}}}, All())
	owner, p := object("App", "a"), pod("p", nil)
	for i, want := range []bool{true, false} {
		if got := j.state.Selects(&j.state.processes[i].Actor, owner, p); got != want {
			t.Errorf("controller %d: selects %v, want %v", i, got, want)
		}
	}
	j.AddActor(Actor{Process: "a", Controller: "a", For: kind("App"), Contract: Contract{Selector: none}})
	if j.state.Selects(&j.state.processes[0].Actor, owner, p) {
		t.Error("selects as before the upgrade")
	}
}
