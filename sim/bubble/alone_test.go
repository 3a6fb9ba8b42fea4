package bubble_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// crowd is a program in which one event wakes many goroutines. Each goroutine allocates garbage, and creates a Secret.
// The Secret's name is the goroutine's position in the order.
func crowd(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	var mu sync.Mutex
	came, sink := 0, [][]byte(nil)
	wake := make(chan struct{})
	for i := range 8 {
		go func() {
			<-wake
			var garbage [][]byte
			for j := range 2000 {
				garbage = append(garbage, make([]byte, 64+j%512))
			}
			mu.Lock()
			came++
			name := fmt.Sprintf("%d-%d", came, i)
			sink = garbage
			mu.Unlock()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
			_, _ = client.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{})
		}()
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	var once sync.Once
	factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { once.Do(func() { close(wake) }) }})
	factory.Start(ctx.Done())
	<-ctx.Done()
	_ = sink
	return ctx.Err()
}

// The goroutines that one event wakes run in the same order in every run, with any number of processors. The settings
// of the Go process are restored afterwards. A run may differ if the machine stopped it for ten milliseconds. On four
// processors at once, almost all runs would differ.
func TestOrderOfGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	runs := map[uint64]int{}
	for range 100 {
		w := started(t, program("crowd", crowd), sim.Zero{}, nil, "a")
		settles(t, w)
		if n := w.Server.Len(w.Server.KindNamed("secret")); n != 8 {
			t.Fatalf("%d secrets", n)
		}
		runs[w.World.Hash()]++
		w.Stop()
	}
	if most := slices.Max(slices.Collect(maps.Values(runs))); most < 50 {
		t.Errorf("only %d of 100 runs are the same: %v", most, runs)
	}
	if procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(10); procs != 4 || percent != 10 {
		t.Errorf("afterwards there are %d processors and GOGC=%d, want 4 and 10", procs, percent)
	}
}

// spawning are choices that start a goroutine before each action.
type spawning struct {
	sim.Zero
	started, ran *atomic.Int64
}

func (s spawning) Next(*sim.World, []sim.Action) int {
	s.started.Add(1)
	go s.ran.Add(1)
	return 0
}

// A command has its own time slice. The Go runtime preempts a goroutine when its slice of ten milliseconds is used up, and
// a goroutine that another one wakes gets the rest of that one's slice. A new slice begins when other goroutines have had
// their turn.
func TestCommandHasItsOwnTimeSlice(t *testing.T) {
	s := spawning{started: new(atomic.Int64), ran: new(atomic.Int64)}
	late := 0
	run := func(ctx context.Context, cfg *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
		for i := range 100 {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("x", i)}}
			_, _ = maps.Create(ctx, m, metav1.CreateOptions{})
			if s.started.Load() != s.ran.Load() {
				late++
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}
	w := started(t, program("ticks", run), s, nil)
	settles(t, w)
	w.Stop()
	if late > 20 { // at one of 61 switches, the Go runtime takes a goroutine that has yielded first
		t.Errorf("%d of 100 commands began before another goroutine had its turn", late)
	}
}

// When a program is killed, its context ends before its requests fail. Requests that it sends afterwards fail.
func TestContextEndsBeforeRequestsFail(t *testing.T) {
	background := func(context.Context) context.Context { return context.Background() }
	for name, by := range map[string]func(context.Context) context.Context{
		"a request that does not go by the context": background,
		"one that does": func(ctx context.Context) context.Context { return ctx },
	} {
		t.Run(name, func(t *testing.T) { endsFirst(t, by) })
	}
}

func endsFirst(t *testing.T, by func(context.Context) context.Context) {
	var stopped, early bool
	var late error
	run := func(ctx context.Context, cfg *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
		create := func(name string) error {
			_, err := maps.Create(by(ctx), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
				metav1.CreateOptions{})
			return err
		}
		heard := ctx.Done()
		for range 20 {
			from, to := heard, make(chan struct{})
			go func() { <-from; runtime.Gosched(); close(to) }()
			heard = to
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			<-heard
			stopped = true
			late = create("late")
		}()
		for create("x") == nil {
			time.Sleep(time.Second)
		}
		early = !stopped
		<-done
		return nil
	}
	w := trial.New(trial.Options{})
	w.Start("a", program("a", run))
	w.Cluster.Process("a").Crash(false)
	w.Stop()
	if early || !stopped {
		t.Errorf("the request failed before the context ended (%v, %v)", early, stopped)
	}
	if n := w.Server.Len(w.Server.KindNamed("cm")); late == nil || n != 0 {
		t.Errorf("a request after the end was answered with %v; there are %d", late, n)
	}
}

// busy writes to each ConfigMap of an event, which causes the next event. It stops at an event of a Secret.
func busy(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
	maps, err := client.ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer maps.Stop()
	secrets, err := client.Secrets("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer secrets.Stop()
	for {
		select {
		case e, open := <-maps.ResultChan():
			if !open {
				return ctx.Err()
			}
			c := e.Object.(*corev1.ConfigMap)
			c.Data = map[string]string{"seen": c.ResourceVersion}
			if _, err := client.ConfigMaps("default").Update(ctx, c, metav1.UpdateOptions{}); err != nil {
				return err
			}
		case <-secrets.ResultChan():
			<-ctx.Done()
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A program that causes its own events also receives other events, because the default schedule delivers the oldest
// event first.
func TestOldestIsNotifiedFirst(t *testing.T) {
	w := started(t, program("busy", busy), sim.Zero{}, nil)
	defer w.Stop()
	settles(t, w)
	createMaps(t, w, "a")
	create(t, w, "secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}})
	if s := w.Settle(trial.Limits{Steps: 1000}); !s.Settled {
		t.Errorf("the event of the Secret was not delivered: %+v", s)
	}
}

// fills lists ConfigMaps four times, like caches, and then creates four Secrets.
func fills(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
	for range 4 {
		if _, err := client.ConfigMaps("default").List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	for range 4 {
		_, _ = client.Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}},
			metav1.CreateOptions{})
	}
	<-ctx.Done()
	return ctx.Err()
}

// The fault "crash" does not hit a program that is still filling its caches. It hits a program that writes.
func TestNoCrashWhileItFills(t *testing.T) {
	crashes := 0
	for seed := range uint64(100) {
		w := trial.New(trial.Options{Choices: sim.NewSeed(seed)})
		if err := w.Faults(map[string]int{"crash": 1, "stale": 1}); err != nil {
			t.Fatal(err)
		}
		w.Start("fills", program("fills", fills))
		w.Settle(trial.Limits{})
		lists := 0
		for i := range w.World.History.Records {
			r := &w.World.History.Records[i]
			switch {
			case r.Op == sim.Read:
				lists++
			case r.Op == sim.FaultHit && r.Verb == "crash":
				if crashes++; lists < 4 {
					t.Errorf("seed %d: a crash after %d lists", seed, lists)
				}
			case r.Op == sim.FaultHit && r.Verb == "restart":
				lists = 0
			}
		}
		w.Stop()
	}
	if crashes < 50 {
		t.Errorf("%d crashes in 100 schedules", crashes)
	}
}
