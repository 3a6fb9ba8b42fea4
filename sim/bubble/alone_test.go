package bubble_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// crowd is a program in which one event wakes many goroutines at once. Each leaves garbage, and
// makes a Secret that says which of them it was.
func crowd(ctx context.Context, cfg *rest.Config) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
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

// Goroutines that one thing wakes go in one order in every run, however many processors
// there are and whenever garbage is collected; afterwards the process has both again. A run
// that the machine stopped for ten milliseconds may be another: few are.
func TestOrderOfGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	runs := map[uint64]int{}
	for range 100 {
		w := trial.New(trial.Options{})
		a := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
		if _, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.KindNamed("cm"),
			Namespace: "default", Object: a}); err != nil {
			t.Fatal(err)
		}
		w.Start("crowd", bubble.Controller(host.Controller{Name: "crowd"}, crowd))
		if s := w.Settle(trial.Limits{}); !s.Settled {
			t.Fatalf("%+v", s)
		}
		if n := w.Server.Len(w.Server.KindNamed("secret")); n != 8 {
			t.Fatalf("%d secrets", n)
		}
		runs[w.World.Hash()]++
		w.Stop()
	}
	if most := slices.Max(slices.Collect(maps.Values(runs))); most < 97 {
		t.Errorf("of 100 runs %d are the same: %v", most, runs)
	}
	if procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(10); procs != 4 || percent != 10 {
		t.Errorf("left are %d processors and %d percent, want 4 and 10", procs, percent)
	}
}
