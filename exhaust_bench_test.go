package threelaws_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientcache "k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

func orphanPod(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// adopters is a program: n ReplicaSets, each with a worker of its own, race for
// m orphans that every one of them wants all of, with the live re-check of
// ADOPT-4.
func adopters(tb testing.TB, n, m int) explore.Program {
	return func(choices sim.Choices) *explore.Outcome {
		c := trial.New(trial.Options{})
		for i := range m {
			create(tb, c, orphanPod(fmt.Sprintf("p%d", i+1), "web"))
		}
		for i := range n {
			create(tb, c, replicaSet(fmt.Sprintf("web-%c", 'a'+i), "web", int32(m)))
		}
		ctl := claimOnly()
		ctl.Workers = n
		c.Start("replicaset", ctl)
		for e := c.World.Enabled(); len(e) > 0 && e[0].Class == sim.Deliver; e = c.World.Enabled() {
			c.Take(e[0])
		}
		return outcome(c, choices)
	}
}

// outcome runs a trial to its end under the choices, with every law asked.
func outcome(t *trial.Trial, choices sim.Choices) *explore.Outcome {
	t.World.SetChoices(choices)
	how := t.Settle(trial.Limits{Stop: func() bool { return t.Broken() != nil }})
	o := &explore.Outcome{Steps: t.World.Steps(), Hash: t.World.Hash(), Settled: how.Settled, Fight: how.Fight}
	if !how.Ended {
		o.State = t.World.StateHash()
	}
	if b := t.Broken(); b != nil {
		o.Findings = append(o.Findings, explore.Finding{Law: b.Law.ID, Text: b.Text, Informed: true})
	}
	t.Recycle()
	return o
}

// claimOnly is the ReplicaSet controller reduced to its claim: it adopts and
// releases with the live re-check, and neither scales nor writes a status.
func claimOnly() host.Controller {
	ctl := builtin("replicaset@current")
	rs, pod := ctl.For, ctl.Owns[0]
	ctl.Contract.Replicas, ctl.Contract.Counted, ctl.Contract.Counts = nil, nil, nil
	ctl.New = func(env *host.Env) host.Reconciler {
		sets, pods := env.Informer(rs).GetIndexer(), env.Informer(pod).GetIndexer()
		return host.Stateless(func(ctx context.Context, key string) error {
			obj, exists, err := sets.GetByKey(key)
			if err != nil || !exists {
				return err
			}
			set := obj.(*appsv1.ReplicaSet)
			selector := ctl.Contract.Selector(set)
			listed, err := pods.ByIndex(clientcache.NamespaceIndex, set.Namespace)
			if err != nil {
				return err
			}
			candidates := make([]*corev1.Pod, len(listed))
			for i, p := range listed {
				candidates[i] = p.(*corev1.Pod)
			}
			m := &ref.Manager{Client: env.Client, Owner: set, Kind: rs, Dependent: pod, Without: &ref.Without{}}
			_, err = ref.Claim(ctx, m, candidates,
				func(p *corev1.Pod) bool { return selector.Matches(labels.Set(p.Labels)) })
			return err
		})
	}
	return ctl
}

// BenchmarkExhaustive covers every behaviour of racing adopters.
func BenchmarkExhaustive(b *testing.B) {
	for _, n := range []int{2, 3} {
		b.Run(fmt.Sprintf("adopters=%d,orphans=%d", n, n), func(b *testing.B) {
			var cover *explore.Coverage
			for b.Loop() {
				var err error
				if cover, err = (explore.Exhaust{Program: adopters(b, n, n)}).Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.Log(cover)
			for _, f := range cover.Failures {
				b.Log(f.Violation)
			}
			b.ReportMetric(float64(cover.States), "states")
			b.ReportMetric(float64(cover.Schedules), "schedules")
		})
	}
}
