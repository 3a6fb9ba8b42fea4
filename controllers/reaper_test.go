package controllers_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/controllers/internal/replication"
	"github.com/threelaws/threelaws/controllers/reaper"
	"github.com/threelaws/threelaws/sim"
)

// stop runs kubectl delete as it was, and returns what it ended with.
func (c *cluster) stop(kind schema.GroupVersionKind, name string) (ended bool, err error) {
	c.t.Helper()
	ctl, refused := reaper.Controller(kind, "default", name, func(e error) { ended, err = true, e })
	if refused != nil {
		c.t.Fatal(refused)
	}
	c.Start("kubectl", ctl)
	for range 20000 {
		if ended || !c.World.Step() {
			break
		}
	}
	return ended, err
}

func TestReaper(t *testing.T) {
	for seed := range uint64(50) {
		c := newCluster(t, sim.NewSeed(seed), "replicaset@selector", "replication@selector")
		c.create(replicaSet("a", "x", 3))
		c.create(replicationController("b", "y", 2))
		c.settle()
		if ended, err := c.stop(replicaset.Kind.GVK, "a"); !ended || err != nil {
			t.Fatalf("seed %d: %v, %v\n%s", seed, ended, err, c.tail(60))
		}
		c.settle()
		c.want("rs")
		c.want("rc", "b")
		if n := len(c.objects("pod")); n != 2 {
			t.Errorf("seed %d: %d pods left, want 2", seed, n)
		}
	}
}

// Where selectors overlap kubectl either gave up or left the pods alone.
func TestReaperAndOverlap(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replication@selector")
	both := replicationController("narrow", "x", 1)
	both.Spec.Selector["tier"], both.Spec.Template.Labels["tier"] = "web", "web"
	c.create(both)
	c.create(replicationController("wide", "x", 1))
	_, err := c.stop(replication.Kind.GVK, "wide")
	if want := "detected overlapping controllers for rc wide: narrow"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	c.want("rc", "narrow", "wide")

	c = newCluster(t, sim.Zero{}, "replication@selector")
	c.create(replicationController("a", "x", 2))
	c.create(replicationController("b", "x", 2))
	c.settle()
	if _, err := c.stop(replication.Kind.GVK, "b"); err != nil {
		t.Error(err)
	}
	c.settle()
	c.want("rc", "a")
	if n := len(c.objects("pod")); n != 2 {
		t.Errorf("%d pods, want 2", n)
	}
}

// Without a controller nobody brings the pods down, and the user waits.
func TestReaperTimesOut(t *testing.T) {
	c := newCluster(t, sim.Zero{})
	c.create(replicaSet("a", "x", 1))
	ended, err := c.stop(replicaset.Kind.GVK, "a")
	if !ended || err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("ended %v with %v", ended, err)
	}
	if waited := c.World.Clock.Elapsed(); waited < 5*60e9 || waited > 6*60e9 {
		t.Errorf("waited %v", waited)
	}
	c.want("rs", "a")
}

func TestReaperForOtherKinds(t *testing.T) {
	_, err := reaper.Controller(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, "", "n", nil)
	if err == nil || err.Error() != "no reaper has been implemented for Node" {
		t.Errorf("error %v", err)
	}
}
