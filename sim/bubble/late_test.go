package bubble_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"

	"github.com/threelaws/threelaws/sim/bubble"
)

// polled has each of four informers' handlers added by who looks every tenth of a second whether its
// cache is filled, as a manager's sources are, and returns which kind was told of first, and so on.
func polled(t *testing.T) (told []string) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		ctx, stop := context.WithCancel(t.Context())
		for kind, of := range map[string]runtime.Object{"pod": &corev1.Pod{}, "cm": &corev1.ConfigMap{},
			"secret": &corev1.Secret{}, "svc": &corev1.Service{}} {
			from := source.NewFakeControllerSource()
			defer from.Broadcaster.Shutdown()
			from.Add(labelled(kind, "1"))
			i := bubble.NewInformer(from, of, 0, cache.Indexers{})
			go i.RunWithContext(ctx)
			go func() {
				for range 3 {
					time.Sleep(100 * time.Millisecond)
				}
				_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, kind)
				}})
			}()
		}
		time.Sleep(time.Second)
		stop()
		synctest.Wait()
	})
	return told
}

// Which of four timers that are due at one instant is first the Go runtime draws: handlers that are added then
// are told in one order all the same.
func TestLateHandlersAreToldInOneOrder(t *testing.T) {
	first := polled(t)
	if len(first) != 4 {
		t.Fatalf("told of %s", strings.Join(first, " "))
	}
	for range 20 {
		if again := polled(t); !slices.Equal(again, first) {
			t.Fatalf("told of %s, then of %s", strings.Join(first, " "), strings.Join(again, " "))
		}
	}
}
