package controllers_test

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/controllers"
)

// Every name of kube-controller-manager, current or earlier, is a controller here or is refused by name (KCM-2). None
// is both, and none stands for two.
func TestKubeControllerManager(t *testing.T) {
	m := controllers.KubeControllerManager()
	for _, c := range controllers.Builtin() {
		elsewhere := c.Name == "kubelet" || c.Name == "scheduler" // separate programs
		if slices.Contains(m.Runs, c.Name) == elsewhere {
			t.Errorf("it runs %s is %v", c.Name, elsewhere)
		}
	}
	for alias, name := range map[string]string{
		"replicaset-controller": "replicaset", "replicationcontroller-controller": "replication",
		"replicationcontroller": "replication", "garbage-collector-controller": "garbagecollector",
		"namespace-controller": "namespace", "pvc-protection": "persistentvolumeclaim-protection",
		"persistentvolumeclaim-protection-controller": "persistentvolumeclaim-protection",
	} {
		if m.Aliases[alias] != name {
			t.Errorf("%s is %q here, want %q", alias, m.Aliases[alias], name)
		}
	}
	for _, name := range m.Absent {
		if _, ok := m.Aliases[name]; ok || slices.Contains(m.Runs, name) {
			t.Errorf("%s is here and is not", name)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(m.Absent)))); n != len(m.Absent) {
		t.Errorf("of %d absent names %d are different", len(m.Absent), n)
	}
}
