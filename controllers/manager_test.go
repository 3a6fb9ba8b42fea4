package controllers_test

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Every name of kube-controller-manager, current or earlier, is a controller of this module or is refused by name
// (KCM-2). No name is both, and no name stands for two controllers.
func TestKubeControllerManager(t *testing.T) {
	m := controllers.KubeControllerManager()
	for _, c := range controllers.Builtin() {
		elsewhere := c.Name == "kubelet" || c.Name == "scheduler" // separate programs
		if slices.Contains(m.Runs, c.Name) == elsewhere {
			t.Errorf("runs %s: %v", c.Name, elsewhere)
		}
	}
	for alias, name := range map[string]string{
		"replicaset-controller": "replicaset", "replicationcontroller-controller": "replication",
		"replicationcontroller": "replication", "garbage-collector-controller": "garbagecollector",
		"namespace-controller": "namespace", "pvc-protection": "persistentvolumeclaim-protection",
		"persistentvolumeclaim-protection-controller": "persistentvolumeclaim-protection",
	} {
		if m.Aliases[alias] != name {
			t.Errorf("%s stands for %q, want %q", alias, m.Aliases[alias], name)
		}
	}
	for _, name := range m.Absent {
		if _, ok := m.Aliases[name]; ok || slices.Contains(m.Runs, name) {
			t.Errorf("%s is both an alias and absent", name)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(m.Absent)))); n != len(m.Absent) {
		t.Errorf("%d absent names, only %d different ones", len(m.Absent), n)
	}
}

// All laws apply to the newest era of every controller. The EndpointSlice controller finds slices by labels and claims
// none, so only the laws about writing apply to it.
func TestNewestOweAllLaws(t *testing.T) {
	newest := map[string]host.Controller{}
	for _, c := range controllers.Builtin() {
		newest[c.Name] = c
	}
	for name, c := range newest {
		want := law.Upstream
		if name == "endpointslice" {
			want = law.Writing
		}
		if c.Contract.Profile != want {
			t.Errorf("%s has profile %v", name, c.Contract.Profile)
		}
	}
}

// twoManagers starts two instances of the controller manager.
func twoManagers(c *cluster, first, second string) {
	for i, name := range []string{"manager#1", "manager#2"} {
		var members []host.Member
		for _, kind := range []string{"replicaset", "replication"} {
			members = append(members, host.Member{Name: kind + []string{"#1", "#2"}[i],
				Controller: inEra(c.t, kind, []string{first, second}[i])})
		}
		candidate := func(lead func(bool)) host.Controller { return controllers.KubeControllerManager().Elector(name, lead) }
		c.StartManager(name, candidate, members)
	}
}

// A leader with a slow election goes on after it has lost the lease, so two instances lead for a while. Their actions
// violate no law and settle, in each pair of conforming eras (SKEW-1).
func TestTwoLeaders(t *testing.T) {
	for _, g := range [][2]string{
		{"current", "current"}, {"controllerref", "current"}, {"current", "controllerref"},
	} {
		for seed := range uint64(20) {
			c := newCluster(t, sim.NewSeed(seed))
			c.create(replicaSet("a", "x", 3))
			c.create(replicationController("b", "x", 2))
			twoManagers(c, g[0], g[1])
			slow := leader(c)
			both := false
			for n := 0; n < 3000 && !both; n++ {
				step(c, slow)
				both = c.leading() == 2
			}
			if !both {
				t.Fatalf("%v, seed %d: never two leaders; last:\n%s", g, seed, c.tail(60))
			}
			c.patch("rs", "a", `{"spec":{"replicas":1}}`)
			c.create(orphan("late", "x"))
			for range 200 {
				step(c, slow)
			}
			c.settle()
			if n := c.leading(); n != 1 {
				t.Errorf("%v, seed %d: %d leaders when settled", g, seed, n)
			}
			c.wantOwned(map[string]int{"a": 1, "b": 2})
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}

// leader runs until there is a leader, and returns its name.
func leader(c *cluster) string {
	for c.leading() == 0 {
		c.Step()
	}
	if c.Cluster.Process("replicaset#1").Down {
		return "manager#2"
	}
	return "manager#1"
}

func (c *cluster) leading() int {
	n := 0
	for _, name := range []string{"replicaset#1", "replicaset#2"} {
		if !c.Cluster.Process(name).Down {
			n++
		}
	}
	return n
}

// step takes a random step of any process except the slow one.
func step(c *cluster, slow string) {
	var can []sim.Action
	for _, a := range c.World.Enabled() {
		if a.Actor != slow || a.Class == sim.Timer {
			can = append(can, a)
		}
	}
	if len(can) > 0 {
		c.World.StepAmong(can)
	}
}
