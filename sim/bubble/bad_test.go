package bubble_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// misuse runs a program that cannot be hosted, and returns the error.
func misuse(t *testing.T, run func(context.Context, *rest.Config) error) (text string) {
	t.Helper()
	defer func(d time.Duration) { *bubble.Patience = d }(*bubble.Patience)
	*bubble.Patience = 2 * time.Second
	defer func() {
		switch r := recover().(type) {
		case nil:
			t.Error("the program was hosted")
		case host.Misuse:
			text = r.Error()
		default:
			panic(r)
		}
	}()
	procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(99)
	defer debug.SetGCPercent(percent)
	defer func() {
		if now, gc := runtime.GOMAXPROCS(0), debug.SetGCPercent(99); now != procs || gc != 99 {
			t.Errorf("afterwards there are %d processors and GOGC=%d, want %d and 99", now, gc, procs)
		}
	}()
	w := trial.New(trial.Options{})
	w.Start("bad", program(t.Name(), run))
	w.Settle(trial.Limits{})
	w.Stop()
	return ""
}

// spins returns a program that loops without a wait until the channel is closed.
func spins(let chan struct{}) func(context.Context, *rest.Config) error {
	return func(context.Context, *rest.Config) error {
		for {
			select {
			case <-let:
				return nil
			default:
			}
		}
	}
}

func TestProgramNeverWaits(t *testing.T) {
	let := make(chan struct{})
	if text := misuse(t, spins(let)); !strings.Contains(text, "has not settled after 2s: it never waits:") ||
		!strings.Contains(text, "spins.func") {
		t.Error(text)
	}
	t.Run("beside", func(t *testing.T) { // a second program waits for the end of the first
		if text := misuse(t, waits); !strings.Contains(text, t.Name()+" is not hosted") {
			t.Error(text)
		}
	})
	t.Run("stopped", func(t *testing.T) { // a world with such a program can be stopped
		defer func() {
			if r, is := recover().(host.Misuse); !is || !strings.Contains(r.Error(), t.Name()+" is not hosted") {
				t.Errorf("%v", r)
			}
		}()
		w := trial.New(trial.Options{})
		defer w.Stop()
		w.Start("bad", program(t.Name(), waits))
	})
	close(let)
	bubble.AwaitRest()
	w := trial.New(trial.Options{})
	w.Start("good", program(t.Name(), waits))
	w.Stop()
}

// A goroutine holds a mutex while it waits for an answer, and another goroutine waits for the mutex.
func TestMutexAcrossARequest(t *testing.T) {
	holds := func(ctx context.Context, cfg *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(cfg)
		var mu sync.Mutex
		held := make(chan struct{})
		go func() {
			mu.Lock()
			defer mu.Unlock()
			close(held)
			_, _ = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		}()
		<-held
		mu.Lock()
		return nil
	}
	text := misuse(t, holds)
	waiter, holder, both := strings.Cut(text, "one of them may hold the mutex")
	if !both || !strings.Contains(waiter, "sync.Mutex.Lock") || !strings.Contains(waiter,
		"TestMutexAcrossARequest.func1(") || !strings.Contains(holder, "TestMutexAcrossARequest.func1.1(") {
		t.Error(text)
	}
	if again := misuse(t, holds); !strings.Contains(again, t.Name()+" is not hosted") {
		t.Error("another world did not refuse the program: " + again)
	}
}

// A program waits for something outside its world.
func TestProgramWaitsForTheWorldOutside(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for what, waits := range map[string]func(){
		"a channel that was made outside": func() { <-wait.NeverStop },
		"the real network": func() {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				_, _ = c.Read(make([]byte, 1))
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			text := misuse(t, func(context.Context, *rest.Config) error {
				waits()
				return nil
			})
			if !strings.Contains(text, "a goroutine waits for "+what) || !strings.Contains(text, "bad_test.go:") {
				t.Error(text)
			}
		})
	}
}

func TestGoroutinesOutliveTheProgram(t *testing.T) {
	text := misuse(t, func(ctx context.Context, _ *rest.Config) error {
		go func() { <-make(chan int) }()
		<-ctx.Done()
		return nil
	})
	if !strings.Contains(text, "goroutines outlive their program") || !strings.Contains(text,
		"TestGoroutinesOutliveTheProgram.func1.1") {
		t.Error(text)
	}
}

// The report of leaked goroutines begins with the goroutines in the program's own code.
func TestOwnGoroutinesAreShownFirst(t *testing.T) {
	text := misuse(t, func(ctx context.Context, _ *rest.Config) error {
		for range 5 {
			workqueue.NewTypedDelayingQueue[string]() // never shut down
		}
		go func() { <-make(chan int) }()
		<-ctx.Done()
		return nil
	})
	if !strings.Contains(text, "TestOwnGoroutinesAreShownFirst.func1.1") || !strings.Contains(text, "more") {
		t.Error(text)
	}
}

// lives runs a program whose first run returns the result of ends. It returns the reason of the restart in the history,
// and the violations.
func lives(t *testing.T, ends func(context.Context) error) (why string, broken []string) {
	t.Helper()
	n := 0
	w := trial.New(trial.Options{})
	defer w.Stop()
	mortal := func(ctx context.Context, cfg *rest.Config) error {
		if n++; n == 1 {
			return ends(ctx)
		}
		_, err := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default").Create(ctx,
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("life-", n)}}, metav1.CreateOptions{})
		<-ctx.Done()
		return err
	}
	w.Start("mortal", program("mortal", mortal))
	w.Settle(trial.Limits{})
	if k := w.Server.KindNamed("cm"); w.Server.Lookup(k, "default", "life-2") == nil || w.Server.Len(k) != 1 {
		t.Error("the program was not restarted once")
	}
	for _, b := range w.Judge.Violations() {
		broken = append(broken, b.Law.Name+": "+b.Text)
	}
	for i := range w.World.History.Len() {
		if r := w.World.History.At(i); r.Op == sim.FaultHit && r.Verb == "crash" {
			return r.Reason, broken
		}
	}
	return "", broken
}

func TestProgramEnds(t *testing.T) {
	got, broken := lives(t, func(context.Context) error { return errors.New("no lease") })
	if got != "the program returned: no lease" || len(broken) > 0 {
		t.Error(got, broken)
	}
}

// A panic ends a program and violates never-panic. The panic may be on the program's own goroutine, or on a goroutine
// with HandleCrash, with or without the program's context.
func TestProgramPanics(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	panics := func() { panic("a nil map") }
	want := fmt.Sprint("a nil map, at bubble/bad_test.go:", line+1)
	for name, ends := range map[string]func(context.Context) error{
		"its own": func(context.Context) error { panics(); return nil },
		"another, with its context": func(ctx context.Context) error {
			go wait.UntilWithContext(ctx, func(context.Context) { panics() }, time.Second)
			return waits(ctx, nil)
		},
		"another": func(ctx context.Context) error {
			go wait.Until(panics, time.Second, ctx.Done())
			return waits(ctx, nil)
		},
		"one that is waited for": func(ctx context.Context) error {
			var all sync.WaitGroup
			all.Go(func() {
				defer utilruntime.HandleCrashWithContext(ctx)
				time.Sleep(time.Second)
				panics()
			})
			all.Wait()
			return waits(ctx, nil)
		},
		"one that recovers and tells": func(ctx context.Context) error {
			defer func() {
				why := recover()
				for _, told := range utilruntime.PanicHandlers {
					told(ctx, why)
				}
			}()
			panics()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, broken := lives(t, ends)
			if got != "panic: "+want || !slices.Equal(broken, []string{"never-panic: " + want}) {
				t.Errorf("%q, and breaks %q, want %q", got, broken, want)
			}
		})
	}
}

// noLists never chooses the actions of list requests.
type noLists struct{}

func (noLists) Pick(int, string) int { return 0 }

func (noLists) Next(_ *sim.World, enabled []sim.Action) int {
	return slices.IndexFunc(enabled, func(a sim.Action) bool { return !strings.Contains(a.Detail, "list") })
}

// A cycle is no fight while a request of the program waits. The answer could end the cycle.
func TestStarvedRequest(t *testing.T) {
	for _, lists := range []bool{false, true} {
		flips := func(ctx context.Context, cfg *rest.Config) error {
			maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
			if lists {
				go func() { _, _ = maps.List(ctx, metav1.ListOptions{}) }()
			}
			for i := range 200 {
				patch := fmt.Sprintf(`{"data":{"on":"%t"}}`, i%2 == 0)
				if _, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return ctx.Err()
		}
		w := started(t, program("flips", flips), noLists{}, nil, "a")
		if s := w.Settle(trial.Limits{}); s.Fight == lists {
			t.Errorf("with a waiting list request %t: %+v", lists, s)
		}
		w.Stop()
	}
}
