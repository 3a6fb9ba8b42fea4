package steptimeout_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/steptimeout"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// If the Check of an invariant does not return, the report contains the invariant's ID and the line.
func TestInvariantThatHangs(t *testing.T) {
	free, told := make(chan struct{}), make(chan string, 1)
	undo := steptimeout.Hurry(2*time.Millisecond, func(text string) { told <- text; close(free) })
	defer undo()
	endless := &law.Invariant{ID: "endless", Sentence: "It ends.", When: law.WhenSettled, Check: func(*law.Facts) string {
		<-free
		return ""
	}}
	w := trial.New(trial.Options{Laws: []*law.Law{endless.Law()}})
	defer w.Stop()
	w.Settle(trial.Limits{})
	if text := <-told; !strings.Contains(text, "invariant endless: its Check has not returned after 90ms: it is at ") ||
		!strings.Contains(text, "watchdog_test.go:") || strings.Contains(text, "\n") {
		t.Errorf("reported %q", text)
	}
}

// A Check that ends its goroutine is reported.
func TestInvariantThatExits(t *testing.T) {
	told := make(chan string, 1)
	defer steptimeout.Hurry(time.Second, func(text string) { told <- text })()
	exits := &law.Invariant{ID: "exits", Sentence: "It returns.", When: law.WhenSettled, Check: func(*law.Facts) string {
		runtime.Goexit()
		return ""
	}}
	w := trial.New(trial.Options{Laws: []*law.Law{exits.Law()}})
	defer w.Stop()
	go w.Settle(trial.Limits{})
	if text := <-told; text != "invariant exits: its Check ends the goroutine, as t.FailNow does: return what is wrong instead" {
		t.Errorf("reported %q", text)
	}
}

// A reconcile that does not return or call the API is reported with its line. One that calls the API is not.
func TestSyncThatHangs(t *testing.T) {
	for want, sync := range map[string]func(free chan struct{}){
		"a sync is in chan receive at ": func(free chan struct{}) { <-free },
		"a sync is in sync.Mutex.Lock at ": func(free chan struct{}) {
			var m sync.Mutex
			m.Lock()
			go func() { <-free; m.Unlock() }()
			m.Lock()
		},
		"a sync is in run": func(free chan struct{}) {
			for {
				select {
				case <-free:
					return
				default:
				}
			}
		},
		"": func(chan struct{}) {},
	} {
		t.Run(want, func(t *testing.T) {
			free, told := make(chan struct{}), make(chan string, 1)
			undo := steptimeout.Hurry(2*time.Millisecond, func(text string) { told <- text; close(free) })
			hosted(t, func() { sync(free) })
			undo()
			close(told)
			if text := <-told; text == "" != (want == "") || !strings.Contains(text, want) ||
				want != "" && !strings.Contains(text, "watchdog_test.go:") {
				t.Errorf("reported %q", text)
			}
		})
	}
}

// hosted runs a controller with this reconcile function.
func hosted(t *testing.T, sync func()) {
	maps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	c := host.Controller{Name: "toy", For: maps,
		Routes: []host.Route{{Kind: maps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, "default/a")
		}}},
		New: func(env *host.Env) host.Reconciler {
			env.Informer(maps)
			return host.SyncFunc(func(context.Context, string) error {
				sync()
				return nil
			})
		}}
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("toy", c)
	_, err := w.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.Kind(maps), Namespace: "default",
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	if s := w.Settle(trial.Limits{}); !s.Settled {
		t.Errorf("%+v", s)
	}
}
