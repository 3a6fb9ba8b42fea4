package threelaws_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// Actions with independent footprints must commute on the real host: taken in either order, they lead to the same
// state. The exhaustive search depends on this.
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

// rivals returns a program in which a ReplicaSet and a ReplicationController race for orphans. A garbage collector and
// a kubelet run too. Actions of these four processes are often independent.
func rivals(tb testing.TB) explore.Runner {
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

func orphanPod(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// outcome runs a trial to its end under these choices, with all laws.
func outcome(t *trial.Trial, choices sim.Choices) *explore.Outcome {
	t.World.SetChoices(choices)
	how := t.Settle(trial.Limits{Stop: func() bool { return t.Broken() != nil }})
	o := &explore.Outcome{Steps: t.World.Steps(), Hash: t.World.Hash(), Settled: how.Settled, Fight: how.Fight}
	if !how.Ended {
		o.State = t.World.StateHash()
	}
	if b := t.Broken(); b != nil {
		o.Findings = append(o.Findings, explore.Violation{Law: b.Law.ID, Text: b.Text, Informed: true})
	}
	t.Recycle()
	return o
}
