package controllers_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// cluster is a trial of controllers of the table.
type cluster struct {
	*trial.Trial
	t    *testing.T
	late bool // a process crashes after a switch
	laws bool // check the laws: no controller is of an era before ControllerRef
}

func newCluster(t *testing.T, c sim.Choices, names ...string) *cluster {
	t.Helper()
	cl := &cluster{Trial: trial.New(trial.Options{Choices: c}), t: t, laws: true}
	t.Cleanup(cl.Stop)
	for _, name := range names {
		cl.start(name)
		cl.laws = cl.laws && !strings.HasSuffix(name, "@selector") && !strings.HasSuffix(name, "@gated")
	}
	return cl
}

func (c *cluster) start(name string) *host.Process {
	c.t.Helper()
	for _, ctl := range controllers.Builtin() {
		if ctl.FullName() == name {
			return c.Start(ctl.Name, ctl)
		}
	}
	c.t.Fatalf("no controller %s", name)
	return nil
}

func (c *cluster) do(req *fakeapi.Request) runtime.Object {
	c.t.Helper()
	resp := c.Cluster.As("user", req)
	if resp.Err != nil {
		c.t.Fatalf("%s: %v", req.Verb, resp.Err)
	}
	return resp.Object
}

func (c *cluster) create(obj runtime.Object) {
	c.t.Helper()
	m := obj.(metav1.Object)
	c.do(&fakeapi.Request{Verb: fakeapi.Create, Kind: c.Server.KindOf(obj), Namespace: m.GetNamespace(),
		Name: m.GetName(), Object: obj})
}

func (c *cluster) delete(kind, name string, opts metav1.DeleteOptions) {
	c.t.Helper()
	c.do(&fakeapi.Request{Verb: fakeapi.Delete, Kind: c.Server.KindNamed(kind), Namespace: "default", Name: name,
		Delete: opts})
}

func (c *cluster) patch(kind, name, merge string) {
	c.t.Helper()
	c.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: c.Server.KindNamed(kind), Namespace: "default", Name: name,
		PatchType: types.MergePatchType, Patch: []byte(merge)})
}

func (c *cluster) settle() {
	c.t.Helper()
	if how := c.Settle(trial.Limits{Steps: 20_000}); !how.Settled {
		c.t.Fatalf("does not settle; last:\n%s", c.tail(40))
	}
	if b := c.Broken(); b != nil && c.laws {
		c.t.Fatalf("%s; last:\n%s", b, c.tail(40))
	}
}

func (c *cluster) tail(n int) string {
	var b strings.Builder
	h := &c.World.History
	for i := max(h.Len()-n, 0); i < h.Len(); i++ {
		r := h.At(i)
		fmt.Fprintf(&b, "%d %v %s op%d %s %s %s %s\n", r.Step, r.At, r.Process, r.Op, r.Verb, r.Object, r.Reason,
			r.Message)
	}
	return b.String()
}

func (c *cluster) writes(process string) int {
	n := 0
	h := &c.World.History
	for i := range h.Len() {
		if r := h.At(i); r.Op == sim.Commit && r.Process == process {
			n++
		}
	}
	return n
}

func (c *cluster) settleFor(d time.Duration) {
	c.t.Helper()
	if how := c.Settle(trial.Limits{Steps: 20_000, For: d}); how.Steps >= 20_000 {
		c.t.Fatalf("does not settle; last:\n%s", c.tail(40))
	}
	if b := c.Broken(); b != nil && c.laws {
		c.t.Fatalf("%s; last:\n%s", b, c.tail(40))
	}
}

// touched counts the writes and the refused writes while an object with this name was reconciled.
func (c *cluster) touched(name string) int {
	n := 0
	h := &c.World.History
	for i := range h.Len() {
		if r := h.At(i); (r.Op == sim.Commit || r.Op == sim.Refusal) && r.For.Name == name {
			n++
		}
	}
	return n
}

// wantBackoff returns the number of failed reconciles of an object. It checks that each delay is at least 1.5 times the
// one before, up to a minute.
func (c *cluster) wantBackoff(name string) int {
	c.t.Helper()
	var failed []time.Duration
	syncs := 0
	h := &c.World.History
	for i := range h.Len() {
		r := h.At(i)
		if r.Op != sim.SyncEnd || r.For.Name != name {
			continue
		}
		syncs++
		if r.Message != "" {
			failed = append(failed, r.At)
		}
	}
	if syncs == 0 || syncs > 25 {
		c.t.Errorf("%s was synced %d times in %v\n%s", name, syncs, c.World.Clock.Elapsed(), c.tail(40))
	}
	for i := 2; i < len(failed); i++ {
		if last, next := failed[i-1]-failed[i-2], failed[i]-failed[i-1]; next < min(last*3/2, time.Minute) {
			c.t.Errorf("%s failed at %v: no backoff", name, failed)
			break
		}
	}
	return len(failed)
}

// objects formats the objects of a kind: name, controller, and whether it is terminating.
func (c *cluster) objects(kind string) []string {
	var out []string
	c.Server.Each(c.Server.KindNamed(kind), func(obj runtime.Object) bool {
		m := obj.(metav1.Object)
		s := m.GetName()
		if r := metav1.GetControllerOf(m); r != nil {
			s += " <" + r.Name
		}
		if m.GetDeletionTimestamp() != nil {
			s += " going"
		}
		out = append(out, s)
		return true
	})
	return out
}

func (c *cluster) want(kind string, want ...string) {
	c.t.Helper()
	if got := c.objects(kind); !slices.Equal(got, want) {
		c.t.Errorf("%s: %q, want %q\n%s", kind, got, want, c.tail(60))
	}
}

func (c *cluster) owned() map[string]int {
	n := map[string]int{}
	for _, p := range c.objects("pod") {
		_, owner, _ := strings.Cut(p, " <")
		n[owner]++
	}
	return n
}

func labelled(app string) map[string]string { return map[string]string{"app": app} }

func podTemplate(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labelled(app)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
	}
}

func replicaSet(name, app string, n int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.ReplicaSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labelled(app)},
			Template: podTemplate(app)},
	}
}

func replicationController(name, app string, n int32) *corev1.ReplicationController {
	tmpl := podTemplate(app)
	return &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ReplicationControllerSpec{Replicas: &n, Selector: labelled(app), Template: &tmpl},
	}
}

func orphan(name, app string) *corev1.Pod {
	tmpl := podTemplate(app)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: tmpl.Labels},
		Spec: tmpl.Spec}
}

func (c *cluster) wantOwned(want map[string]int) {
	c.t.Helper()
	if got := c.owned(); !maps.Equal(got, want) {
		c.t.Errorf("pods by owner: %v, want %v\n%s", got, want, c.tail(60))
	}
}

// A pod has the content of the template. The controller adds nothing else.
func TestPodsAreMadeFromTheTemplate(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replicaset@controllerref", "replication@controllerref")
	rs, rc := replicaSet("a", "x", 1), replicationController("b", "y", 1)
	for _, template := range []*corev1.PodTemplateSpec{&rs.Spec.Template, rc.Spec.Template} {
		template.Annotations = map[string]string{"note": "kept"}
		template.Finalizers = []string{"example.com/kept"}
		template.Spec.NodeName = "n"
	}
	c.create(rs)
	c.create(rc)
	c.settle()
	for _, name := range []string{"a-1", "b-1"} {
		p := c.Server.Lookup(c.Server.KindNamed("pod"), "default", name).(*corev1.Pod)
		if !maps.Equal(p.Annotations, map[string]string{"note": "kept"}) || len(p.Labels) != 1 ||
			len(p.Finalizers) != 1 || p.Spec.NodeName != "n" || len(p.OwnerReferences) != 1 ||
			!*p.OwnerReferences[0].BlockOwnerDeletion {
			t.Errorf("%s: %+v, node %s", name, p.ObjectMeta, p.Spec.NodeName)
		}
	}
}

// The status of a ReplicaSet that wants no pods may still count deleted ones. These replace no pods: 3 of 4 stay.
func TestTerminatingPodsDoNotCount(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "deployment@current")
	c.laws = false // no controller counts the pods: the test writes the statuses
	for _, s := range []struct {
		name, image     string
		size, available int32
	}{{"gone", "img:0", 0, 2}, {"old", "img:1", 4, 4}} {
		rs := replicaSet(s.name, "x", s.size)
		rs.Labels, rs.Spec.Template.Spec.Containers[0].Image = labelled("x"), s.image
		c.create(rs)
		c.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: c.Server.KindNamed("replicaset"), Namespace: "default",
			Name: s.name, Subresource: "status", PatchType: types.MergePatchType,
			Patch: fmt.Appendf(nil, `{"status":{"replicas":%d,"readyReplicas":%[1]d,"availableReplicas":%[1]d}}`,
				s.available)})
	}
	one := intstr.FromInt32(1)
	d := eraWorlds["deployment"].object("d", "x", 4).(*appsv1.Deployment)
	d.Spec.Template.Spec.Containers[0].Image = "img:2"
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &one, MaxUnavailable: &one}}
	c.create(d)
	c.settle()
	old := c.Server.Lookup(c.Server.KindNamed("replicaset"), "default", "old").(*appsv1.ReplicaSet)
	if metav1.GetControllerOf(old) == nil || *old.Spec.Replicas != 3 {
		t.Errorf("the old ReplicaSet wants %d pods, and its owners are %v", *old.Spec.Replicas, old.OwnerReferences)
	}
}
