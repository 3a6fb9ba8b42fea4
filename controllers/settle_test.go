package controllers_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/sim"
)

func (c *cluster) wantOwned(want map[string]int) {
	c.t.Helper()
	if got := c.owned(); !maps.Equal(got, want) {
		c.t.Errorf("pods by owner: %v, want %v\n%s", got, want, c.tail(60))
	}
}

// A pod has what the template says; the controller adds nothing else.
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
