package controllers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// generationWorlds make an object for the controller of each name that may have
// several generations: with a label app for its children, and n of them where that
// is up to it. A controller with several generations and without a world fails
// TestGenerations.
var generationWorlds = map[string]func(name, app string, n int32) runtime.Object{
	"replicaset":  func(name, app string, n int32) runtime.Object { return replicaSet(name, app, n) },
	"replication": func(name, app string, n int32) runtime.Object { return replicationController(name, app, n) },
	"deployment": func(name, app string, n int32) runtime.Object {
		return &appsv1.Deployment{ObjectMeta: named(name),
			Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: selects(app), Template: template(app)}}
	},
	"statefulset": func(name, app string, n int32) runtime.Object {
		return &appsv1.StatefulSet{ObjectMeta: named(name), Spec: appsv1.StatefulSetSpec{Replicas: &n,
			Selector: selects(app), ServiceName: name, Template: template(app),
			// Pods from before there were revisions have none, and a rolling update replaces them.
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}}}
	},
	"daemonset": func(name, app string, _ int32) runtime.Object {
		return &appsv1.DaemonSet{ObjectMeta: named(name),
			Spec: appsv1.DaemonSetSpec{Selector: selects(app), Template: template(app)}}
	},
	"job": func(name, app string, n int32) runtime.Object {
		t := template(app)
		t.Spec.RestartPolicy = corev1.RestartPolicyNever
		return &batchv1.Job{ObjectMeta: named(name),
			Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n, Template: t}}
	},
	"cronjob": func(name, app string, _ int32) runtime.Object {
		t := template(app)
		t.Spec.RestartPolicy = corev1.RestartPolicyNever
		return &batchv1.CronJob{ObjectMeta: named(name),
			Spec: batchv1.CronJobSpec{Schedule: "* * * * *",
				JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: t}}}}
	},
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labelled(app)}
}

// Each controller of the table goes from each of its generations to each other one,
// in many schedules: what the switch creates, deletes and hands over is predicted
// (UPGRADE-1 to -4, DOWNGRADE-1 and -2), and so is what two generations do that run
// at once (SKEW-1).
func TestGenerations(t *testing.T) {
	byName := map[string][]host.Controller{}
	var names []string
	for _, c := range controllers.Builtin() {
		if c.For.Empty() || c.Name == "kubelet" {
			continue
		}
		if byName[c.Name] == nil {
			names = append(names, c.Name)
		}
		byName[c.Name] = append(byName[c.Name], c)
	}
	for _, name := range names {
		if len(byName[name]) < 2 {
			continue
		}
		if generationWorlds[name] == nil {
			t.Errorf("%s has several generations, and no world in generationWorlds", name)
			continue
		}
		for _, from := range byName[name] {
			for _, to := range byName[name] {
				if from.Generation != to.Generation {
					p := pair{from: from, to: to, object: generationWorlds[name]}
					t.Run(name+"/"+from.Generation+"-"+to.Generation, p.test)
				}
			}
		}
	}
}

// pair is one switch.
type pair struct {
	from, to host.Controller
	object   func(name, app string, n int32) runtime.Object
}

const generationSeeds = 20

func (p pair) test(t *testing.T) {
	for seed := range uint64(generationSeeds) {
		choices := func() sim.Choices {
			if seed == 0 {
				return sim.Zero{}
			}
			return sim.NewSeed(seed)
		}
		p.apart(t, newCluster(t, choices()))
		if p.from.Name == "replicaset" {
			p.overlapping(t, newCluster(t, choices()))
		}
		if p.from.Name == "replicaset" || p.from.Name == "replication" {
			p.together(t, newCluster(t, choices()))
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// conforms says whether a generation owes the laws: those from before ControllerRef
// break them, which is what they are here for.
func conforms(c *host.Controller) bool {
	return !slices.Contains([]string{"selector", "gated", "gated-without-gc"}, c.Generation)
}

// owns says whether a generation goes by ControllerRef. Of the gated ones those do that
// the proposal's checklist has a tick for.
func owns(c *host.Controller) bool {
	return conforms(c) || c.Generation == "gated" && c.Name != "daemonset" && c.Name != "job"
}

// change is what the commits since a record did to objects that somebody made for
// an owner. ControllerRevisions are a controller's own notes: no user sees them.
type change struct{ created, deleted, adopted, released int }

func (c *cluster) since(from int) change {
	var d change
	h := &c.World.History
	for i := from; i < h.Len(); i++ {
		r := h.At(i)
		if r.Op != sim.Commit || r.Process == "user" || r.Object.Kind == "Event" ||
			r.Object.Kind == "ControllerRevision" {
			continue
		}
		before, after := controllerOf(r.Before), controllerOf(r.After)
		switch {
		case r.Before == nil:
			d.created++
		case r.After == nil:
			d.deleted++
		case before == "" && after != "":
			d.adopted++
		case before != "" && after == "":
			d.released++
		}
	}
	return d
}

func controllerOf(obj any) string {
	if m, ok := obj.(metav1.Object); ok {
		if r := metav1.GetControllerOf(m); r != nil {
			return string(r.UID)
		}
	}
	return ""
}

// switchTo replaces all programs: a whole controller manager. From here on the laws
// count where they are owed.
func (p pair) switchTo(c *cluster) int {
	mark := c.World.History.Len()
	for _, running := range c.Cluster.Processes() {
		if running.Controller().Generation == "" {
			continue
		}
		c.Switch(running, inGeneration(c.t, running.Controller().Name, p.to.Generation))
	}
	c.Judge.Since(mark)
	return mark
}

func inGeneration(t *testing.T, name, generation string) host.Controller {
	t.Helper()
	for _, c := range controllers.Builtin() {
		if c.Name == name && c.Generation == generation {
			return c
		}
	}
	t.Fatalf("%s has no generation %s", name, generation)
	return host.Controller{}
}

// limits let a world come to rest; that of a CronJob, which never does, for so long.
func (p pair) limits(d time.Duration) trial.Limits {
	if p.from.Name != "cronjob" {
		return trial.Limits{}
	}
	return trial.Limits{For: d, Rest: true}
}

func (p pair) lawful(t *testing.T, c *cluster, when string) {
	t.Helper()
	if p.from.Name == "cronjob" && p.from.Generation == "selector" {
		return // today's keeps in its list of active Jobs those that are there and that it does not own
	}
	if b := c.Broken(); b != nil && conforms(&p.to) {
		t.Errorf("%s: %v; last:\n%s", when, b, c.tail(40))
	}
}

// apart: without overlap a switch creates and deletes nothing, in either direction.
// What the old generation left without an owner goes to those that select it, and
// nothing else changes hands (UPGRADE-1).
func (p pair) apart(t *testing.T, c *cluster) {
	t.Helper()
	if p.from.Name == "daemonset" {
		for _, name := range []string{"one", "two"} {
			c.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
			c.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: c.Server.KindNamed("node"), Name: name,
				PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"taints":null}}`)}) // it is ready
		}
		c.start("scheduler") // older generations know a pod's node when it has one
	}
	c.Start(p.from.Name, p.from)
	c.create(p.object("a", "x", 2))
	c.create(p.object("b", "y", 3))
	if how := c.Settle(p.limits(80 * time.Second)); !how.Settled {
		t.Errorf("apart, before the switch: does not settle; last:\n%s", c.tail(40))
	}
	orphans := c.since(0).created
	if owns(&p.from) || !owns(&p.to) || p.from.Name == "cronjob" { // whose Jobs are not adopted: created-by links them
		orphans = 0
	}
	if p.from.Name == "cronjob" && c.since(0).created != 2 {
		t.Errorf("apart: %+v in the first minute, want 2 Jobs; last:\n%s", c.since(0), c.tail(40))
	}
	mark := p.switchTo(c)
	if how := c.Settle(p.limits(30 * time.Second)); !how.Settled {
		t.Errorf("apart: does not settle; last:\n%s", c.tail(40))
	}
	if got, want := c.since(mark), (change{adopted: orphans}); got != want {
		t.Errorf("apart: the switch made %+v, want %+v; last:\n%s", got, want, c.tail(60))
	}
	p.lawful(t, c, "apart")
}

// overlapping: a ReplicaSet and a ReplicationController select the same pods and want
// 2 and 3 of them. Up, the fight ends (UPGRADE-2), families may be split (UPGRADE-3), and what is created
// beyond what is deleted is what was lacking (UPGRADE-4). Down, to a generation that
// goes by selectors, they fight (DOWNGRADE-1) and delete (DOWNGRADE-2).
func (p pair) overlapping(t *testing.T, c *cluster) {
	t.Helper()
	c.Start(p.from.Name, p.from)
	c.Start("replication", inGeneration(t, "replication", p.from.Generation))
	c.create(replicaSet("a", "x", 2))
	c.create(replicationController("b", "x", 3))
	if how := c.Settle(trial.Limits{}); how.Fight == owns(&p.from) {
		t.Errorf("overlapping, before the switch: fight %v; last:\n%s", how.Fight, c.tail(40))
	}
	owned := c.owned()
	had, unowned := owned["a"]+owned["b"]+owned[""], owned[""]
	mark := p.switchTo(c)
	how := c.Settle(trial.Limits{})
	got := c.since(mark)
	if !owns(&p.to) {
		if !how.Fight || got.deleted == 0 {
			t.Errorf("overlapping: no fight after a downgrade: %+v; last:\n%s", got, c.tail(40))
		}
		return
	}
	if !how.Settled {
		t.Errorf("overlapping: does not settle; last:\n%s", c.tail(40))
	}
	if got.created-got.deleted != 5-had || got.created > 5 || got.adopted > unowned || got.released > 0 {
		t.Errorf("overlapping: %d pods, %d of them unowned, and the switch made %+v; last:\n%s", had, unowned, got,
			c.tail(60))
	}
	if owned = c.owned(); fmt.Sprint(owned) != "map[a:2 b:3]" {
		t.Errorf("overlapping: %v; last:\n%s", owned, c.tail(60))
	}
	p.lawful(t, c, "overlapping")
}

// together: both generations run at once, as in a slow hand-over; nobody overlaps.
// They come to rest, with as many as are wanted, however often that changes.
func (p pair) together(t *testing.T, c *cluster) {
	t.Helper()
	kind := p.from.For.Kind
	c.Start(p.from.Name, p.from)
	c.Start(p.from.Name+"#2", p.to)
	c.create(p.object("a", "x", 2))
	for _, want := range []int{2, 4, 1} {
		c.patch(kind, "a", fmt.Sprintf(`{"spec":{"replicas":%d}}`, want))
		if how := c.Settle(trial.Limits{}); !how.Settled {
			t.Errorf("together: does not settle; last:\n%s", c.tail(40))
		}
		if got := len(c.objects("pod")); got != want {
			t.Errorf("together: %d pods, want %d; last:\n%s", got, want, c.tail(60))
		}
	}
	if conforms(&p.from) {
		p.lawful(t, c, "together")
	}
}
