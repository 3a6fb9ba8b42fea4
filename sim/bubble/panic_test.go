package bubble_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// panicked lists the panics in a history, with their processes.
func panicked(w *trial.Trial) (all []string) {
	for i := range w.World.History.Len() {
		r := w.World.History.At(i)
		if why, is := strings.CutPrefix(r.Reason, sim.Panicked); r.Op == sim.FaultHit && is {
			all = append(all, r.Process+": "+why)
		}
	}
	return all
}

// asks panics when its request fails, on a goroutine without the program's context.
func asks(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	go wait.Until(func() {
		if _, err := client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{}); err != nil {
			panic(err)
		}
	}, time.Hour, ctx.Done())
	return waits(ctx, cfg)
}

// If a killed program panics because its requests fail, the panic is not reported. This holds with and without other
// programs in the world.
func TestKilledPrograms(t *testing.T) {
	for _, beside := range []bool{false, true} {
		t.Run(fmt.Sprint("beside another ", beside), func(t *testing.T) {
			w := trial.New(trial.Options{})
			defer w.Stop()
			w.Start("a", program("asks", asks))
			if beside {
				w.Start("b", program("waits", waits))
			}
			w.Cluster.Process("a").Crash(false)
			w.Settle(trial.Limits{Steps: 100})
			if got := panicked(w); got != nil {
				t.Error(got)
			}
		})
	}
}

// With two programs, a panic is attributed to the program that has just started, or received an answer or an event.
func TestOneOfTwoPanics(t *testing.T) {
	ouch := func(any) { panic("ouch") }
	adds := cache.ResourceEventHandlerFuncs{AddFunc: ouch}
	for name, run := range map[string]func(context.Context, kubernetes.Interface){
		"started": func(ctx context.Context, _ kubernetes.Interface) {
			go wait.Until(func() { ouch(nil) }, time.Hour, ctx.Done())
		},
		"answered": func(ctx context.Context, client kubernetes.Interface) {
			go wait.Until(func() {
				_, _ = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
				ouch(nil)
			}, time.Hour, ctx.Done())
		},
		"sent an event": func(ctx context.Context, client kubernetes.Interface) {
			all := bubble.Informers(client, 0)
			_, _ = all.Core().V1().ConfigMaps().Informer().AddEventHandler(adds)
			all.Start(ctx.Done())
		},
		"sent an event of client-go's": func(ctx context.Context, client kubernetes.Interface) {
			all := informers.NewSharedInformerFactory(client, 0)
			_, _ = all.Core().V1().ConfigMaps().Informer().AddEventHandler(adds)
			all.Start(ctx.Done())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := trial.New(trial.Options{})
			defer w.Stop()
			w.Start("b", program("waits", waits))
			w.Start("a", program("panics", func(ctx context.Context, cfg *rest.Config) error {
				run(ctx, kubernetes.NewForConfigOrDie(cfg))
				return waits(ctx, cfg)
			}))
			w.Settle(trial.Limits{Steps: 10})
			createMaps(t, w, "m")
			w.Settle(trial.Limits{Steps: 10})
			if got := panicked(w); len(got) == 0 || slices.ContainsFunc(got, func(s string) bool {
				return !strings.HasPrefix(s, "a: ouch, at bubble/panic_test.go:")
			}) {
				t.Error(got)
			}
		})
	}
}

// A panic of a Sync while time passes is not attributed to a program.
func TestSyncPanicsBesideAProgram(t *testing.T) {
	raised := 0
	c := syncing(func(context.Context, *host.Env, string) error {
		var all sync.WaitGroup
		all.Go(func() {
			defer func() {
				if recover() != nil {
					raised++
				}
			}()
			defer utilruntime.HandleCrash()
			time.Sleep(time.Second)
			panic("ouch")
		})
		all.Wait()
		return nil
	})
	w := started(t, c, sim.Zero{}, nil, "a")
	defer w.Stop()
	w.Start("b", program("waits", waits))
	w.Settle(trial.Limits{})
	if got := panicked(w); got != nil || raised != 1 {
		t.Errorf("%q, raised again %d times, want once", got, raised)
	}
}

// The creation of worlds and the handling of panics do not wait for each other.
func TestPanicsOfManyWorlds(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				w := trial.New(trial.Options{})
				w.Start("p", program("panics", func(ctx context.Context, cfg *rest.Config) error {
					go wait.Until(func() { panic("ouch") }, time.Second, ctx.Done())
					return waits(ctx, cfg)
				}))
				w.Settle(trial.Limits{Steps: 5})
				if len(panicked(w)) == 0 {
					t.Error("no goroutine has panicked")
				}
				w.Stop()
			}
		})
	}
	all.Wait()
}

// The reported line is the line that first raised the panic, not a line that raised it again. The world can be stopped
// although goroutines still wait for the panicked goroutine.
func TestPanicIsPassedOn(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	_, broken := lives(t, func(context.Context) error {
		defer func() { panic(recover()) }()
		panic("ouch")
	})
	want := []string{fmt.Sprint("never-panic: ouch, at bubble/panic_test.go:", line+3)}
	if !slices.Equal(broken, want) {
		t.Errorf("breaks %q, want %q", broken, want)
	}
	w := trial.New(trial.Options{})
	w.Start("p", program("stays", func(ctx context.Context, _ *rest.Config) error {
		go wait.Until(func() { panic("ouch") }, time.Second, ctx.Done())
		<-make(chan int)
		return nil
	}))
	w.Stop()
}

// A panic that leaves a mutex locked is reported, with the goroutines that wait for the mutex.
func TestPanicWithAMutex(t *testing.T) {
	text := misuse(t, func(ctx context.Context, _ *rest.Config) error {
		var mu sync.Mutex
		go wait.UntilWithContext(ctx, func(context.Context) {
			mu.Lock()
			panic("ouch")
		}, time.Second)
		time.Sleep(time.Second)
		mu.Lock()
		return nil
	})
	if !strings.Contains(text, "a program has panicked before: ouch, at bubble/panic_test.go:") {
		t.Error(text)
	}
}
