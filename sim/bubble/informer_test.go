package bubble_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"

	"github.com/threelaws/threelaws/sim/bubble"
)

// heard records the notifications that a handler received.
type heard struct{ of map[string][]string }

func (h *heard) OnAdd(o any, initial bool) { h.note(fmt.Sprint("add initial=", initial), o) }
func (h *heard) OnUpdate(old, o any)       { h.note("update from "+version(old), o) }
func (h *heard) OnDelete(o any)            { h.note("delete", o) }

func (h *heard) note(what string, o any) {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		what, o = what+" unseen", gone.Obj
	}
	if h.of == nil {
		h.of = map[string][]string{}
	}
	name := o.(metav1.Object).GetName()
	h.of[name] = append(h.of[name], what+" "+version(o))
}

// report lists the notifications by handler and object: in client-go's informer, the objects of one list have no
// order.
func report(all []*heard) (lines []string) {
	for n, h := range all {
		for _, name := range slices.Sorted(maps.Keys(h.of)) {
			lines = append(lines, fmt.Sprintf("handler %d of %s:\n  %s", n, name, strings.Join(h.of[name], "\n  ")))
		}
	}
	return lines
}

// version returns the label that counts the versions of a Pod.
func version(o any) string { return o.(metav1.Object).GetLabels()["n"] }

func labelled(name, n string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d", Labels: map[string]string{"n": n}}}
}

type maker func(cache.ListerWatcher, time.Duration) cache.SharedIndexInformer

// laterStory adds handlers to a running informer, as a manager does. It returns the notifications.
func laterStory(t *testing.T, make maker, resync time.Duration) (told []string) {
	synctest.Test(t, func(t *testing.T) {
		from := source.NewFakeControllerSource()
		i := make(from, resync)
		from.Add(labelled("a", "1"))
		ctx, stop := context.WithCancel(t.Context())
		go i.RunWithContext(ctx)
		synctest.Wait()
		all := []*heard{{}, {}, {}}
		_, _ = i.AddEventHandler(all[0])
		_, _ = i.AddEventHandlerWithResyncPeriod(all[1], time.Millisecond)
		_, _ = i.AddEventHandlerWithResyncPeriod(all[2], 90*time.Second)
		time.Sleep(185 * time.Second)
		stop()
		synctest.Wait()
		from.Broadcaster.Shutdown()
		told = report(all)
	})
	return told
}

// story gives an informer additions, changes, deletions and gaps of a watch. It adds handlers before and after the
// start, with and without resyncs, and removes one handler. It returns the notifications.
func story(t *testing.T, make maker, resync time.Duration) (told []string) {
	synctest.Test(t, func(t *testing.T) {
		from := source.NewFakeControllerSource()
		i := make(from, resync)
		all := []*heard{}
		add := func(resync ...time.Duration) cache.ResourceEventHandlerRegistration {
			h := &heard{}
			all = append(all, h)
			r, err := i.AddEventHandler(h)
			if len(resync) > 0 {
				_ = i.RemoveEventHandler(r)
				r, err = i.AddEventHandlerWithResyncPeriod(h, resync[0])
			}
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		state := func(what string, rs ...cache.ResourceEventHandlerRegistration) {
			time.Sleep(time.Millisecond) // the longest delay of a late handler
			synctest.Wait()
			line := fmt.Sprintf("%s: synced %t stopped %t, %d as of %s", what, i.HasSynced(), i.IsStopped(),
				len(i.GetStore().List()), i.GetStore().LastStoreSyncResourceVersion())
			for _, r := range rs {
				line += fmt.Sprint(" ", r.HasSynced())
			}
			told = append(told, line)
		}
		from.Add(labelled("a", "1"))
		never, often := add(0), add(30*time.Second)
		ctx, stop := context.WithCancel(t.Context())
		state("before", never, often)
		go i.RunWithContext(ctx)
		state("started", never, often)
		from.Add(labelled("b", "1"))
		from.Modify(labelled("a", "2"))
		synctest.Wait()
		late := add()
		state("late", never, late)
		time.Sleep(65 * time.Second) // two resyncs for handler often, one for late
		synctest.Wait()
		from.DeleteDropWatch(labelled("a", "2")) // during a gap of the watch
		from.AddDropWatch(labelled("c", "1"))
		from.ResetWatch()
		time.Sleep(10 * time.Second)
		state("after a gap")
		_ = i.RemoveEventHandler(often)
		from.Delete(labelled("b", "1"))
		time.Sleep(125 * time.Second)
		state("at the end")
		stop()
		state("stopped")
		from.Broadcaster.Shutdown()
		_, err := i.AddEventHandler(&heard{})
		told = append(told, fmt.Sprint("too late: ", err != nil))
		told = append(told, report(all)...)
	})
	return told
}

// inParts has client-go's feature gates without atomic lists.
type inParts struct{ clientfeatures.Gates }

func (g inParts) Enabled(f clientfeatures.Feature) bool {
	return f != clientfeatures.AtomicFIFO && f != clientfeatures.UnlockWhileProcessingFIFO && g.Gates.Enabled(f)
}

// An informer of NewInformer gives handlers the same notifications as client-go's informer, and has the same resource
// version.
func TestInformerIsAnInformer(t *testing.T) {
	isAnInformer(t)
	was := clientfeatures.FeatureGates()
	clientfeatures.ReplaceFeatureGates(inParts{was})
	defer clientfeatures.ReplaceFeatureGates(was)
	t.Run("in parts", isAnInformer)
}

func isAnInformer(t *testing.T) {
	for name, tell := range map[string]func(*testing.T, maker, time.Duration) []string{
		"from the start": story, "later": laterStory,
	} {
		for _, resync := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprintf("%s, again every %s", name, resync), func(t *testing.T) {
				want := tell(t, func(lw cache.ListerWatcher, resync time.Duration) cache.SharedIndexInformer {
					return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, resync, cache.Indexers{})
				}, resync)
				got := tell(t, func(lw cache.ListerWatcher, resync time.Duration) cache.SharedIndexInformer {
					return bubble.NewInformer(lw, &corev1.Pod{}, resync, cache.Indexers{})
				}, resync)
				if !slices.Equal(got, want) {
					t.Errorf("notifications\n%s\nclient-go's informer:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// polled adds handlers to informers when their caches are filled, which it checks every tenth of a second, like a
// manager's sources. It returns the kinds in the order of their notifications.
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

// ofTypes returns informers of four types. Two of the types have the same name.
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

// ofResources returns informers of untyped objects.
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

// The Go runtime fires timers of the same instant in random order. Handlers that such timers add are nevertheless
// notified in a fixed order.
func TestLateHandlersAreNotifiedInOrder(t *testing.T) {
	for name, all := range map[string]func(context.Context) map[string]cache.SharedIndexInformer{"types": ofTypes,
		"resources": ofResources} {
		first := polled(t, all)
		if len(first) != 4 {
			t.Fatalf("%s: notified of %s", name, strings.Join(first, ", "))
		}
		for range 20 {
			if again := polled(t, all); !slices.Equal(again, first) {
				t.Fatalf("%s: notified of %s, then of %s", name, strings.Join(first, ", "), strings.Join(again, ", "))
			}
		}
	}
}
