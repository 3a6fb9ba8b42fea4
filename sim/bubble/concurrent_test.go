package bubble_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

// syncing is a controller of ConfigMaps that may start goroutines.
func syncing(sync func(ctx context.Context, env *host.Env, key string) error) host.Controller {
	return bubble.Concurrent(host.Controller{Name: "crew", For: configMaps, Owns: []schema.GroupVersionKind{secrets},
		Routes: []host.Route{{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(*corev1.ConfigMap).Name)
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error { return sync(ctx, env, key) })
		}})
}

func secret(owner *corev1.ConfigMap, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, configMaps)}}}
}

// batches makes four Secrets of each ConfigMap in batches of one, two and one, each batch at
// one time, reads what it made, and says in the end who was answered last.
func batches(ctx context.Context, env *host.Env, key string) error {
	obj, ok, err := env.Informer(configMaps).GetIndexer().GetByKey(key)
	if !ok || err != nil {
		return err
	}
	owner := obj.(*corev1.ConfigMap)
	var mu sync.Mutex
	var failed []error
	last := ""
	for from, n := 0, 1; from < 4; from, n = from+n, min(2*n, 4-from-n) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				name := fmt.Sprintf("%s-%d", owner.Name, from+i)
				if _, have, _ := env.Informer(secrets).GetIndexer().GetByKey("default/" + name); have {
					return
				}
				_, err := env.Client.Create(ctx, secret(owner, name))
				mu.Lock()
				defer mu.Unlock()
				if err != nil && !apierrors.IsAlreadyExists(err) {
					failed = append(failed, err)
				}
				last = name
			})
		}
		all.Wait()
		if len(failed) > 0 {
			return errors.Join(failed...)
		}
	}
	if last == "" || owner.Annotations["last"] != "" {
		return nil
	}
	owner = owner.DeepCopy()
	owner.Annotations = map[string]string{"last": last}
	_, err = env.Client.Update(ctx, owner)
	return err
}

// crewed starts a controller in a world of some ConfigMaps.
func crewed(t testing.TB, c host.Controller, choices sim.Choices, faults map[string]int, names ...string) *trial.Trial {
	t.Helper()
	w := trial.New(trial.Options{})
	for _, name := range names {
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed("cm"),
			Namespace: "default", Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name,
				Namespace: "default"}}}); err != nil {
			t.Fatal(err)
		}
	}
	w.World.SetChoices(choices)
	if err := w.Faults(faults); err != nil {
		t.Fatal(err)
	}
	w.Start(c.Name, c)
	return w
}

var faultsOfCrews = map[string]int{"crash": 1, "lost": 1, "error": 1, "relist": 1, "conflict": 1}

// hashes runs seeds and returns the hash of each run; ends are the Secrets' owners' last.
func hashes(t testing.TB, seeds uint64) (all []uint64, ends map[string]int) {
	ends = map[string]int{}
	for seed := range seeds {
		w := crewed(t, syncing(batches), sim.NewSeed(seed), faultsOfCrews, "a", "b")
		s := w.Settle(trial.Limits{})
		if !s.Settled || w.Broken() != nil {
			t.Fatalf("seed %d: %+v %v", seed, s, w.Broken())
		}
		if n := w.Server.Len(w.Server.KindNamed("secret")); n != 8 {
			t.Fatalf("seed %d: %d secrets", seed, n)
		}
		w.Server.Each(w.Server.KindNamed("cm"), func(o runtime.Object) bool {
			ends[o.(*corev1.ConfigMap).Annotations["last"]]++
			return true
		})
		all = append(all, w.World.Hash())
		w.Stop()
	}
	return all, ends
}

// What goroutines of a sync ask is pending at one time, in the order of what it is.
func TestConcurrentRequestsArePending(t *testing.T) {
	w := crewed(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
		var all sync.WaitGroup
		for _, name := range []string{"z", "c", "m"} {
			all.Go(func() {
				_, err := env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
					Name: name}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return nil
	}), sim.Zero{}, nil, "a")
	defer w.Stop()
	most := []string{}
	w.Settle(trial.Limits{Stop: func() bool {
		var now []string
		for _, a := range w.World.Enabled() {
			if a.Class == sim.Execute {
				now = append(now, a.Detail)
			}
		}
		if len(now) > len(most) {
			most = now
		}
		return false
	}})
	want := []string{"create secrets/ default/c", "create secrets/ default/m", "create secrets/ default/z"}
	if !slices.Equal(most, want) {
		t.Errorf("pending at one time: %q, want %q", most, want)
	}
}

// Those that ask the same are in the order in which they were started, whoever runs first.
func TestEqualRequestsAreInTheOrderOfTheirGoroutines(t *testing.T) {
	for range 20 {
		var mu sync.Mutex
		made := make([]string, 5)
		w := crewed(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
			var all sync.WaitGroup
			for i := range made {
				all.Go(func() {
					obj, err := env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
						Namespace: "default", GenerateName: "s-"}})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					made[i] = obj.(*corev1.Secret).Name
				})
			}
			all.Wait()
			return nil
		}), sim.Zero{}, nil, "a")
		w.Settle(trial.Limits{})
		w.Stop()
		if !slices.IsSorted(made) || made[0] == "" {
			t.Fatalf("the goroutines have made %q", made)
		}
	}
}

// A seed is one run: twice in this process, and in another.
func TestConcurrentSeeds(t *testing.T) {
	const seeds = 200
	first, ends := hashes(t, seeds)
	if os.Getenv("CONCURRENT_SEEDS") != "" {
		fmt.Println("hashes", first)
		return
	}
	if again, _ := hashes(t, seeds); !slices.Equal(first, again) {
		t.Errorf("two rounds differ:\n%x\n%x", first, again)
	}
	distinct := slices.Clone(first)
	slices.Sort(distinct)
	if n := len(slices.Compact(distinct)); n < seeds*9/10 {
		t.Errorf("%d seeds are %d runs", seeds, n)
	}
	for i := range 4 {
		if ends[fmt.Sprintf("a-%d", i)] == 0 && i > 2 {
			t.Errorf("no schedule answers a-%d last: %v", i, ends)
		}
	}
	if ends["a-1"]+ends["a-2"]+ends["a-3"] == 0 {
		t.Errorf("ends: %v", ends)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestConcurrentSeeds$")
	cmd.Env = append(os.Environ(), "CONCURRENT_SEEDS=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintln("hashes", first)) {
		t.Errorf("another process has other runs: %v\n%.2000s\nhere: %v", err, out, first)
	}
}

// broken is what a controller is found guilty of under the default schedule.
func broken(t *testing.T, sync func(ctx context.Context, env *host.Env, key string) error) string {
	t.Helper()
	w := crewed(t, syncing(sync), sim.Zero{}, nil, "a")
	began := time.Now()
	w.Settle(trial.Limits{Stop: func() bool { return w.Broken() != nil }})
	w.Stop()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	b := w.Broken()
	if b == nil {
		t.Fatal("nothing is broken")
	}
	return b.Law.Name + ": " + b.Text
}

func TestSyncReturnsWhileAGoroutineAsks(t *testing.T) {
	text := broken(t, func(ctx context.Context, env *host.Env, key string) error {
		done := make(chan struct{}, 2)
		for _, name := range []string{"x", "y"} {
			go func() {
				env.Client.Get(ctx, secrets, "default", name)
				done <- struct{}{}
			}()
		}
		<-done // and not the other
		return nil
	})
	for _, want := range []string{"never-panic", "a goroutine that it started runs on", "get secrets/ default/y",
		"bubble/concurrent_test.go:"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}

func TestSyncInWhichNothingCanHappen(t *testing.T) {
	text := broken(t, func(ctx context.Context, env *host.Env, key string) error {
		results := make(chan error)
		go func() {
			if _, err := env.Client.Get(ctx, configMaps, "default", "a"); err != nil {
				results <- err
			}
		}()
		return <-results // that it is nil is told to nobody
	})
	for _, want := range []string{"never-panic", "nothing can happen any more", "chan receive",
		"bubble/concurrent_test.go:"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}

// A goroutine that sleeps is woken by the world's clock.
func TestSyncSleeps(t *testing.T) {
	var woke []time.Duration
	w := crewed(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
		began := time.Now()
		for range 3 {
			time.Sleep(time.Minute)
			if _, err := env.Client.Get(ctx, configMaps, "default", "a"); err != nil {
				return err
			}
		}
		woke = append(woke, time.Since(began), time.Since(sim.Epoch)-env.Now().Sub(sim.Epoch))
		return nil
	}), sim.Zero{}, nil, "a")
	defer w.Stop()
	if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
		t.Fatalf("%+v %v", s, w.Broken())
	}
	if !slices.Equal(woke, []time.Duration{3 * time.Minute, 0}) {
		t.Errorf("%v", woke)
	}
}

// What goroutines hold of a process that was killed ends with it, and its mistakes are not told.
func TestSyncIsKilled(t *testing.T) {
	c := syncing(func(ctx context.Context, env *host.Env, key string) error {
		obj, _, _ := env.Informer(configMaps).GetIndexer().GetByKey(key)
		owner, results := obj.(*corev1.ConfigMap), make(chan error, 2)
		for _, name := range []string{"x", "y"} {
			go func() {
				_, err := env.Client.Create(ctx, secret(owner, owner.Name+name))
				if apierrors.IsAlreadyExists(err) {
					err = nil
				}
				results <- err
			}()
		}
		return errors.Join(<-results, <-results)
	})
	for seed := range uint64(50) {
		w := crewed(t, c, sim.NewSeed(seed), map[string]int{"crash": 3}, "a", "b")
		if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
			t.Fatalf("seed %d: %+v %v", seed, s, w.Broken())
		}
		w.Stop()
	}
}

// A request whose context is over is not sent, and one that is withdrawn in the same breath is
// not one that a goroutine still waits for.
func TestRequestsOfAContextThatIsOver(t *testing.T) {
	var failed []error
	w := crewed(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
		ctx, cancel := context.WithCancel(ctx)
		asks := func() {
			_, err := env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
				Name: "x"}})
			failed = append(failed, err)
		}
		var all sync.WaitGroup
		all.Go(asks)
		goruntime.Gosched() // it asks
		cancel()
		all.Wait()
		asks()
		return nil
	}), sim.Zero{}, nil, "a")
	defer w.Stop()
	if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
		t.Errorf("%+v %v", s, w.Broken())
	}
	for _, err := range failed {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("told %v", err)
		}
	}
	if n := w.Server.Len(w.Server.KindNamed("secret")); n != 0 || len(failed) != 2 {
		t.Errorf("%d secrets, %v", n, failed)
	}
}

// What a goroutine asks when its sync has long returned is named, though another sync goes on,
// and whatever its context says.
func TestGoroutineOutlivesItsSync(t *testing.T) {
	for name, of := range map[string]func(context.Context) context.Context{
		"the sync's context": func(ctx context.Context) context.Context { return ctx },
		"none":               func(context.Context) context.Context { return context.Background() },
	} {
		t.Run(name, func(t *testing.T) {
			for _, names := range [][]string{{"a"}, {"a", "b"}} {
				told := misused(t, func(ctx context.Context, env *host.Env, key string) error {
					if key == "default/b" {
						if name == "none" {
							return nil // with one that goes on nobody can tell whose it is
						}
						time.Sleep(time.Minute)
						return nil
					}
					go func() {
						time.Sleep(time.Second)
						env.Client.Get(of(ctx), secrets, "default", "x")
					}()
					return nil
				}, names...)
				for _, want := range []string{"outlives the sync", "bubble/concurrent_test.go:"} {
					if !strings.Contains(told, want) {
						t.Errorf("of %q: %q, want %q in it", names, told, want)
					}
				}
			}
		})
	}
}

// misused is what is told of a controller that cannot go on.
func misused(t *testing.T, sync func(ctx context.Context, env *host.Env, key string) error, names ...string) string {
	t.Helper()
	w := crewed(t, syncing(sync), sim.Zero{}, nil, names...)
	told := func() (told any) {
		defer func() { told = recover() }()
		w.Settle(trial.Limits{})
		w.Stop() // goroutines are given time to end
		return nil
	}()
	return fmt.Sprint(told)
}

// A goroutine that sleeps when its process is killed is told so when it wakes, and nobody else is.
func TestSleeperIsKilled(t *testing.T) {
	c := syncing(func(ctx context.Context, env *host.Env, key string) error {
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				env.Client.Get(ctx, configMaps, "default", "a")
			})
		}
		all.Wait()
		return nil
	})
	for seed := range uint64(50) {
		w := crewed(t, c, sim.NewSeed(seed), map[string]int{"crash": 3}, "a", "b")
		if s := w.Settle(trial.Limits{}); !s.Settled || w.Broken() != nil {
			t.Fatalf("seed %d: %+v %v", seed, s, w.Broken())
		}
		w.Stop()
	}
}

// BenchmarkConcurrent is a sync that starts goroutines, beside the stepped host's.
func BenchmarkConcurrent(b *testing.B) {
	steps := 0
	for i := 0; b.Loop(); i++ {
		w := crewed(b, syncing(batches), sim.NewSeed(uint64(i)), nil, "a", "b", "c", "d", "e")
		w.Settle(trial.Limits{})
		steps += w.World.Steps()
		w.Stop()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}
