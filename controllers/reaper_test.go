package controllers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/reaper"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

var (
	sets  = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	kinds = []schema.GroupVersionKind{sets, corev1.SchemeGroupVersion.WithKind("ReplicationController")}
)

type deletion struct {
	*trial.Trial
	t      *testing.T
	kind   *fakeapi.Kind
	ended  bool
	result error
}

func newDeletion(t *testing.T, kind schema.GroupVersionKind) *deletion {
	d := &deletion{Trial: trial.New(trial.Options{Laws: []*law.Law{}}), t: t}
	t.Cleanup(d.Stop)
	d.kind = d.Server.Kind(kind)
	return d
}

func (d *deletion) make(name string, replicas int32, labels map[string]string) {
	d.t.Helper()
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	meta := metav1.ObjectMeta{Name: name}
	var obj runtime.Object = &corev1.ReplicationController{ObjectMeta: meta,
		Spec: corev1.ReplicationControllerSpec{Replicas: &replicas, Selector: labels, Template: &pod}}
	if d.kind.GVK == sets {
		obj = &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod}}
	}
	d.ask(fakeapi.Request{Verb: fakeapi.Create, Object: obj})
}

func (d *deletion) ask(r fakeapi.Request) {
	d.t.Helper()
	r.Kind, r.Namespace = d.kind, "default"
	if _, err := d.Request(&r); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deletion) run(f time.Duration) {
	if d.Cluster.Process("kubectl") == nil {
		c, err := reaper.Controller(d.kind.GVK, "default", "a", func(err error) { d.ended, d.result = true, err })
		if err != nil {
			d.t.Fatal(err)
		}
		d.Start("kubectl", c)
	}
	d.Settle(trial.Limits{For: f})
}

// told formats the number of replicas and the result.
func (d *deletion) told() string {
	replicas := "gone"
	switch obj := d.Server.Lookup(d.kind, "default", "a").(type) {
	case *corev1.ReplicationController:
		replicas = fmt.Sprint(*obj.Spec.Replicas)
	case *appsv1.ReplicaSet:
		replicas = fmt.Sprint(*obj.Spec.Replicas)
	}
	return fmt.Sprintf("%s, ended %v, %v", replicas, d.ended, d.result)
}

func (d *deletion) want(told string) {
	d.t.Helper()
	if got := d.told(); !strings.HasPrefix(got, told) {
		d.t.Errorf("%s, want %s", got, told)
	}
}

// scaled writes the status that the controller writes after scaling.
func (d *deletion) scaled() {
	d.t.Helper()
	obj := d.Server.Lookup(d.kind, "default", "a").DeepCopyObject()
	switch o := obj.(type) {
	case *corev1.ReplicationController:
		o.Status.ObservedGeneration = o.Generation
	case *appsv1.ReplicaSet:
		o.Status.ObservedGeneration = o.Generation
	}
	d.ask(fakeapi.Request{Verb: fakeapi.Update, Subresource: "status", Name: "a", Object: obj})
}

func TestScalesAndDeletes(t *testing.T) {
	for _, kind := range kinds {
		d := newDeletion(t, kind)
		d.make("a", 2, map[string]string{"x": "y"})
		d.make("b", 2, map[string]string{"x": "z"}) // its selector does not overlap
		d.run(5 * time.Second)
		d.want("0, ended false")
		d.scaled()
		d.run(time.Second)
		d.want("gone, ended true, <nil>")
	}
}

// A wait without effect ends after five minutes, plus ten seconds for each replica.
func TestTimesOut(t *testing.T) {
	for _, kind := range kinds {
		d := newDeletion(t, kind)
		d.make("a", 3, map[string]string{"x": "y"})
		d.run(329 * time.Second)
		d.want("0, ended false")
		d.run(time.Second)
		d.want(`0, ended true, timed out waiting for "a"`)
	}
}

// If another object has the same selector, it keeps the pods, and nothing is scaled.
func TestSameSelector(t *testing.T) {
	d := newDeletion(t, kinds[1])
	d.make("a", 2, map[string]string{"x": "y"})
	d.make("b", 2, map[string]string{"x": "y"})
	d.Cluster.Fail(host.FailedRequest{Verb: fakeapi.Delete, Nth: 1, Code: 500})
	d.run(time.Second)
	d.want("2, ended true, Internal error")
}

// If another selector overlaps, its object may own some of the pods, so kubectl gives up.
func TestOverlappingSelectors(t *testing.T) {
	for _, other := range []map[string]string{{"x": "y"}, {"x": "y", "tier": "t", "zone": "z"}} {
		d := newDeletion(t, kinds[1])
		d.make("a", 2, map[string]string{"x": "y", "tier": "t"})
		d.make("b", 2, other)
		d.run(time.Second)
		d.want("2, ended true, detected overlapping controllers for rc a: b, please manage deletion individually")
	}
}

func TestErrorsEndIt(t *testing.T) {
	for _, c := range []struct {
		verb fakeapi.Verb
		code int
		want string
	}{
		{fakeapi.Get, 500, "2, ended true, Internal error"},
		{fakeapi.List, 500, "2, ended true, error getting replication controllers"},
		{fakeapi.Update, 500, "2, ended true, Internal error"},
		{fakeapi.Update, 409, "0, ended false"}, // another client was faster: the next round tries again
	} {
		d := newDeletion(t, kinds[1])
		d.make("a", 2, map[string]string{"x": "y"})
		d.Cluster.Fail(host.FailedRequest{Verb: c.verb, Nth: 1, Code: c.code})
		d.run(3 * time.Second)
		d.want(c.want)
	}
	d := newDeletion(t, kinds[0])
	d.run(time.Second)
	d.want(`gone, ended true, replicasets.apps "a" not found`)

	d = newDeletion(t, kinds[0])
	d.make("a", 0, map[string]string{"x": "y"})
	d.Cluster.Fail(host.FailedRequest{Verb: fakeapi.Delete, Nth: 1, Code: 500})
	d.run(time.Second)
	d.scaled()
	d.run(3 * time.Second)
	d.want("0, ended true, Internal error")
}

func TestNoReaper(t *testing.T) {
	if _, err := reaper.Controller(appsv1.SchemeGroupVersion.WithKind("Deployment"), "default", "a", nil); err == nil {
		t.Error("newReaper accepts Deployments")
	}
}
