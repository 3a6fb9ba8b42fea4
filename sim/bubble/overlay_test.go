package bubble_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/trial"
)

// overlaid reports whether this test was built with the overlay, which gives maps in a bubble a fixed order.
func overlaid(t *testing.T) bool {
	order := func() (keys []int) {
		synctest.Test(t, func(*testing.T) {
			m := map[int]bool{}
			for i := range 100 {
				m[i] = true
			}
			keys = slices.Collect(maps.Keys(m))
		})
		return keys
	}
	first := order()
	return slices.Equal(first, order()) && slices.Equal(first, order())
}

// copier creates a Secret for each ConfigMap. It reads its cache in map order.
func copier(ctx context.Context, cfg *rest.Config) error {
	return copying(ctx, cfg, func(client kubernetes.Interface) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactory(client, 0)
	})
}

func copying(ctx context.Context, cfg *rest.Config,
	watching func(kubernetes.Interface) informers.SharedInformerFactory) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	factory := watching(client)
	configs := factory.Core().V1().ConfigMaps()
	events := make(chan struct{}, 1)
	event := func() {
		select {
		case events <- struct{}{}:
		default:
		}
	}
	if _, err := configs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { event() }}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-events:
		}
		owners, err := configs.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		for _, owner := range owners {
			ref := metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: owner.Name, OwnerReferences: []metav1.OwnerReference{*ref}}}
			_, err := client.CoreV1().Secrets(owner.Namespace).Create(ctx, secret, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				event()
			}
		}
	}
}

// Under the overlay, two runs are equal even with client-go's own informers.
func TestOrdinaryInformersUnderTheOverlay(t *testing.T) {
	if !overlaid(t) {
		t.Skip("built without the overlay: run threelaws test ./sim/bubble")
	}
	copied(t, copier, 0) // the first world also initializes the Go process
	for seed := range uint64(50) {
		if first, second := copied(t, copier, seed), copied(t, copier, seed); first != second {
			t.Errorf("seed %d: %x, then %x", seed, first, second)
		}
	}
}

// copied runs a copier of ten ConfigMaps with faults, and returns the hash of the run.
func copied(t testing.TB, run func(context.Context, *rest.Config) error, seed uint64) uint64 {
	w := started(t, program("copier", run), sim.NewSeed(seed), map[string]int{"crash": 1, "lost": 1, "relist": 1,
		"stale": 1}, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	defer w.Stop()
	w.Settle(trial.Limits{})
	if n := w.Server.Len(w.Server.KindNamed("secret")); n != 10 {
		t.Errorf("seed %d: %d secrets", seed, n)
	}
	return w.World.Hash()
}

// BenchmarkInformers compares the informers of this package with those of client-go. It reports schedules per second,
// and the share of schedules of which two runs differ. Run it by "go test" and by "threelaws test": only under the
// overlay are runs with client-go's informers repeatable.
func BenchmarkInformers(b *testing.B) {
	for name, watching := range map[string]func(kubernetes.Interface) informers.SharedInformerFactory{
		"bubble": func(c kubernetes.Interface) informers.SharedInformerFactory { return bubble.Informers(c, 0) },
		"client-go": func(c kubernetes.Interface) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactory(c, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			run := func(ctx context.Context, cfg *rest.Config) error { return copying(ctx, cfg, watching) }
			copied(b, run, 0)
			differ, seed := 0, uint64(0)
			for ; b.Loop(); seed++ {
				if copied(b, run, seed) != copied(b, run, seed) {
					differ++
				}
			}
			b.ReportMetric(2*float64(seed)/b.Elapsed().Seconds(), "schedules/s")
			b.ReportMetric(float64(differ)/float64(seed), "differing")
		})
	}
}
