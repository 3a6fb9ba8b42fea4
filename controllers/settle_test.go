package controllers_test

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

func (c *cluster) wantOwned(want map[string]int) {
	c.t.Helper()
	if got := c.owned(); !maps.Equal(got, want) {
		c.t.Errorf("pods by owner: %v, want %v\n%s", got, want, c.tail(60))
	}
}

func TestReplicaSetKeepsItsNumber(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replicaset@current")
	c.create(replicaSet("web", "x", 3))
	c.settle()
	c.wantOwned(map[string]int{"web": 3})
	rs := c.Server.Lookup(c.Server.KindNamed("rs"), "default", "web").(*appsv1.ReplicaSet)
	if s := rs.Status; s.Replicas != 3 || s.FullyLabeledReplicas != 3 || s.ReadyReplicas != 0 ||
		s.ObservedGeneration != 1 || *s.TerminatingReplicas != 0 {
		t.Errorf("status %+v", s)
	}
	c.patch("rs", "web", `{"spec":{"replicas":1}}`)
	c.settle()
	c.wantOwned(map[string]int{"web": 1})
}

// A pod has what the template says, and nothing else of it is the controller's own.
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

func TestAdoptsAndTrims(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replicaset@current")
	for _, name := range []string{"o0", "o1", "o2", "o3", "o4"} {
		c.create(orphan(name, "x"))
	}
	c.create(orphan("stranger", "y"))
	c.create(replicaSet("web", "x", 3))
	c.settle()
	c.wantOwned(map[string]int{"web": 3, "": 1})
}

func TestReleasesByLabel(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replicaset@current")
	c.create(orphan("o0", "x"))
	c.create(replicaSet("web", "x", 1))
	c.settle()
	c.want("pod", "o0 <web")
	c.patch("pod", "o0", `{"metadata":{"labels":{"app":"y"}}}`)
	c.settle()
	c.want("pod", "o0", "web-1 <web")
}

// NOFIGHT-3: sets of two kinds over one label set come to have what each asks for.
func TestOverlapSettles(t *testing.T) {
	for seed := range uint64(200) {
		c := newCluster(t, sim.NewSeed(seed), "replicaset@current", "replication@current")
		c.create(orphan("o0", "x"))
		c.create(orphan("o1", "x"))
		c.create(replicaSet("a", "x", 2))
		c.create(replicationController("b", "x", 3))
		c.create(replicaSet("c", "x", 1))
		c.settle()
		c.wantOwned(map[string]int{"a": 2, "b": 3, "c": 1})
		for _, p := range c.Cluster.Processes() {
			if w := p.Waiting(); len(w) > 0 {
				t.Fatalf("seed %d: %s waits for %v", seed, p.Name, w)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Before ControllerRef the same two fight for ever.
func TestOverlapFightsBeforeControllerRef(t *testing.T) {
	for _, generation := range []string{"selector", "gated-without-gc"} {
		c := newCluster(t, sim.Zero{}, "replicaset@"+generation, "replication@"+generation)
		c.create(replicaSet("a", "x", 1))
		c.create(replicationController("b", "x", 3))
		for range 3000 {
			if !c.World.Step() {
				t.Fatalf("%s: settled\n%s", generation, c.tail(60))
			}
		}
		if a, b := c.writes("replicaset"), c.writes("replication"); a < 50 || b < 50 {
			t.Errorf("%s: %d and %d writes in 3000 steps", generation, a, b)
		}
	}
}

func TestGatedAdopts(t *testing.T) {
	for seed := range uint64(50) {
		c := newCluster(t, sim.NewSeed(seed), "replicaset@gated", "replication@gated")
		c.create(orphan("o0", "x"))
		c.create(replicaSet("a", "x", 1))
		c.create(replicationController("b", "x", 3))
		for range 3000 {
			if !c.World.Step() {
				break
			}
		}
		for owner, n := range c.owned() {
			if owner == "" && n > 0 {
				t.Errorf("seed %d: %d pods without an owner", seed, n)
			}
		}
	}
}

func TestSelectorGenerationMarksItsPods(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replicaset@selector")
	c.create(replicaSet("web", "x", 1))
	c.settle()
	c.want("pod", "web-1")
	pod := c.Server.Lookup(c.Server.KindNamed("pod"), "default", "web-1").(*corev1.Pod)
	rs := c.Server.Lookup(c.Server.KindNamed("rs"), "default", "web").(*appsv1.ReplicaSet)
	want := `{"kind":"SerializedReference","apiVersion":"v1","reference":{"kind":"ReplicaSet","namespace":"default","name":"web","uid":"` + string(rs.UID) + `","apiVersion":"apps/v1"}}`
	if got := pod.Annotations["kubernetes.io/created-by"]; got != want {
		t.Errorf("created-by\n got %s\nwant %s", got, want)
	}
}

func background() metav1.DeleteOptions { return policy(metav1.DeletePropagationBackground) }

func policy(p metav1.DeletionPropagation) metav1.DeleteOptions {
	return metav1.DeleteOptions{PropagationPolicy: &p}
}

func TestDeletionPolicies(t *testing.T) {
	for _, c := range []struct {
		policy metav1.DeletionPropagation
		pods   map[string]int
	}{
		{metav1.DeletePropagationBackground, map[string]int{}},
		{metav1.DeletePropagationForeground, map[string]int{}},
		{metav1.DeletePropagationOrphan, map[string]int{"": 2}},
	} {
		for seed := range uint64(100) {
			w := newCluster(t, sim.NewSeed(seed), "replicaset@current", "garbagecollector")
			w.create(replicaSet("web", "x", 2))
			w.settle()
			w.delete("rs", "web", policy(c.policy))
			w.settle()
			w.want("rs")
			w.wantOwned(c.pods)
			if t.Failed() {
				t.Fatalf("%s, seed %d", c.policy, seed)
			}
		}
	}
}

// Orphaned pods go to whoever else selects them, and the surplus is trimmed.
func TestOrphansAreAdopted(t *testing.T) {
	for seed := range uint64(100) {
		c := newCluster(t, sim.NewSeed(seed), "replicaset@current", "replication@current",
			"garbagecollector")
		c.create(replicaSet("a", "x", 2))
		c.create(replicationController("b", "x", 1))
		c.settle()
		c.delete("rs", "a", policy(metav1.DeletePropagationOrphan))
		c.settle()
		c.wantOwned(map[string]int{"b": 1})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestKubelet(t *testing.T) {
	c := newCluster(t, sim.Zero{}, "replicaset@current", "garbagecollector", "kubelet")
	c.create(replicaSet("web", "x", 2))
	c.settle()
	rs := c.Server.Lookup(c.Server.KindNamed("rs"), "default", "web").(*appsv1.ReplicaSet)
	if s := rs.Status; s.ReadyReplicas != 2 || s.AvailableReplicas != 2 {
		t.Errorf("status %+v\n%s", s, c.tail(60))
	}
	c.delete("rs", "web", background())
	c.settle()
	c.want("rs")
	c.want("pod")
}

// A pod with a node goes gracefully: the kubelet has the last word, and says it.
func TestKubeletBindsAndFinishes(t *testing.T) {
	for seed := range uint64(50) {
		c := newCluster(t, sim.NewSeed(seed), "replicaset@current", "kubelet@binding")
		c.create(replicaSet("web", "x", 2))
		c.settle()
		pod := c.Server.Lookup(c.Server.KindNamed("pod"), "default", "web-1").(*corev1.Pod)
		if pod.Spec.NodeName != "node-1" || pod.Status.Phase != corev1.PodRunning {
			t.Fatalf("seed %d: node %q, phase %q\n%s", seed, pod.Spec.NodeName, pod.Status.Phase, c.tail(60))
		}
		c.delete("pod", "web-1", metav1.DeleteOptions{})
		if c.want("pod", "web-1 <web going", "web-2 <web"); t.Failed() {
			t.FailNow()
		}
		c.settle()
		c.want("pod", "web-2 <web", "web-3 <web")
	}
}
