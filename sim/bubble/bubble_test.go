package bubble_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// greeter is a program as anybody writes one on client-go: for each ConfigMap it keeps a Secret
// of its name, which it owns.
func greeter(ctx context.Context, cfg *rest.Config) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	maps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}
	maps.Informer().AddEventHandler(handler)
	secrets.Informer().AddEventHandler(handler)
	mapLister, secretLister := maps.Lister(), secrets.Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	sync := func(key string) error {
		ns, name, _ := cache.SplitMetaNamespaceKey(key)
		owner, err := mapLister.ConfigMaps(ns).Get(name)
		if apierrors.IsNotFound(err) || err == nil && owner.DeletionTimestamp != nil {
			return nil
		}
		if _, err := secretLister.Secrets(ns).Get(name); err == nil {
			return nil
		}
		ref := metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns,
			OwnerReferences: []metav1.OwnerReference{*ref}}}
		_, err = client.CoreV1().Secrets(ns).Create(ctx, secret, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	go func() {
		<-ctx.Done()
		queue.ShutDown()
	}()
	for {
		key, quit := queue.Get()
		if quit {
			return ctx.Err()
		}
		if err := sync(key); err != nil {
			queue.AddRateLimited(key)
		} else {
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

func start(t testing.TB, choices sim.Choices, faults map[string]int) *trial.Trial {
	w := trial.New(trial.Options{})
	kind := w.Server.KindNamed("cm")
	for _, name := range []string{"a", "b", "c"} {
		owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: kind, Namespace: "default",
			Object: owner}); err != nil {
			t.Fatal(err)
		}
	}
	w.World.SetChoices(choices)
	if err := w.Faults(faults); err != nil {
		t.Fatal(err)
	}
	w.Start("greeter", bubble.Controller(host.Controller{Name: "greeter"}, greeter))
	return w
}

func TestWholeProgram(t *testing.T) {
	w := start(t, sim.Zero{}, nil)
	defer w.Stop()
	s := w.Settle(trial.Limits{})
	if !s.Settled || w.Broken() != nil {
		t.Fatalf("%+v %v", s, w.Broken())
	}
	if n := w.Server.Len(w.Server.KindNamed("secret")); n != 3 {
		t.Fatalf("%d secrets", n)
	}
}

func TestSeeds(t *testing.T) {
	began := time.Now()
	steps := 0
	for seed := range uint64(100) {
		var first uint64
		for i := range 2 {
			w := start(t, sim.NewSeed(seed), map[string]int{"crash": 1, "lost": 1, "relist": 1, "stale": 1, "error": 1})
			s := w.Settle(trial.Limits{})
			if !s.Settled || w.Broken() != nil {
				t.Errorf("seed %d: %+v %v", seed, s, w.Broken())
			}
			if n := w.Server.Len(w.Server.KindNamed("secret")); n != 3 {
				t.Errorf("seed %d: %d secrets", seed, n)
			}
			steps += s.Steps
			if h := w.World.Hash(); i == 0 {
				first = h
			} else if h != first {
				t.Errorf("seed %d: %x, then %x", seed, first, h)
			}
			w.Stop()
		}
	}
	t.Logf("%d steps, %.0f a second", steps, float64(steps)/time.Since(began).Seconds())
}

// What a program asks and withdraws in one breath nobody can execute any more.
func TestWithdrawnAtOnce(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	var failed error
	hasty := func(ctx context.Context, cfg *rest.Config) error {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		short, cancel := context.WithCancel(ctx)
		var asks sync.WaitGroup
		asks.Go(func() {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
			_, failed = client.CoreV1().Secrets("default").Create(short, s, metav1.CreateOptions{})
		})
		runtime.Gosched() // it asks
		cancel()
		asks.Wait()
		<-ctx.Done()
		return nil
	}
	w.Start("hasty", bubble.Controller(host.Controller{Name: "hasty"}, hasty))
	if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
		t.Errorf("%+v %v", s, w.Broken())
	}
	if n := w.Server.Len(w.Server.KindNamed("secret")); n != 0 || !errors.Is(failed, context.Canceled) {
		t.Errorf("%d secrets; it was told %v", n, failed)
	}
}
