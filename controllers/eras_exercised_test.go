package controllers_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// start runs an era's controllers in a cluster with the nodes that they need.
func (p pair) start(c *cluster, suffix string, of host.Controller) {
	c.t.Helper()
	if suffix == "" && p.nodes > 0 {
		for i := range p.nodes {
			name := fmt.Sprint("node-", i)
			c.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
			c.patch("Node", name, `{"spec":{"taints":null}}`) // it is ready
		}
		c.start("scheduler") // older eras assign a pod to a node once there is a node
		c.start("kubelet@endless")
	}
	c.Start(of.Name+suffix, of)
	if p.with != "" {
		c.Start(p.with+suffix, inEra(c.t, p.with, of.Era))
	}
	if suffix != "" && c.late {
		c.crash()
	}
}

func (p pair) make(c *cluster, name, app string, n int) {
	c.t.Helper()
	if p.label {
		c.label(name, n)
	}
	c.create(p.object(name, app, int32(n)))
}

// switched checks a switch between eras whose owners do not overlap. In both directions it creates and deletes nothing.
// Ownerless objects of the old era are adopted by the owners that select them, and no other object changes its owner
// (UPGRADE-1).
func (p pair) switched(t *testing.T, c *cluster) {
	t.Helper()
	p.start(c, "", p.from)
	p.make(c, "a", "x", 2)
	p.make(c, "b", "y", 3)
	if how := c.Settle(p.limits(80 * time.Second)); !how.Settled {
		t.Errorf("apart, before the switch: does not settle; last:\n%s", c.tail(40))
	}
	orphans := c.since(0).created
	if owns(&p.from) || !owns(&p.to) || p.from.Name == "cronjob" { // its Jobs are not adopted: created-by links them
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
		t.Errorf("apart: the switch caused %+v, want %+v; last:\n%s", got, want, c.tail(60))
	}
	if p.from.Name == "cronjob" {
		if c.Settle(p.limits(time.Minute)); c.since(mark).created != 2 {
			t.Errorf("apart: %+v in the next minute, want one Job for each CronJob; last:\n%s", c.since(mark), c.tail(40))
		}
	}
	p.lawful(t, c, "apart")
}

// overlap creates two owners that select the same pods and want 2 and 3.
func (p pair) overlap(c *cluster) {
	c.t.Helper()
	p.make(c, "a", "x", 2)
	if p.rival != nil {
		c.create(p.rival("b", "x", 3))
		return
	}
	p.make(c, "b", "x", 3)
}

// overlapping checks two owners that select the same pods and want 2 and 3. After an upgrade the fight ends
// (UPGRADE-2), families may be split (UPGRADE-3), and net creations equal the missing pods (UPGRADE-4). After a
// downgrade to a selector era they fight (DOWNGRADE-1) and delete (DOWNGRADE-2).
func (p pair) overlapping(t *testing.T, c *cluster) {
	t.Helper()
	p.start(c, "", p.from)
	p.overlap(c)
	how := c.Settle(trial.Limits{})
	if how.Fight && owns(&p.from) || !how.Fight && !owns(&p.from) && p.rival != nil {
		t.Errorf("overlapping, before the switch: fight %v; last:\n%s", how.Fight, c.tail(40))
	}
	had, unowned := size(c.families()), c.unowned()
	mark := p.switchTo(c)
	how = c.Settle(trial.Limits{})
	if p.to.Era == "gated" {
		c.resync() // events go to the oldest owner, so the expectations of others become stale
		how = c.Settle(trial.Limits{})
	}
	got := c.since(mark, "Pod")
	if !owns(&p.to) {
		p.downgraded(t, c, how.Fight, got)
		return
	}
	if !how.Settled {
		t.Errorf("overlapping: does not settle; last:\n%s", c.tail(40))
	}
	if got.created-got.deleted != 5-had || got.created > 5 || got.adopted > unowned || got.released+got.moved > 0 {
		t.Errorf("overlapping: %d pods, %d of them unowned, and the switch caused %+v; last:\n%s", had, unowned, got,
			c.tail(60))
	}
	if owns(&p.from) && got != (change{}) {
		t.Errorf("overlapping: each owner had its own pods, and the switch caused %+v; last:\n%s", got, c.tail(60))
	}
	if families := c.families(); fmt.Sprint(families) != "map[a:2 b:3]" {
		t.Errorf("overlapping: %v; last:\n%s", families, c.tail(60))
	}
	p.fewer(t, c, "overlapping", 1)
	p.lawful(t, c, "overlapping")
}

// downgraded checks a downgrade. Owners of different kinds fight over the pods that they select. Two owners of one kind
// may settle, because a pod's event enqueues only the oldest. But then the owner that reconciled last has deleted the
// surplus (DOWNGRADE-1 and -2).
func (p pair) downgraded(t *testing.T, c *cluster, fight bool, got change) {
	t.Helper()
	if !fight && p.rival != nil || owns(&p.from) && got.deleted == 0 {
		t.Errorf("overlapping: fight %v after a downgrade: %+v; last:\n%s", fight, got, c.tail(40))
	}
	if n := size(c.families()); !fight && n != 2 && n != 3 {
		t.Errorf("overlapping: settles with %d pods after a downgrade: %+v; last:\n%s", n, got, c.tail(40))
	}
}

// fewer checks two owners of the same pods, with 2 and 3. The first is scaled to 1, and deletes one of its own pods.
// Its remaining pod is relabelled, so it is released and replaced. Several instances may each replace it, and then the
// surplus is deleted.
func (p pair) fewer(t *testing.T, c *cluster, when string, instances int) {
	t.Helper()
	mark := c.World.History.Len()
	p.size(c, 1)
	c.Settle(trial.Limits{})
	if got, families := c.since(mark, "Pod"), fmt.Sprint(c.families()); !got.within(change{deleted: 1}, instances) ||
		families != "map[a:1 b:3]" {
		t.Errorf("%s: after scaling the first to 1, %+v and %v; last:\n%s", when, got, families, c.tail(60))
	}
	mark = c.World.History.Len()
	c.patch("Pod", c.podOf("a"), `{"metadata":{"labels":{"app":"z"}}}`)
	c.Settle(trial.Limits{})
	if p.to.Era == "gated" {
		c.resync()
		c.Settle(trial.Limits{})
	}
	if got, families := c.since(mark, "Pod"), fmt.Sprint(c.families()); families != "map[:1 a:1 b:3]" ||
		!got.within(change{created: 1, released: 1}, instances) {
		t.Errorf("%s: after relabelling a pod, %+v and %v; last:\n%s", when, got, families, c.tail(60))
	}
}

// together runs both eras at once, as in a slow hand-over, without overlap. They settle with the wanted number of pods,
// however often that number changes (SKEW-1).
func (p pair) together(t *testing.T, c *cluster) {
	t.Helper()
	p.start(c, "", p.from)
	p.start(c, "#2", p.to)
	p.make(c, "a", "x", 2)
	for _, want := range []int{2, 4, 1} {
		p.size(c, want)
		if how := c.Settle(trial.Limits{}); !how.Settled {
			t.Errorf("together: does not settle; last:\n%s", c.tail(40))
		}
		if got := size(c.families()); got != want {
			t.Errorf("together: %d pods, want %d; last:\n%s", got, want, c.tail(60))
		}
		if got, used := c.sets(); p.from.Name == "deployment" && (used != 1 || got != 1 && (got != 2 || !hashes(&p))) {
			t.Errorf("together: %d ReplicaSets of one template, %d of them with pods; last:\n%s", got, used, c.tail(60))
		}
	}
	if conforms(&p.from) {
		p.lawful(t, c, "together")
	}
}

// hashes reports whether two eras give the ReplicaSet of a template different names: the first eras hashed with Adler.
func hashes(p *pair) bool {
	return (p.from.Era == "selector") != (p.to.Era == "selector")
}

// ticking runs two eras of the CronJob controller at once. Each starts a Job each minute. If both use the same name,
// there is only one Job. The polling eras use seconds in names, and the current era uses minutes (SKEW-1).
func (p pair) ticking(t *testing.T, c *cluster) {
	t.Helper()
	p.start(c, "", p.from)
	p.start(c, "#2", p.to)
	p.make(c, "a", "x", 1)
	if how := c.Settle(p.limits(3*time.Minute + 30*time.Second)); !how.Settled {
		t.Errorf("ticking: does not settle; last:\n%s", c.tail(40))
	}
	most := 3
	if p.from.Era == "current" || p.to.Era == "current" {
		most = 6
	}
	if got := len(c.objects("job")); got < 3 || got > most {
		t.Errorf("ticking: %d Jobs in three minutes, want 3 to %d; last:\n%s", got, most, c.tail(60))
	}
}

// contending runs both eras at once with two overlapping owners. Eras that use ControllerRef do not fight (SKEW-1).
func (p pair) contending(t *testing.T, c *cluster) {
	t.Helper()
	p.start(c, "", p.from)
	p.start(c, "#2", p.to)
	p.overlap(c)
	if how := c.Settle(trial.Limits{}); !how.Settled {
		t.Errorf("contending: does not settle; last:\n%s", c.tail(40))
	}
	if families := c.families(); fmt.Sprint(families) != "map[a:2 b:3]" {
		t.Errorf("contending: %v; last:\n%s", families, c.tail(60))
	}
	p.fewer(t, c, "contending", 2)
	if conforms(&p.from) {
		p.lawful(t, c, "contending")
	}
}
