package controllers_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// Each controller of the table switches from each of its eras to each other era, in many schedules. The test predicts
// what a switch creates, deletes and hands over (UPGRADE-1 to -4, DOWNGRADE-1 and -2), and what two concurrent eras do
// (SKEW-1).
func TestEras(t *testing.T) {
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
		if eraWorlds[name].object == nil {
			t.Errorf("%s has several eras, and no world in eraWorlds", name)
			continue
		}
		for _, from := range byName[name] {
			for _, to := range byName[name] {
				if from.Era != to.Era {
					p := pair{world: eraWorlds[name], from: from, to: to}
					t.Run(name+"/"+from.Era+"-"+to.Era, p.test)
				}
			}
		}
	}
}

type pair struct {
	world
	from, to host.Controller
}

// eraSeeds returns the number of schedules for each pair of eras: 8, or 300 with SOAK.
func eraSeeds() uint64 {
	if os.Getenv("SOAK") != "" {
		return 300
	}
	return 8
}

func (p pair) test(t *testing.T) {
	t.Parallel()
	asked := []func(*testing.T, *cluster){p.switched}
	if p.apart == "" {
		asked = append(asked, p.overlapping)
	} else {
		t.Logf("two owners do not overlap: %s", p.apart)
	}
	if p.size != nil {
		asked = append(asked, p.together)
	} else {
		asked = append(asked, p.ticking)
	}
	if p.apart == "" && owns(&p.from) && owns(&p.to) {
		asked = append(asked, p.contending)
	}
	for seed := range eraSeeds() {
		// A subtest, so that its worlds are freed before the others run.
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { ask(t, seed, asked) }) {
			return
		}
	}
}

// ask runs each check in a separate world.
func ask(t *testing.T, seed uint64, asked []func(*testing.T, *cluster)) {
	for _, one := range asked {
		var choices sim.Choices = sim.Zero{}
		if seed > 0 {
			choices = sim.NewSeed(seed)
		}
		c := newCluster(t, choices)
		c.late = seed%4 == 3
		if seed%4 == 1 {
			c.crash()
		}
		one(t, c)
	}
}

// conforms reports whether the laws apply to an era. Eras from before ControllerRef violate them on purpose.
func conforms(c *host.Controller) bool {
	return !slices.Contains([]string{"selector", "gated", "gated-without-gc"}, c.Era)
}

// owns reports whether an era uses ControllerRef. In the gated era, DaemonSet and Job do not.
func owns(c *host.Controller) bool {
	return conforms(c) || c.Era == "gated" && c.Name != "daemonset" && c.Name != "job"
}

// change counts writes by controllers since a record, without writes of Events and ControllerRevisions.
type change struct{ created, deleted, adopted, released, moved int }

// within reports whether d equals want. Several instances may also create more objects, and delete as many.
func (d change) within(want change, instances int) bool {
	more := d.created - want.created
	d.created, d.deleted = d.created-more, d.deleted-more
	return d == want && (more == 0 || more > 0 && instances > 1)
}

func (c *cluster) since(from int, kinds ...string) change {
	var d change
	h := &c.World.History
	for i := from; i < h.Len(); i++ {
		r := h.At(i)
		kind := r.Object.Kind
		if r.Op != sim.Commit || r.Process == "user" || kind == "Event" || kind == "ControllerRevision" {
			continue
		}
		counts := len(kinds) == 0 || slices.Contains(kinds, kind)
		before, after := controllerOf(r.Before), controllerOf(r.After)
		switch {
		case r.Before == nil:
			if counts {
				d.created++
			}
		case !going(r.Before) && (r.After == nil || going(r.After)):
			if counts {
				d.deleted++
			}
		case r.After == nil:
		case before == "" && after != "":
			d.adopted++
		case before != "" && after == "":
			d.released++
		case before != after:
			d.moved++
		}
	}
	return d
}

func going(obj any) bool { return obj.(metav1.Object).GetDeletionTimestamp() != nil }

func controllerOf(obj any) string {
	if m, ok := obj.(metav1.Object); ok {
		if r := metav1.GetControllerOf(m); r != nil {
			return string(r.UID)
		}
	}
	return ""
}

// switchTo replaces all programs, like a new controller manager. Then the laws count if they apply to the new era.
func (p pair) switchTo(c *cluster) int {
	mark := c.World.History.Len()
	for _, running := range c.Cluster.Processes() {
		if running.Controller().Era == "" || running.Name == "kubelet" {
			continue
		}
		c.Switch(running, inEra(c.t, running.Controller().Name, p.to.Era))
	}
	c.Judge.Since(mark)
	if c.late {
		c.crash() // a crash after the switch
	}
	return mark
}

func (c *cluster) crash() {
	c.t.Helper()
	if err := c.Faults(map[string]int{"crash": 1}); err != nil {
		c.t.Fatal(err)
	}
}

func inEra(t *testing.T, name, era string) host.Controller {
	t.Helper()
	for _, c := range controllers.Builtin() {
		if c.Name == name && c.Era == era {
			return c
		}
	}
	t.Fatalf("%s has no era %s", name, era)
	return host.Controller{}
}

// limits returns the limits for settling. A world with a CronJob never settles, so it gets the time d.
func (p pair) limits(d time.Duration) trial.Limits {
	if p.from.Name != "cronjob" {
		return trial.Limits{}
	}
	return trial.Limits{For: d, Rest: true}
}

func (p pair) lawful(t *testing.T, c *cluster, when string) {
	t.Helper()
	if p.from.Name == "cronjob" && p.from.Era == "selector" {
		return // the current era keeps existing Jobs that it does not own in its active list
	}
	if b := c.Broken(); b != nil && conforms(&p.to) {
		t.Errorf("%s: %v; last:\n%s", when, b, c.tail(40))
	}
}
