package controllers_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// selectors are selectors that cannot be parsed, or that select nothing. An earlier version of the server stored them.
var selectors = []struct {
	name     string
	selector *metav1.LabelSelector
}{
	{"an operator that is none", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: "Resembles", Values: []string{"x"}}}}},
	{"a value that is none", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"not a value!"}}}}},
	{"no operands", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn}}}},
	{"empty", &metav1.LabelSelector{}},
	{"none", nil},
}

// unreadable describes an object that owns something although its selector cannot be parsed. It also has the
// controllers of this object and of a second, correct object.
type unreadable struct {
	controllers []string
	make        func(name, app string, n int32) runtime.Object
	dependent   func() metav1.Object
	served      map[string]int // the pods of the second object
	all         bool           // an empty selector selects everything
}

func ownedPod() metav1.Object { return orphan("owned", "x") }

var unreadables = map[string]unreadable{
	"Deployment": {[]string{"deployment@current", "replicaset@current"}, eraWorlds["deployment"].object,
		func() metav1.Object { return replicaSet("owned", "x", 0) }, map[string]int{"good-5658c5fd": 1}, false},
	"StatefulSet": {[]string{"statefulset@current"}, eraWorlds["statefulset"].object, ownedPod,
		map[string]int{"bad": 1, "good": 1}, false},
	"DaemonSet": {[]string{"daemonset@current"}, func(name, app string, _ int32) runtime.Object {
		return &appsv1.DaemonSet{ObjectMeta: named(name),
			Spec: appsv1.DaemonSetSpec{Selector: selects(app), Template: podTemplate(app)}}
	}, ownedPod, map[string]int{"bad": 1, "good": 1}, false},
	"Job": {[]string{"job@current"}, eraWorlds["job"].object, ownedPod, map[string]int{"bad": 1, "good": 1}, true},
	"PodDisruptionBudget": {[]string{"disruption"}, func(name, app string, _ int32) runtime.Object {
		return &policyv1.PodDisruptionBudget{ObjectMeta: named(name), Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: selects(app), MinAvailable: &intstr.IntOrString{IntVal: 1}}}
	}, ownedPod, map[string]int{"bad": 1}, true},
}

// An object whose selector cannot be parsed keeps what it owned. Nothing is created for it or taken from it, and it is
// retried with backoff. The second object gets what it wants. The status mentions the problem at most once.
func TestUnreadableSelectors(t *testing.T) {
	for _, kind := range []string{"DaemonSet", "Deployment", "Job", "PodDisruptionBudget", "StatefulSet"} {
		for _, s := range selectors {
			if u := unreadables[kind]; u.all && s.name == "empty" {
				continue // it selects everything, which is allowed
			}
			t.Run(kind+"/"+s.name, func(t *testing.T) {
				u := unreadables[kind]
				bad := asStored(t, u.make, s.selector)
				owned := u.dependent()
				kind := fakeapi.New(fakeapi.Options{}).KindOf(bad.(runtime.Object)).GVK
				owned.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(bad, kind)})
				c := storedCluster(t, u.controllers, bad.(runtime.Object), stored(owned, "owned"),
					stored(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, "n"))
				c.create(u.make("good", "y", 1))
				c.settleFor(10 * time.Minute)
				c.wantOwned(u.served)
				if n := c.touched("bad"); n > 1 {
					t.Errorf("%d writes for the object, want at most one\n%s", n, c.tail(60))
				}
				c.wantBackoff("bad")
			})
		}
	}
}

// asStored returns a defaulted object as an earlier server stored it, with a selector that this server would refuse.
func asStored(t *testing.T, build func(name, app string, n int32) runtime.Object,
	selector *metav1.LabelSelector) metav1.Object {
	t.Helper()
	c := newCluster(t, sim.Zero{})
	obj := build("bad", "x", 1)
	c.create(obj)
	whole := c.Server.Lookup(c.Server.KindOf(obj), "default", "bad").DeepCopyObject()
	switch o := whole.(type) {
	case *appsv1.Deployment:
		o.Spec.Selector = selector
	case *appsv1.StatefulSet:
		o.Spec.Selector = selector
	case *appsv1.DaemonSet:
		o.Spec.Selector = selector
	case *batchv1.Job:
		o.Spec.Selector = selector
	case *policyv1.PodDisruptionBudget:
		o.Spec.Selector = selector
	}
	return stored(whole.(metav1.Object), "bad").(metav1.Object)
}

// storedCluster returns a cluster with objects that another server stored.
func storedCluster(t *testing.T, names []string, objs ...runtime.Object) *cluster {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	server := fakeapi.New(fakeapi.Options{})
	if err := server.Restore(append(objs, stored(namespace, "ns"))); err != nil {
		t.Fatal(err)
	}
	c := &cluster{Trial: trial.New(trial.Options{Server: server}), t: t, laws: true}
	t.Cleanup(c.Stop)
	for _, name := range names {
		c.start(name)
	}
	return c
}

// A Service whose selector has impossible labels has no Pods. Its slices are written once, and another Service works.
func TestServicesThatSelectWhatCannotBe(t *testing.T) {
	service := func(name, value string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.ServiceSpec{Selector: map[string]string{"app": value},
				Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}}}
	}
	bad := service("bad", "not a value!")
	bad.Spec.IPFamilies, bad.Spec.ClusterIP = []corev1.IPFamily{corev1.IPv4Protocol}, "10.0.0.7"
	c := storedCluster(t, []string{"endpointslice"}, stored(bad, "bad"))
	c.create(orphan("p", "y"))
	c.create(service("good", "y"))
	c.settleFor(10 * time.Minute)
	c.want("endpointslice", "bad-1 <bad", "good-1 <good")
	if n := c.touched("bad"); n != 1 {
		t.Errorf("%d requests for the Service, want one\n%s", n, c.tail(60))
	}
	c.wantBackoff("bad")
}

func stored(obj metav1.Object, uid string) runtime.Object {
	obj.SetUID(types.UID(uid))
	obj.SetResourceVersion("1")
	return obj.(runtime.Object)
}

// A set whose selector cannot be parsed, or selects nothing, creates no pods, because it would release each new pod at
// once. It leaves the pods that it owns alone, and a second set works.
func TestSetsThatSelectNothingMakeNothing(t *testing.T) {
	for _, s := range selectors {
		t.Run(s.name, func(t *testing.T) {
			bad := replicaSet("bad", "x", 2)
			bad.Spec.Selector = s.selector
			rc := replicationController("bad", "x", 2)
			rc.Spec.Selector = nil
			p := orphan("owned", "x")
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
				&metav1.ObjectMeta{Name: "bad", UID: "bad-rs"}, corev1.SchemeGroupVersion.WithKind("ReplicaSet"))}
			p.OwnerReferences[0].APIVersion = "apps/v1"
			c := storedCluster(t, []string{"replicaset@controllerref", "replication@controllerref"},
				stored(bad, "bad-rs"), stored(rc, "bad-rc"), stored(p, "owned"))
			c.create(orphan("free", "x"))
			c.create(replicaSet("good", "y", 2))
			c.settle()
			c.wantOwned(map[string]int{"": 1, "bad": 1, "good": 2})
			if n := c.writes("replication"); n != 0 {
				t.Errorf("%d writes for the set that selects nothing", n)
			}
		})
	}
}

// schedules are unusable schedules that an earlier version of the server stored.
var schedules = map[string]func(s *batchv1.CronJobSpec){
	"words":         func(s *batchv1.CronJobSpec) { s.Schedule = "every now and then" },
	"none":          func(s *batchv1.CronJobSpec) { s.Schedule = "" },
	"a field short": func(s *batchv1.CronJobSpec) { s.Schedule = "* * * *" },
	"out of range":  func(s *batchv1.CronJobSpec) { s.Schedule = "61 * * * *" },
	"no such day":   func(s *batchv1.CronJobSpec) { s.Schedule = "0 0 31 2 *" },
	"zone within":   func(s *batchv1.CronJobSpec) { s.Schedule = "TZ=Atlantis/Poseidonis * * * * *" },
	"zone":          func(s *batchv1.CronJobSpec) { z := "Atlantis/Poseidonis"; s.TimeZone = &z },
}

// A CronJob with an unusable schedule starts nothing until its user changes it. It is not retried, because retries
// cannot help. A second CronJob starts its Job.
func TestUnreadableSchedules(t *testing.T) {
	for name, spoil := range schedules {
		t.Run(name, func(t *testing.T) {
			bad, good := cronJob("bad"), cronJob("good")
			spoil(&bad.Spec)
			c := storedCluster(t, []string{"cronjob@current"}, stored(bad, "bad"))
			c.create(good)
			c.settleFor(150 * time.Second)
			c.want("job", "good-24805441 <good", "good-24805442 <good")
			if n := c.touched("bad"); n > 0 {
				t.Errorf("%d requests for the CronJob\n%s", n, c.tail(60))
			}
			if failed := c.wantBackoff("bad"); failed > 0 {
				t.Errorf("%d reconciles failed", failed)
			}
			c.patch("cj", "bad", `{"spec":{"schedule":"* * * * *","timeZone":null}}`)
			c.settleFor(time.Minute)
			if n := c.touched("bad"); n == 0 {
				t.Errorf("the corrected CronJob starts no Job\n%s", c.tail(60))
			}
		})
	}
}

func cronJob(name string) *batchv1.CronJob {
	c := eraWorlds["cronjob"].object(name, name, 0).(*batchv1.CronJob)
	c.CreationTimestamp, c.Spec.ConcurrencyPolicy = metav1.Time{Time: sim.Epoch}, batchv1.AllowConcurrent
	return c
}
