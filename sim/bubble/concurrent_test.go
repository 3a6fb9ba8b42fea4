package bubble_test

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

// syncing returns a controller of ConfigMaps whose Sync may start goroutines.
func syncing(sync func(ctx context.Context, env *host.Env, key string) error) host.Controller {
	return bubble.Concurrent(host.Controller{Name: "second", For: configMaps, Owns: []schema.GroupVersionKind{secrets},
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

// batches creates four Secrets for each ConfigMap, in concurrent batches of one, two and one. It then reads them, and
// records which read was answered last.
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

var faultsOfSyncs = map[string]int{"crash": 1, "lost": 1, "error": 1, "relist": 1, "conflict": 1}

// hashes runs the world with each seed, and returns the hash of each run. ends counts how often the read of each Secret
// was answered last.
func hashes(t testing.TB, seeds uint64) (all []uint64, ends map[string]int) {
	ends = map[string]int{}
	for seed := range seeds {
		w := started(t, syncing(batches), sim.NewSeed(seed), faultsOfSyncs, "a", "b")
		settles(t, w)
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

// The requests of all goroutines of a Sync are pending together, in the order of their content.
func TestConcurrentRequestsArePending(t *testing.T) {
	w := started(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
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

// Equal requests are ordered by the start of their goroutines, not by the order in which the goroutines run.
func TestEqualRequestsAreInTheOrderOfTheirGoroutines(t *testing.T) {
	for range 20 {
		var mu sync.Mutex
		made := make([]string, 5)
		w := started(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
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
			t.Fatalf("the goroutines have created %q", made)
		}
	}
}

// A seed always gives the same run, in this Go process and in another.
func TestConcurrentSeeds(t *testing.T) {
	const seeds = 200
	first, ends := hashes(t, seeds)
	if os.Getenv("CONCURRENT_SEEDS") != "" {
		fmt.Println("hashes", first)
		return
	}
	if again, _ := hashes(t, seeds); !slices.Equal(first, again) {
		t.Errorf("two runs differ:\n%x\n%x", first, again)
	}
	distinct := slices.Clone(first)
	slices.Sort(distinct)
	if n := len(slices.Compact(distinct)); n < seeds*9/10 {
		t.Errorf("%d seeds give %d different runs", seeds, n)
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
		t.Errorf("runs in another Go process differ: %v\n%.2000s\nhere: %v", err, out, first)
	}
}

// A Sync that never returns, panics or leaves goroutines violates never-panic. The text contains the line.
func TestSyncThatCannotEndWell(t *testing.T) {
	for name, c := range map[string]struct {
		sync func(ctx context.Context, env *host.Env, key string) error
		want []string
	}{
		"it returns while a goroutine asks": {func(ctx context.Context, env *host.Env, key string) error {
			done := make(chan struct{}, 2)
			for _, name := range []string{"x", "y"} {
				go func() {
					env.Client.Get(ctx, secrets, "default", name)
					done <- struct{}{}
				}()
			}
			<-done // but not for the other goroutine
			return nil
		}, []string{"a goroutine that it started runs on", "get secrets/ default/y"}},
		"nothing can happen any more": {func(ctx context.Context, env *host.Env, key string) error {
			results := make(chan error)
			go func() {
				if _, err := env.Client.Get(ctx, configMaps, "default", "a"); err != nil {
					results <- err
				}
			}()
			return <-results // no result comes without an error
		}, []string{"nothing can happen any more", "chan receive"}},
	} {
		w := started(t, syncing(c.sync), sim.Zero{}, nil, "a")
		began := time.Now()
		w.Settle(trial.Limits{Stop: func() bool { return w.Broken() != nil }})
		w.Stop()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		b := w.Broken()
		if b == nil {
			t.Fatalf("%s: no violation", name)
		}
		for _, want := range append(c.want, "never-panic", "bubble/concurrent_test.go:") {
			if text := b.Law.Name + ": " + b.Text; !strings.Contains(text, want) {
				t.Errorf("%s: %s\nwant %s", name, text, want)
			}
		}
	}
}

// Goroutines that sleep wake at the world's time.
func TestSyncSleeps(t *testing.T) {
	var woke []time.Duration
	w := started(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
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
	settles(t, w)
	if !slices.Equal(woke, []time.Duration{3 * time.Minute, 0}) {
		t.Errorf("%v", woke)
	}
}

// Sleeping goroutines of a killed process end with the process. Their late requests are not reported.
func TestSyncIsKilled(t *testing.T) {
	sleepers := syncing(func(ctx context.Context, env *host.Env, key string) error {
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
		w := started(t, sleepers, sim.NewSeed(seed), map[string]int{"crash": 3}, "a", "b")
		settles(t, w)
		w.Stop()
	}
}

// A request whose context has ended is not sent. A request that is canceled before its goroutine waits is dropped.
func TestRequestsOfAContextThatIsOver(t *testing.T) {
	var failed []error
	w := started(t, syncing(func(ctx context.Context, env *host.Env, key string) error {
		ctx, cancel := context.WithCancel(ctx)
		asks := func() {
			_, err := env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
				Name: "x"}})
			failed = append(failed, err)
		}
		var all sync.WaitGroup
		all.Go(asks)
		goruntime.Gosched() // the goroutine sends its request
		cancel()
		all.Wait()
		asks()
		return nil
	}), sim.Zero{}, nil, "a")
	defer w.Stop()
	settles(t, w)
	for _, err := range failed {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if n := w.Server.Len(w.Server.KindNamed("secret")); n != 0 || len(failed) != 2 {
		t.Errorf("%d secrets, %v", n, failed)
	}
}

// A request of a goroutine that outlives its Sync is reported, even during another Sync and with any context.
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
							return nil // with another current Sync, the owner of the goroutine is unknown
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

// misused returns the report about a controller that cannot be hosted.
func misused(t *testing.T, sync func(ctx context.Context, env *host.Env, key string) error, names ...string) string {
	t.Helper()
	w := started(t, syncing(sync), sim.Zero{}, nil, names...)
	told := func() (told any) {
		defer func() { told = recover() }()
		w.Settle(trial.Limits{})
		w.Stop() // the goroutines get time to end
		return nil
	}()
	return fmt.Sprint(told)
}

// drawing creates one Secret for each ConfigMap. Its labels are random numbers of the shared source of Kubernetes and of
// math/rand. Under the overlay, they are also random numbers of other sources, and the order of a map at two reconciles.
func drawing(overlaid bool) func(ctx context.Context, env *host.Env, key string) error {
	var order [2]string
	reconciles := 0
	return func(ctx context.Context, env *host.Env, key string) error {
		if reconciles++; reconciles > 2 {
			return nil
		}
		order[reconciles-1] = ""
		for n := range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "g": true} {
			order[reconciles-1] += n
		}
		if reconciles == 1 {
			return errors.New("once more")
		}
		owner, _, _ := env.Informer(configMaps).GetIndexer().GetByKey(key)
		s := secret(owner.(*corev1.ConfigMap), "x")
		s.Labels = map[string]string{"kubernetes": utilrand.String(5), "math": strconv.Itoa(rand.Int())}
		if overlaid {
			var drawn [8]byte
			_, _ = cryptorand.Read(drawn[:])
			s.Labels["crypto"], s.Labels["package"] = hex.EncodeToString(drawn[:]), strconv.Itoa(ofPackage.Int())
			s.Labels["first"], s.Labels["second"] = order[0], order[1]
		}
		_, err := env.Client.Create(ctx, s)
		return err
	}
}

var ofPackage = rand.New(rand.NewSource(time.Now().UnixNano()))

// Random numbers of shared sources are the same in each run. Under the overlay so is the order of maps, which differs
// between two reconciles.
func TestRandomNumbers(t *testing.T) {
	is := overlaid(t)
	var all []map[string]string
	for range 4 {
		w := started(t, syncing(drawing(is)), sim.Zero{}, nil, "a")
		settles(t, w)
		w.Server.Each(w.Server.KindNamed("secret"), func(o runtime.Object) bool {
			all = append(all, o.(*corev1.Secret).Labels)
			return true
		})
		w.Stop()
	}
	for _, labels := range all[1:] {
		if !maps.Equal(labels, all[0]) {
			t.Errorf("runs differ: %v, then %v", all[0], labels)
		}
	}
	if is && all[0]["first"] == all[0]["second"] {
		t.Errorf("the order of a map is %s at two reconciles", all[0]["first"])
	}
}
