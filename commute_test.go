package threelaws_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// Actions that footprints call independent do commute on the real host: taken in
// either order they lead to the same state. The exhaustive search rests on it.
func TestIndependentActionsCommute(t *testing.T) {
	pairs, err := explore.Commute(rivals(t), 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	if pairs < 50 {
		t.Errorf("only %d pairs were compared", pairs)
	}
	t.Logf("%d pairs", pairs)
}

// Racing adopters are covered whole, and keep every law in every behaviour.
func TestAdoptersExhaustively(t *testing.T) {
	cover, err := explore.Exhaust{Program: adopters(t, 2, 2)}.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(cover)
	if !cover.Complete || len(cover.Failures) > 0 || cover.States < 100 {
		t.Errorf("%v: %v", cover, cover.Failures)
	}
}

// rivals is a program: a ReplicaSet and a ReplicationController race for
// orphans, a collector and a kubelet beside them; four processes whose actions
// are often independent.
func rivals(tb testing.TB) explore.Program {
	one := int32(1)
	rc := &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-b"},
		Spec: corev1.ReplicationControllerSpec{Replicas: &one, Selector: map[string]string{"app": "web"},
			Template: &replicaSet("web-b", "web", 1).Spec.Template},
	}
	return func(choices sim.Choices) *explore.Outcome {
		c := trial.New(trial.Options{})
		create(tb, c, orphanPod("p1", "web"))
		create(tb, c, orphanPod("p2", "web"))
		create(tb, c, replicaSet("web-a", "web", 1))
		create(tb, c, rc)
		for _, name := range []string{"replicaset@current", "replication@current", "garbagecollector",
			"kubelet"} {
			ctl := builtin(name)
			c.Start(ctl.Name, ctl)
		}
		return outcome(c, choices)
	}
}
