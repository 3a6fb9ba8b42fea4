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
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"

	"github.com/threelaws/threelaws/sim/bubble"
)

// polled has each of some informers' handlers added by who looks every tenth of a second whether its
// cache is filled, as a manager's sources are, and returns which kind was told of first, and so on.
func polled(t *testing.T, all func(ctx context.Context) map[string]cache.SharedIndexInformer) (told []string) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		ctx, stop := context.WithCancel(t.Context())
		for kind, i := range all(ctx) {
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

// ofTypes are informers of four types, of which two have one name.
func ofTypes(ctx context.Context) map[string]cache.SharedIndexInformer {
	all := map[string]cache.SharedIndexInformer{}
	for kind, of := range map[string]runtime.Object{"pod": &corev1.Pod{}, "cm": &corev1.ConfigMap{},
		"event": &corev1.Event{}, "other event": &eventsv1.Event{}} {
		from := source.NewFakeControllerSource()
		context.AfterFunc(ctx, from.Broadcaster.Shutdown)
		from.Add(labelled(kind, "1"))
		all[kind] = bubble.NewInformer(from, of, 0, cache.Indexers{})
	}
	return all
}

// ofResources are those of a factory of untyped objects.
func ofResources(context.Context) map[string]cache.SharedIndexInformer {
	kinds, objects := map[schema.GroupVersionResource]string{}, []runtime.Object{}
	for _, kind := range []string{"Red", "Green", "Blue", "Black"} {
		kinds[schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"}] = kind + "List"
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind(kind)
		o.SetName("one")
		objects = append(objects, o)
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
	f := bubble.DynamicInformers(client, 0)
	all := map[string]cache.SharedIndexInformer{}
	for r := range kinds {
		all[r.Resource] = f.ForResource(r).Informer()
	}
	return all
}

// Which of four timers that are due at one instant is first the Go runtime draws: handlers that are added then
// are told in one order all the same.
func TestLateHandlersAreToldInOneOrder(t *testing.T) {
	for name, all := range map[string]func(context.Context) map[string]cache.SharedIndexInformer{"types": ofTypes,
		"resources": ofResources} {
		first := polled(t, all)
		if len(first) != 4 {
			t.Fatalf("%s: told of %s", name, strings.Join(first, ", "))
		}
		for range 20 {
			if again := polled(t, all); !slices.Equal(again, first) {
				t.Fatalf("%s: told of %s, then of %s", name, strings.Join(first, ", "), strings.Join(again, ", "))
			}
		}
	}
}
