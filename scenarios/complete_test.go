package scenarios_test

import (
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// Complete adds what every world needs, and keeps what the registry contains.
func TestComplete(t *testing.T) {
	mine := host.Controller{Name: "replicaset"}
	g := builtin.Complete(&scenarios.Registry{Controllers: []host.Controller{{Name: "sloppy"}, mine, {Name: "rc"}}})
	for spec, want := range map[string]string{
		"sloppy": "sloppy", "gc": "garbagecollector", "kubelet": "kubelet", "namespace": "namespace",
		"replicaset": "replicaset", "replicaset@selector": "replicaset", "rc": "rc", "replication": "replication",
	} {
		c, what := g.Controller(spec)
		if what != "" || c.Name != want {
			t.Errorf("%s: found %q; %s", spec, c.Name, what)
		}
	}
	if c, _ := g.Controller("replicaset"); c.Era != "" {
		t.Errorf("replicaset is that of this module, era %s", c.Era)
	}
	if g.Reaper == nil || len(g.Laws) == 0 || len(g.Mutants) != 0 {
		t.Errorf("laws %d, mutants %d, reaper %v", len(g.Laws), len(g.Mutants), g.Reaper != nil)
	}
}
