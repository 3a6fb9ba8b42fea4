package bubble_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"

	"github.com/threelaws/threelaws/sim/bubble"
)

// heard is what a handler was told.
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

// report is what each was told of each object, in the order that it was told: between objects that
// are listed together, client-go's informer has none.
func report(all []*heard) (lines []string) {
	for n, h := range all {
		for _, name := range slices.Sorted(maps.Keys(h.of)) {
			lines = append(lines, fmt.Sprintf("handler %d of %s:\n  %s", n, name, strings.Join(h.of[name], "\n  ")))
		}
	}
	return lines
}

// version is what a pod is told apart by: its source counts versions up.
func version(o any) string { return o.(metav1.Object).GetLabels()["n"] }

func labelled(name, n string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d", Labels: map[string]string{"n": n}}}
}

type maker func(cache.ListerWatcher, time.Duration) cache.SharedIndexInformer

// laterStory is of handlers that come when the informer runs already, as a manager's do.
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

// story tells an informer of additions, changes, deletions and gaps, with handlers that come before
// it runs and after, that want to be told again and that do not, and one that goes; it returns what
// each was told.
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
			time.Sleep(time.Millisecond) // ours are told so late at the most
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
		time.Sleep(65 * time.Second) // everything again: for often twice, for late once
		synctest.Wait()
		from.DeleteDropWatch(labelled("a", "2")) // in a gap
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

// inParts is client-go without lists that are stored at once.
type inParts struct{ clientfeatures.Gates }

func (g inParts) Enabled(f clientfeatures.Feature) bool {
	return f != clientfeatures.AtomicFIFO && f != clientfeatures.UnlockWhileProcessingFIFO && g.Gates.Enabled(f)
}

// Handlers are told by our informer what client-go's tells them, and its cache is as new as client-go's, which
// is by default as new as the last list.
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
					t.Errorf("told\n%s\nby client-go's\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}
