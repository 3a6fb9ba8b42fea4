package bubble_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// greeter is an ordinary client-go program. For each ConfigMap it creates an owned Secret of the same name.
func greeter(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
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

// program returns a controller that hosts a program.
func program(name string, run func(context.Context, *rest.Config) error) host.Controller {
	return bubble.Controller(host.Controller{Name: name}, run)
}

// waits is a program that waits for the end of its context.
func waits(ctx context.Context, _ *rest.Config) error {
	<-ctx.Done()
	return ctx.Err()
}

// createMaps creates ConfigMaps.
func createMaps(t testing.TB, w *trial.Trial, names ...string) {
	t.Helper()
	for _, name := range names {
		create(t, w, "cm", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}})
	}
}

func create(t testing.TB, w *trial.Trial, kind string, obj runtime.Object) {
	t.Helper()
	r := &fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed(kind), Namespace: "default", Object: obj}
	if _, err := w.Request(r); err != nil {
		t.Fatal(err)
	}
}

// started returns a world with ConfigMaps and a running controller.
func started(t testing.TB, c host.Controller, choices sim.Choices, faults map[string]int, names ...string) *trial.Trial {
	t.Helper()
	w := trial.New(trial.Options{})
	createMaps(t, w, names...)
	w.World.SetChoices(choices)
	if err := w.Faults(faults); err != nil {
		t.Fatal(err)
	}
	w.Start(c.Name, c)
	return w
}

// settles settles a world, and expects no violation.
func settles(t testing.TB, w *trial.Trial) trial.Settling {
	t.Helper()
	s := w.Settle(trial.Limits{})
	if !s.Settled || w.Broken() != nil {
		t.Fatalf("%+v %v", s, w.Broken())
	}
	return s
}

func TestSeeds(t *testing.T) {
	began := time.Now()
	steps := 0
	for seed := range uint64(100) {
		var first uint64
		for i := range 2 {
			w := started(t, program("greeter", greeter), sim.NewSeed(seed), map[string]int{"crash": 1, "lost": 1, "relist": 1,
				"stale": 1, "error": 1}, "a", "b", "c")
			s := settles(t, w)
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

// readsBoth reads Events in two API groups concurrently, in the order of a map. It records which answer came first.
func readsBoth(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	answers := make(chan string, 2)
	for group, read := range map[string]func() error{
		"core": func() error {
			_, err := client.CoreV1().Events("").List(ctx, metav1.ListOptions{})
			return err
		},
		"events.k8s.io": func() error {
			_, err := client.EventsV1().Events("").List(ctx, metav1.ListOptions{})
			return err
		},
	} {
		go func() {
			if read() == nil {
				answers <- group
			}
		}()
	}
	select {
	case first := <-answers:
		_, _ = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: first, Namespace: "default"}}, metav1.CreateOptions{})
	case <-ctx.Done():
	}
	<-ctx.Done()
	return ctx.Err()
}

// Two requests for different versions of one kind are distinct. The schedule decides which request is answered first,
// even if the other request was sent first.
func TestTwoVersionsAreTwoRequests(t *testing.T) {
	for seed := range uint64(20) {
		runs := map[uint64]bool{}
		for range 10 {
			w := trial.New(trial.Options{})
			w.World.SetChoices(sim.NewSeed(seed))
			w.Start("both", program("both", readsBoth))
			if s := w.Settle(trial.Limits{}); !s.Settled {
				t.Fatalf("%+v", s)
			}
			runs[w.World.Hash()] = true
			w.Stop()
		}
		if len(runs) != 1 {
			t.Errorf("seed %d: ten runs of one schedule have %d different hashes", seed, len(runs))
		}
	}
}

// A fault does not hit a request whose context or program has ended.
func TestNoFaultHitsAClosedConnection(t *testing.T) {
	for seed := range uint64(50) {
		w := trial.New(trial.Options{})
		w.World.SetChoices(sim.NewSeed(seed))
		if err := w.Faults(map[string]int{"error": 3, "lost": 3}); err != nil {
			t.Fatal(err)
		}
		maps, life, left := w.Server.KindNamed("cm"), 0, 0
		w.Start("a", program("a", func(ctx context.Context, cfg *rest.Config) error {
			if now := w.Server.Len(maps); now != left {
				t.Errorf("seed %d: %d exist, but %d existed when the program had returned", seed, now, left)
			}
			if life++; life > 3 {
				return waits(ctx, cfg)
			}
			client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
			early, cancel := context.WithCancel(ctx)
			go func() { _, _ = client.Nodes().List(early, metav1.ListOptions{}) }()
			go func() {
				_, _ = client.ConfigMaps("default").Create(context.Background(),
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}}, metav1.CreateOptions{})
			}()
			_, _ = client.Pods("default").List(ctx, metav1.ListOptions{})
			cancel()
			if seed%2 == 0 {
				time.Sleep(time.Second)
			}
			left = w.Server.Len(maps)
			return nil
		}))
		w.Settle(trial.Limits{Steps: 100})
		w.Stop()
	}
}
