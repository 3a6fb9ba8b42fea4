package controllerruntime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// pair keeps two Secrets for each ConfigMap. It reads and creates them concurrently.
type pair struct {
	client.Client
	careless bool // it does not recognize an existing second Secret
}

func (p *pair) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := p.Get(ctx, req.NamespacedName, &m); err != nil || m.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	all, ctx := errgroup.WithContext(ctx)
	for i := range 2 {
		all.Go(func() error {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: fmt.Sprint(m.Name, "-", i)}}
			if err := p.Get(ctx, client.ObjectKeyFromObject(s), s); client.IgnoreNotFound(err) != nil || err == nil {
				return err
			}
			if p.careless && i == 1 {
				s.Name, s.GenerateName = "", m.Name+"-"
			}
			if err := controllerutil.SetControllerReference(&m, s, p.Scheme()); err != nil {
				return err
			}
			return client.IgnoreAlreadyExists(p.Create(ctx, s))
		})
	}
	return ctrl.Result{}, all.Wait()
}

func pairs(t testing.TB, careless bool) simtest.Case {
	t.Helper()
	all := controllers(t, scheme.Scheme, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(
			&pair{mgr.GetClient(), careless})
	}, controllerruntime.Options{Goroutines: true})
	all[0].Contract.Replicas = controllerruntime.Of(func(*corev1.ConfigMap) int { return 2 })
	return simtest.Case{Controllers: all, Schedules: 200,
		World:  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
		Faults: map[string]int{"crash": 1, "lost": 1}}
}

// A Reconcile with goroutines runs, and the laws find its bug.
func TestGoroutines(t *testing.T) {
	for careless, want := range map[bool]string{false: "", true: "never-too-many"} {
		x := pairs(t, careless)
		found, err := x.Explore(t.Context(), "pair")
		if err != nil {
			t.Fatal(err)
		}
		if text := found.Text(); (found.Failed > 0) != careless || !strings.Contains(text, want) {
			t.Errorf("careless: %v:\n%s", careless, text)
		}
	}
}

// The schedules of a small world can be enumerated completely.
func TestGoroutinesExhaustively(t *testing.T) {
	x := pairs(t, false)
	x.Exhaustive, x.Faults = true, map[string]int{"lost": 1}
	found, err := x.Explore(t.Context(), "pair")
	if err != nil {
		t.Fatal(err)
	}
	if text := found.Text(); found.Failed > 0 || strings.Contains(text, "not all") {
		t.Errorf("%s", text)
	}
	t.Log(found.Text())
}

// whole returns a controller that runs in a whole manager, like one that main creates.
func whole(informer cache.Options, setUp func(ctrl.Manager) error) host.Controller {
	again := true // a world starts the manager again after each crash, in one process
	core := corev1.SchemeGroupVersion
	return bubble.Controller(host.Controller{Name: "keeper", For: core.WithKind("ConfigMap"),
		Owns: []schema.GroupVersionKind{core.WithKind("Secret")}},
		func(ctx context.Context, cfg *rest.Config) error {
			mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: scheme.Scheme, Logger: logr.Discard(),
				Cache: informer, Metrics: server.Options{BindAddress: "0"},
				Controller: config.Controller{SkipNameValidation: &again}})
			if err != nil {
				return err
			}
			if err := setUp(mgr); err != nil {
				return err
			}
			return mgr.Start(ctx)
		})
}

// ten runs a world of ten ConfigMaps that each want a Secret.
func ten(t testing.TB, c host.Controller, seed uint64, faults map[string]int) *trial.Trial {
	w := trial.New(trial.Options{Choices: sim.NewSeed(seed)})
	for i := range 10 {
		create(t, w, configMap(fmt.Sprint("m", i)))
	}
	if err := w.Faults(faults); err != nil {
		t.Fatal(err)
	}
	w.Start("keeper", c)
	if how := w.Settle(trial.Limits{Writes: 10_000, Steps: 100_000}); !how.Settled {
		t.Fatalf("seed %d: not settled after %d steps", seed, how.Steps)
	}
	if broken := w.Broken(); broken != nil {
		t.Fatalf("seed %d: %v", seed, broken)
	}
	if n := w.Server.Len(w.Server.KindNamed("secret")); n != 10 {
		t.Errorf("seed %d: %d secrets", seed, n)
	}
	return w
}

// Two runs of a whole manager under one schedule are equal, also with faults.
func TestWholeManagerIsOneRun(t *testing.T) {
	c := whole(cache.Options{NewInformer: bubble.NewInformer}, setUpKeeper)
	for seed := range uint64(20) {
		var first uint64
		for i := range 2 {
			w := ten(t, c, seed, map[string]int{"crash": 1, "relist": 1, "conflict": 1})
			if h := w.World.Hash(); i == 0 {
				first = h
			} else if h != first {
				t.Errorf("seed %d: two runs differ", seed)
			}
			w.Stop()
		}
	}
}

// BenchmarkManager runs a whole manager in a world of ten objects until it settles.
func BenchmarkManager(b *testing.B) {
	c, steps := whole(cache.Options{NewInformer: bubble.NewInformer}, setUpKeeper), 0
	for i := 0; b.Loop(); i++ {
		w := ten(b, c, uint64(i), nil)
		steps += w.World.Steps()
		w.Stop()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}
