package controllerruntime_test

import (
	"fmt"
	goruntime "runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/controllerruntime/internal/widget"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// rounds is how often the Widgets of a run are scaled.
const rounds = 10

// BenchmarkReconcile runs two stepped operators for ten rounds, under random schedules, on the full API server. One has
// built-in kinds, whose Secrets a user deletes, and no laws. The other has a custom resource, whose replicas a user
// changes, and all laws.
func BenchmarkReconcile(b *testing.B) {
	b.Run("builtin", func(b *testing.B) {
		all := controllers(b, scheme.Scheme, setUpKeeper, controllerruntime.Options{})
		measure(b, func(seed uint64) *trial.Trial { return kept(b, all[0], seed) })
	})
	b.Run("custom", func(b *testing.B) {
		c := operator(b, widget.Without{})
		measure(b, func(seed uint64) *trial.Trial { return stepped(b, c, seed, rounds) })
	})
}

func measure(b *testing.B, run func(seed uint64) *trial.Trial) {
	b.Helper()
	steps, syncs, before := 0, 0, mallocs()
	for i := 0; b.Loop(); i++ {
		t := run(uint64(i))
		steps += t.World.Steps()
		for j := range t.World.History.Records {
			if t.World.History.Records[j].Op == sim.SyncStart {
				syncs++
			}
		}
		t.Recycle()
	}
	b.ReportMetric(float64(mallocs()-before)/float64(steps), "allocs/step")
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(syncs)/b.Elapsed().Seconds(), "reconciles/s")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}

func mallocs() uint64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.Mallocs
}

// widgetNamed returns a Widget in the server's form.
func widgetNamed(name string, replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"spec":     map[string]any{"replicas": replicas, "source": "text"}}}
}

var text = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "text"},
	Data: map[string][]byte{"text": []byte("hello")}}

// stepped runs the widget operator once, from a cold start.
func stepped(b testing.TB, c host.Controller, seed uint64, times int) *trial.Trial {
	b.Helper()
	t := trial.New(trial.Options{Choices: sim.NewSeed(seed)})
	for _, obj := range []runtime.Object{definition(b), text, widgetNamed("a", 2), widgetNamed("b", 1)} {
		create(b, t, obj)
	}
	t.Start("widget", c)
	settled(b, t)
	for round := range times {
		for i, name := range []string{"a", "b"} {
			patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, 2+3*((round+i)%2))
			if _, err := t.Request(&fakeapi.Request{Verb: fakeapi.Patch, Kind: t.Server.KindNamed("widget"),
				Namespace: "default", Name: name, PatchType: types.MergePatchType, Patch: patch}); err != nil {
				b.Fatal(err)
			}
		}
		settled(b, t)
	}
	return t
}

// kept runs the example's Keeper once, from a cold start.
func kept(b testing.TB, c host.Controller, seed uint64) *trial.Trial {
	b.Helper()
	t := trial.New(trial.Options{Choices: sim.NewSeed(seed), Laws: []*law.Law{}})
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		create(b, t, configMap(name))
	}
	t.Start("configmap", c)
	settled(b, t)
	for range rounds {
		for _, name := range names {
			if _, err := t.Request(&fakeapi.Request{Verb: fakeapi.Delete, Kind: t.Server.KindNamed("secret"),
				Namespace: "default", Name: name}); err != nil {
				b.Fatal(err)
			}
		}
		settled(b, t)
	}
	return t
}

func settled(b testing.TB, t *trial.Trial) {
	b.Helper()
	if how := t.Settle(trial.Limits{Writes: 10_000, Steps: 100_000}); !how.Settled {
		b.Fatalf("not settled after %d steps", how.Steps)
	}
	if broken := t.Broken(); broken != nil {
		b.Fatal(broken)
	}
}

func definition(b testing.TB) *apiextensionsv1.CustomResourceDefinition {
	b.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(widget.Definition), crd); err != nil {
		b.Fatal(err)
	}
	return crd
}

// Two runs of one seed are equal in every step.
func TestSeedsAreIdentical(t *testing.T) {
	c := operator(t, widget.Without{})
	distinct := map[uint64]bool{}
	for seed := range uint64(500) {
		var hashes [2]uint64
		for i := range hashes {
			run := stepped(t, c, seed, 1)
			hashes[i] = run.World.Hash()
			run.Recycle()
		}
		first, second := hashes[0], hashes[1]
		if first != second {
			t.Fatalf("seed %d: hashes %x and %x", seed, first, second)
		}
		distinct[first] = true
	}
	t.Logf("500 seeds twice, %d distinct runs", len(distinct))
	if len(distinct) < 250 {
		t.Errorf("only %d distinct runs: the seeds have too little effect", len(distinct))
	}
}
