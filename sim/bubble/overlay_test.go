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
	client := kubernetes.NewForConfigOrDie(cfg)
	factory := informers.NewSharedInformerFactory(client, 0)
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
	run := func(seed uint64) uint64 {
		w := started(t, program("copier", copier), sim.NewSeed(seed), map[string]int{"crash": 1, "lost": 1, "relist": 1,
			"stale": 1}, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
		defer w.Stop()
		w.Settle(trial.Limits{})
		if n := w.Server.Len(w.Server.KindNamed("secret")); n != 10 {
			t.Errorf("seed %d: %d secrets", seed, n)
		}
		return w.World.Hash()
	}
	run(0) // the first world also initializes the Go process
	for seed := range uint64(50) {
		if first, second := run(seed), run(seed); first != second {
			t.Errorf("seed %d: %x, then %x", seed, first, second)
		}
	}
}
