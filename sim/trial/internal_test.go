package trial

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

func TestServed(t *testing.T) {
	served := served(fakeapi.New(fakeapi.Options{}))
	for _, c := range []struct {
		apiVersion, kind string
		namespaced, ok   bool
	}{
		{"v1", "Pod", true, true},
		{corev1.SchemeGroupVersion.String(), "Namespace", false, true},
		{"apps/v1", "Pod", false, false},
		{"example.com/v1", "Widget", false, false},
	} {
		if namespaced, ok := served(c.apiVersion, c.kind); namespaced != c.namespaced || ok != c.ok {
			t.Errorf("%s %s: namespaced %v, served %v", c.apiVersion, c.kind, namespaced, ok)
		}
	}
}

// An outside program may use any version that an existing owner has had. It may create no more dependents than the
// version with the largest number wants.
func TestOutsideActsOnEarlierVersions(t *testing.T) {
	sets := appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	server := fakeapi.New(fakeapi.Options{})
	spec := appsv1.ReplicaSetSpec{Replicas: new(int32(2)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: spec}
	w := New(Options{Server: server})
	do := func(who string, r fakeapi.Request) fakeapi.Response {
		t.Helper()
		resp := w.Cluster.As(who, &r)
		if resp.Err != nil {
			t.Fatal(resp.Err)
		}
		return resp
	}
	made := do(law.User, fakeapi.Request{Verb: fakeapi.Create, Kind: server.Kind(sets), Namespace: "default",
		Object: set})
	w.Outside("op", host.Controller{Name: "replicaset", For: sets,
		Owns: []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Pod")},
		Contract: law.Contract{
			Replicas: func(o runtime.Object) int { return int(*o.(*appsv1.ReplicaSet).Spec.Replicas) },
		}})
	less := made.Object.(*appsv1.ReplicaSet).DeepCopy()
	less.Spec.Replicas = new(int32(1))
	do(law.User, fakeapi.Request{Verb: fakeapi.Update, Kind: server.Kind(sets), Namespace: "default", Name: "web",
		Object: less})
	for i := range 3 {
		do("op", fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindNamed("pod"), Namespace: "default",
			Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-", Labels: map[string]string{"a": "b"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(less, sets)}},
				Spec: spec.Template.Spec}})
		if b := w.Broken(); (b != nil) != (i == 2) || b != nil && b.Law.ID != "EXACT-2" {
			t.Fatalf("after %d pods: %+v", i+1, b)
		}
	}
}

// A cycle after which a dependent has the present owner instead of an earlier one does not repeat. It repeats if the owner
// changes back, or if each round creates the owner.
func TestCyclePassesOn(t *testing.T) {
	object := func(kind, name, uid, owner string) *metav1.PartialObjectMetadata {
		o := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}}
		if owner != "" {
			o.OwnerReferences = []metav1.OwnerReference{{Kind: "Thing", Name: "a", UID: types.UID(owner), Controller: new(true)}}
		}
		return o
	}
	old, present := object("Set", "s", "1", "earlier"), object("Set", "s", "2", "present")
	for name, c := range map[string]struct {
		writes [][2]*metav1.PartialObjectMetadata // before and after
		want   bool
	}{
		"the owner changes":      {[][2]*metav1.PartialObjectMetadata{{old, nil}, {nil, present}}, true},
		"the same owner":         {[][2]*metav1.PartialObjectMetadata{{old, nil}, {nil, object("Set", "s", "3", "earlier")}}, false},
		"it changes back":        {[][2]*metav1.PartialObjectMetadata{{old, present}, {present, old}}, false},
		"the owner is recreated": {[][2]*metav1.PartialObjectMetadata{{nil, object("Thing", "a", "present", "")}, {old, nil}, {nil, present}}, false},
	} {
		w := New(Options{Server: fakeapi.New(fakeapi.Options{})})
		var cycle []int
		for _, write := range c.writes {
			r := sim.Record{Op: sim.Commit}
			for i, o := range write {
				if o != nil {
					r.Object = sim.Ref{Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
					*[]*any{&r.Before, &r.After}[i] = o
				}
			}
			cycle = append(cycle, w.World.Record(r).Index)
		}
		if is := w.passesOn(cycle); is != c.want {
			t.Errorf("%s: %t", name, is)
		}
	}
}

// Repeated updates of other objects are a fight and a change. Repeated updates of an Event are not.
func TestEventsOnlyReport(t *testing.T) {
	for kind, endless := range map[string]bool{"Event": false, "ConfigMap": true} {
		var g growth
		var r resting
		ref := sim.Ref{Kind: kind, Namespace: "default", Name: "a"}
		for i := range growthFrom + growthMost {
			rec := sim.Record{Op: sim.Commit, Index: i, Process: "p", Verb: "patch", Object: ref}
			rec.Before, rec.After = i, i+1
			g.note(&rec)
			r.note(&rec, false, nil)
		}
		if (g.hit != nil) != endless || r.changed != endless {
			t.Errorf("%s: endless writes: %t, changed: %t", kind, g.hit != nil, r.changed)
		}
	}
}

// Writes of the time, each triggered by the one before, are a fight only if each round writes the same object. Writes that
// change neither a time nor anything else that is visible are none.
func TestOwnTrigger(t *testing.T) {
	for name, c := range map[string]struct {
		objects []string // written in turns
		times   bool     // each write changes a time
		want    bool
	}{
		"one object":                 {[]string{"a"}, true, true},
		"two objects in turns":       {[]string{"a", "b"}, true, true},
		"five objects, each once":    {[]string{"a", "b", "c", "d", "e"}, true, false},
		"one object without changes": {[]string{"a"}, false, false},
	} {
		w := New(Options{Server: fakeapi.New(fakeapi.Options{})})
		var own ownTrigger
		stamp, cause := func(i int) *corev1.ConfigMap {
			m := &corev1.ConfigMap{Data: map[string]string{"at": "2017-03-01T00:00:00Z"}}
			if c.times {
				m.Data["at"] = sim.Epoch.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
			}
			return m
		}, -1
		rounds := longestRun
		if len(c.objects) == 5 {
			rounds = len(c.objects)
		}
		for i := range rounds {
			ref := sim.Ref{Kind: "ConfigMap", Namespace: "default", Name: c.objects[i%len(c.objects)]}
			r := w.World.Record(sim.Record{Op: sim.Commit, Process: "p", Cause: cause, Verb: "update", Object: ref,
				Before: stamp(i), After: stamp(i + 1)})
			own.note(&w.World.History, r)
			cause = w.World.Record(sim.Record{Op: sim.Delivery, Process: "p", Cause: r.Index, Object: ref}).Index
		}
		if got := own.hit != nil; got != c.want {
			t.Errorf("%s: a fight: %t", name, got)
		}
	}
}
