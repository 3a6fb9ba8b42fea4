package routing

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var sets = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

type caches []*appsv1.ReplicaSet

func (c caches) Get(_ schema.GroupVersionKind, namespace, name string) runtime.Object {
	for _, s := range c {
		if s.Namespace == namespace && s.Name == name {
			return s
		}
	}
	return nil
}

func (c caches) Each(_ schema.GroupVersionKind, namespace string, f func(runtime.Object) bool) {
	for _, s := range c {
		if s.Namespace == namespace && !f(s) {
			return
		}
	}
}

func set(namespace, name, app string, age time.Duration) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + "." + name),
			CreationTimestamp: metav1.NewTime(sim.Epoch.Add(-age)),
		},
		Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}
}

func selects(owner runtime.Object, labels map[string]string) bool {
	return labels["app"] == owner.(*appsv1.ReplicaSet).Spec.Selector.MatchLabels["app"]
}

// In world, a and b select app=x, b is older, and c selects app=y. The set a of another namespace selects app=x.
var world = caches{
	set("ns", "a", "x", time.Minute), set("ns", "b", "x", time.Hour), set("ns", "c", "y", 0), set("other", "a", "x", 0),
}

type podOption func(*corev1.Pod)

func pod(version, app string, options ...podOption) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", ResourceVersion: version,
			Labels: map[string]string{"app": app}}}
	for _, o := range options {
		o(p)
	}
	return p
}

func ownedBy(kind, name, uid string) podOption {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences =
			[]metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}}
	}
}

var byA, byB = ownedBy("ReplicaSet", "a", "ns.a"), ownedBy("ReplicaSet", "b", "ns.b")

func going(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: sim.Epoch} }

// show formats an effect: the keys, and the changes of expectations.
func show(e *host.Effect) string {
	var out []string
	for _, k := range e.Keys {
		out = append(out, strings.TrimPrefix(k, "ns/"))
	}
	for _, d := range e.Delayed {
		out = append(out, strings.TrimPrefix(d.Key, "ns/")+"@"+d.After.String())
	}
	for _, k := range e.Created {
		out = append(out, "+"+strings.TrimPrefix(k, "ns/"))
	}
	for _, k := range e.Deleted {
		out = append(out, "-"+strings.TrimPrefix(k, "ns/"))
	}
	for _, k := range e.Forget {
		out = append(out, "forget "+strings.TrimPrefix(k, "ns/"))
	}
	return strings.Join(out, " ")
}

func event(old, cur *corev1.Pod) host.Event {
	var e host.Event
	if old != nil {
		e.Old = old
	}
	if cur != nil {
		e.New = cur
	}
	return e
}

func TestDependents(t *testing.T) {
	tombstone := event(pod("1", "x", byA), nil)
	tombstone.Tombstone = true
	for _, c := range []struct {
		clause  string
		event   host.Event
		want    string
		without Without // the same event without this rule
		mutant  string
	}{
		{"WATCH-1 add", event(nil, pod("1", "x", byA)), "a +a", Without{OnlyOne: true}, "a a b +a"},
		{"WATCH-2 add", event(nil, pod("1", "x", byA)), "a +a", Without{OwnExpectations: true}, "a +b"},
		{"WATCH-1 update", event(pod("1", "x", byA), pod("2", "x", byA)), "a", Without{OnlyOne: true}, "a a b"},
		{"WATCH-1 delete", event(pod("1", "x", byA), nil), "a -a", Without{OwnExpectations: true}, "a -b"},
		{"WATCH-1 owner of another uid", event(nil, pod("1", "x", ownedBy("ReplicaSet", "a", "gone"))), "",
			Without{UID: true}, "a +a"},
		{"WATCH-1 owner of another kind", event(nil, pod("1", "x", ownedBy("ReplicationController", "a", "rc"))), "",
			Without{Kind: true}, "a +a"},
		{"WATCH-1 owner that is not there", event(nil, pod("1", "x", ownedBy("ReplicaSet", "z", "z"))), "",
			Without{UID: true}, ""},
		{"WATCH-1 owner of another namespace", event(nil, pod("1", "x", ownedBy("ReplicaSet", "a", "other.a"))), "",
			Without{}, ""},
		{"WATCH-1 tombstone", tombstone, "a -a", Without{Tombstone: true}, ""},
		{"WATCH-3 removed", event(pod("1", "x", byA), pod("2", "x")), "a a b", Without{Removal: true}, "a"},
		{"WATCH-3 removed, the old owner", event(pod("1", "x", byA), pod("2", "x")), "a a b", Without{OldOwner: true},
			"a b"},
		{"WATCH-3 removed as labels moved on", event(pod("1", "x", byA), pod("2", "y")), "a c",
			Without{Removal: true, OrphanLabels: true}, "a"},
		{"WATCH-3 changed", event(pod("1", "x", byA), pod("2", "x", byB)), "a b", Without{OldOwner: true}, "b"},
		{"WATCH-3 adopted", event(pod("1", "x"), pod("2", "x", byB)), "b", Without{}, "b"},
		{"WATCH-4", event(nil, pod("1", "x")), "a b", Without{OrphanAdd: true}, ""},
		{"WATCH-4 expectations", event(nil, pod("1", "x")), "a b", Without{OrphanUncounted: true}, "a b +a +b"},
		{"WATCH-4 nobody's", event(nil, pod("1", "z")), "", Without{}, ""},
		{"WATCH-5", event(pod("1", "x"), nil), "", Without{OrphanDelete: true}, "a b"},
		{"WATCH-5 graceful", event(pod("1", "x"), pod("2", "x", going)), "", Without{OrphanDelete: true}, "a b"},
		{"WATCH-6 labels changed", event(pod("1", "x"), pod("2", "y")), "c", Without{OrphanLabels: true}, ""},
		{"WATCH-6 labels as before", event(pod("1", "x"), pod("2", "x")), "", Without{OrphanQuiet: true}, "a b"},
		{"WRITE-9 resync, owned", event(pod("1", "x", byA), pod("1", "x", byA)), "", Without{Resync: true}, "a"},
		{"WRITE-9 resync, orphan", event(pod("1", "x"), pod("1", "x")), "", Without{OrphanQuiet: true}, ""},
		{"WATCH-7 graceful deletion", event(pod("1", "x", byA), pod("2", "x", byA, going)), "a -a",
			Without{Graceful: true}, "a"},
		{"WATCH-7 ... as labels moved on", event(pod("1", "x", byB), pod("2", "y", byA, going)), "b a -a", Without{},
			"b a -a"},
		{"WATCH-3 removed while going", event(pod("1", "x", byA, going), pod("2", "x", going)), "a",
			Without{OldOwner: true}, ""},
		{"WATCH-2 first seen while going", event(nil, pod("1", "x", byA, going)), "a -a", Without{}, "a -a"},
	} {
		for _, run := range []struct {
			without Without
			want    string
		}{{Without{}, c.want}, {c.without, c.mutant}} {
			d := &Dependents{Owner: sets, Selects: selects, Without: &run.without}
			var got host.Effect
			d.Do(world, c.event, &got)
			if show(&got) != run.want {
				t.Errorf("%s %+v: %q, want %q", c.clause, run.without, show(&got), run.want)
			}
		}
	}
}

func TestLater(t *testing.T) {
	d := &Dependents{Owner: sets, Selects: selects, Without: &Without{},
		Later: func(_, _, _ runtime.Object) time.Duration { return time.Second }}
	var got host.Effect
	d.Do(world, event(pod("1", "x", byA), pod("2", "x", byA)), &got)
	if want := "a a@1s"; show(&got) != want {
		t.Errorf("%q, want %q", show(&got), want)
	}
}

func TestTieBreak(t *testing.T) {
	mayDuplicate := caches{set("ns", "b", "x", 0), set("ns", "a", "x", 0)}
	for _, c := range []struct {
		name  string
		view  caches
		event host.Event
		want  string
	}{
		{"the oldest", world, event(nil, pod("1", "x")), "b +b"},
		{"then the first by name", mayDuplicate, event(nil, pod("1", "x")), "a +a"},
		{"whoever owns it", world, event(nil, pod("1", "x", byA)), "b +b"},
		{"even another kind", world, event(pod("1", "x", ownedBy("ReplicationController", "rc", "rc")), nil), "b -b"},
		{"nobody", world, event(nil, pod("1", "z")), ""},
		{"labels changed", world, event(pod("1", "x"), pod("2", "y")), "b c"},
		{"graceful deletion", world, event(pod("1", "x"), pod("2", "x", going)), "b -b"},
		{"first seen while going", world, event(nil, pod("1", "x", going)), "b -b"},
		{"resync", world, event(pod("1", "x"), pod("1", "x")), ""},
		{"deletion counts for the old labels' owner, too", caches{set("ns", "a", "x", 0), set("ns", "b", "y", 0)},
			event(pod("1", "x"), pod("2", "y", going)), "b a -b -a"},
	} {
		tb := &TieBreak{Owner: sets, Selects: selects}
		var got host.Effect
		tb.Do(c.view, c.event, &got)
		if show(&got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, show(&got), c.want)
		}
	}
}

func TestOwn(t *testing.T) {
	a := set("ns", "a", "x", 0)
	successor := set("ns", "a", "x", 0)
	successor.UID = "successor"
	for _, c := range []struct {
		name    string
		event   host.Event
		want    string
		without Without
		mutant  string
	}{
		{"add", host.Event{New: a}, "a", Without{}, "a"},
		{"update", host.Event{Old: a, New: a}, "a", Without{}, "a"},
		{"delete", host.Event{Old: a}, "a forget a", Without{OwnDeletion: true}, "a"},
		{"replaced", host.Event{Old: a, New: successor}, "a forget a", Without{Incarnation: true}, "a"},
	} {
		for _, run := range []struct {
			without Without
			want    string
		}{{Without{}, c.want}, {c.without, c.mutant}} {
			var got host.Effect
			Own(sets, &run.without).Do(world, c.event, &got)
			if show(&got) != run.want {
				t.Errorf("%s %+v: %q, want %q", c.name, run.without, show(&got), run.want)
			}
		}
	}
}

// A ControllerRef counts as changed if any of its fields has changed.
func TestSameRef(t *testing.T) {
	yes, no := true, false
	a := &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a", UID: "1"}
	same := *a
	same.BlockOwnerDeletion = &no // false has the same meaning as nil
	if !sameRef(a, &same) || !sameRef(nil, nil) || sameRef(a, nil) || sameRef(nil, a) {
		t.Error("sameRef is wrong about equal references, or about nil")
	}
	for _, change := range []func(r *metav1.OwnerReference){
		func(r *metav1.OwnerReference) { r.APIVersion = "v1" },
		func(r *metav1.OwnerReference) { r.Kind = "ReplicationController" },
		func(r *metav1.OwnerReference) { r.Name = "b" },
		func(r *metav1.OwnerReference) { r.UID = "2" },
		func(r *metav1.OwnerReference) { r.BlockOwnerDeletion = &yes },
	} {
		b := *a
		change(&b)
		if sameRef(a, &b) {
			t.Errorf("sameRef(%+v, %+v) is true", a, &b)
		}
	}
}
