package garbagecollector

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

var configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// recorder returns a graph that records what it queues.
func recorder(without Without) (*graph, func() string) {
	g := newGraph(&without)
	var work []string
	g.look = func(n *node) { work = append(work, string(n.uid)) }
	g.orphan = func(n *node) { work = append(work, "orphan "+string(n.uid)) }
	return g, func() string {
		slices.Sort(work)
		s := strings.Join(slices.Compact(work), ", ")
		work = nil
		return s
	}
}

// object returns a ConfigMap whose name is its uid. owners are names, with "!" in front if the reference blocks.
func object(name string, owners ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
	for _, o := range owners {
		blocking := strings.HasPrefix(o, "!")
		o = strings.TrimPrefix(o, "!")
		cm.OwnerReferences =
			append(cm.OwnerReferences,
				metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o, UID: types.UID(o),
					BlockOwnerDeletion: &blocking})
	}
	return cm
}

func deleting(cm *corev1.ConfigMap, finalizers ...string) *corev1.ConfigMap {
	cm.DeletionTimestamp, cm.Finalizers = &metav1.Time{}, finalizers
	return cm
}

func TestObserved(t *testing.T) {
	g, work := recorder(Without{})
	step := func(what, want string) {
		t.Helper()
		if got := work(); got != want {
			t.Errorf("%s: queued %q, want %q", what, got, want)
		}
	}
	d := object("d", "!a")
	g.observed(configMaps, nil, d)
	step("owner never seen", "a")
	g.observed(configMaps, nil, object("e", "a"))
	step("... and still not", "")
	g.observed(configMaps, nil, object("a"))
	step("owner seen", "")
	g.observed(configMaps, object("a"), deleting(object("a"), metav1.FinalizerDeleteDependents))
	step("foreground deletion starts", "a, d, e")
	g.observed(configMaps, deleting(object("a"), metav1.FinalizerDeleteDependents),
		deleting(object("a"), metav1.FinalizerDeleteDependents))
	step("... only once", "")
	if got := names(g.nodes["a"].blocking(&Without{})); got != "[d]" {
		t.Errorf("blocking %s", got)
	}
	unblocked := object("d", "a")
	g.observed(configMaps, d, unblocked)
	step("no longer blocking", "a")
	g.removed(object("e", "a"))
	step("a dependent went", "a")
	g.removed(object("a"))
	step("the owner went", "d")
	if !g.absent.has(identity{"v1", "ConfigMap", "ns", "a", "a"}) {
		t.Error("the absent owner is not remembered")
	}
	if g.absent.has(identity{"v1", "ConfigMap", "ns", "b", "a"}) ||
		g.absent.has(identity{"v1", "ConfigMap", "other", "a", "a"}) {
		t.Error("other coordinates of the same uid count as absent")
	}
	g.observed(configMaps, nil, deleting(object("f"), metav1.FinalizerOrphanDependents))
	step("orphaning starts", "orphan f")
	other := object("h", "f")
	other.OwnerReferences[0].APIVersion = "v2"
	g.observed(configMaps, nil, other)
	step("a reference by another version", "h")
}

// An object that is first seen with both deletion finalizers orphans first, but still waits for its dependents.
func TestObservedInBothDeletions(t *testing.T) {
	g, work := recorder(Without{})
	both := deleting(object("a"), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	g.observed(configMaps, nil, both)
	g.observed(configMaps, nil, object("d", "!a"))
	if got := work(); got != "orphan a" {
		t.Errorf("queued %q", got)
	}
	g.removed(object("d"))
	if got := work(); got != "a" {
		t.Errorf("a dependent was removed: queued %q, want a", got)
	}
}

// The work for a released object is queued again at its next event, and only then.
func TestReleasedStartsAgainOnce(t *testing.T) {
	g, work := recorder(Without{})
	a := deleting(object("a"), metav1.FinalizerDeleteDependents)
	g.observed(configMaps, nil, a)
	g.nodes["a"].released = true
	work()
	for _, want := range []string{"a", ""} {
		g.observed(configMaps, a, a)
		if got := work(); got != want {
			t.Errorf("queued %q, want %q", got, want)
		}
	}
}

// A cluster-scoped owner is the same from every namespace. Dependents that named it correctly before it was seen are
// not checked.
func TestObservedWithoutNamespace(t *testing.T) {
	g, work := recorder(Without{})
	g.observed(configMaps, nil, object("d", "a"))
	wrong := object("e", "a")
	wrong.OwnerReferences[0].Name = "z"
	g.observed(configMaps, nil, wrong)
	work()
	a := object("a")
	a.Namespace = ""
	g.observed(configMaps, nil, a)
	if got := work(); got != "e" {
		t.Errorf("queued %q, want e", got)
	}
}

// A dependent may refer to an owner by several names, including the one that was looked up.
func TestAlternative(t *testing.T) {
	named := func(d string, names ...string) *node {
		n := &node{identity: identity{apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: d}}
		for _, name := range names {
			n.owners = append(n.owners,
				metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: "u"})
		}
		return n
	}
	at := func(namespace, name string) identity {
		return identity{apiVersion: "v1", kind: "ConfigMap", namespace: namespace, name: name, uid: "u"}
	}
	for _, c := range []struct {
		dependents []*node
		after      identity
		want       string
	}{
		{[]*node{named("d", "a", "b"), named("e", "b")}, at("ns", "a"), "b"},
		{[]*node{named("d", "a", "b"), named("e", "b")}, at("ns", "b"), "a"},
		{[]*node{named("d", "a", "b"), named("e", "c")}, at("ns", "b"), "c"},
		{[]*node{named("d", "a", "b")}, at("", "a"), "b"},
		{[]*node{named("d", "a", "b")}, at("", "b"), "a"},
	} {
		if got := alternative(c.dependents, c.after); got != at("ns", c.want) {
			t.Errorf("after %+v comes %+v, want %s", c.after, got, c.want)
		}
	}
}

func names(nodes []*node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.name)
	}
	return fmt.Sprint(out)
}

// RULES K98: each of several names for one uid is looked up in turn.
func TestVerifiedAbsent(t *testing.T) {
	g, work := recorder(Without{})
	as := func(name, owner string) *corev1.ConfigMap {
		cm := object(name, "uid")
		cm.OwnerReferences[0].Name = owner
		return cm
	}
	g.observed(configMaps, nil, as("1", "x"))
	g.observed(configMaps, nil, as("2", "y"))
	g.observed(configMaps, nil, as("3", "z"))
	work()
	for _, want := range []struct{ look, next string }{{"1", "y"}, {"2", "z"}, {"3", "x"}} {
		n := g.nodes["uid"]
		if !g.verifiedAbsent(n.identity) {
			t.Errorf("%s: not looked up again", n.name)
		}
		if got := work(); got != want.look {
			t.Errorf("queued %q, want %q", got, want.look)
		}
		if n.name != want.next {
			t.Errorf("next name is %q, want %q", n.name, want.next)
		}
	}
	g.removed(as("1", "x"))
	g.removed(as("3", "z"))
	work()
	g.nodes["uid"].name = "y"
	if g.verifiedAbsent(g.nodes["uid"].identity) || g.nodes["uid"] != nil || work() != "2" {
		t.Error("the last name was looked up again")
	}
}

// An object that was seen stays in the graph, even if a read of another name with the same uid finds no object.
func TestVerifiedAbsentDoesNotRemoveWhatWasSeen(t *testing.T) {
	g, work := recorder(Without{})
	g.observed(configMaps, nil, object("a"))
	wrong := object("d", "a")
	wrong.OwnerReferences[0].Name = "z"
	g.observed(configMaps, nil, wrong)
	if got := work(); got != "d" {
		t.Errorf("queued %q, want d", got)
	}
	if g.verifiedAbsent(identity{"v1", "ConfigMap", "ns", "z", "a"}) || g.nodes["a"] == nil {
		t.Error("a was removed, or is looked up by another name")
	}
	if got := work(); got != "d" {
		t.Errorf("queued %q, want d", got)
	}
}

func TestAbsentOwnersForgetsTheOldest(t *testing.T) {
	a := newAbsentOwners(&Without{})
	id := func(i int) identity { return identity{uid: types.UID(fmt.Sprint(i))} }
	for i := range absentSize {
		a.add(id(i))
	}
	a.has(id(0)) // used, so no longer the least recently used
	a.add(id(1)) // added again
	a.add(id(absentSize))
	a.add(id(absentSize + 1))
	for i, want := range []bool{true, true, false, false, true} {
		if a.has(id(i)) != want {
			t.Errorf("the least recently used entries were not dropped: has(%d) is %v", i, !want)
		}
	}
	if !a.has(id(absentSize)) || !a.has(id(absentSize+1)) {
		t.Error("the last entries were dropped")
	}
}

// The digest does not depend on the order in which the graph received events and reads.
func TestDigest(t *testing.T) {
	digest := func(objs ...*corev1.ConfigMap) sim.Hash {
		g, _ := recorder(Without{})
		for _, o := range objs {
			g.observed(configMaps, nil, o)
		}
		var h sim.Hash
		g.digest(&h)
		return h
	}
	a, b := object("a"), object("b", "a")
	if digest(a, b) != digest(b, a) {
		t.Error("the digest depends on the order")
	}
	if digest(a) == digest(a, b) || digest(a, object("b", "!a")) == digest(a, b) ||
		digest(a) == digest(deleting(object("a"), "example.com/hold")) {
		t.Error("different graphs have equal digests")
	}
}
