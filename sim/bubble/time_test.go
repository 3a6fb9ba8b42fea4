package bubble_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// tries reads a ConfigMap until it exists, with the backoff of client-go's queues. Each failure creates an Event, and
// success creates a Secret.
func tries(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 1000*time.Second) {
		if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "go", metav1.GetOptions{}); err == nil {
			break
		}
		_, _ = client.CoreV1().Events("default").Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{GenerateName: "failed-", Namespace: "default"},
			InvolvedObject: corev1.ObjectReference{Namespace: "default"}}, metav1.CreateOptions{})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, _ = client.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "done", Namespace: "default"}}, metav1.CreateOptions{})
	<-ctx.Done()
	return ctx.Err()
}

// After many failures, a retry waits for a quarter of an hour. If an object has changed, the world settles only after
// the retry. If the retries fail for ever, the world settles, too.
func TestLateRetryIsWaitedFor(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("tries", program("tries", tries))
	for _, name := range []string{"a", "b", "c", "go"} {
		createMaps(t, w, name)
		settles(t, w)
		events := w.Server.Len(w.Server.KindNamed("ev"))
		if there := w.Server.Len(w.Server.KindNamed("secret")) == 1; events < 16 || there != (name == "go") {
			t.Errorf("after %s, at %v: %d failures, done: %v", name, w.World.Clock.Elapsed(), events, there)
		}
	}
}

// polls reads and deletes a claim that does not exist, every 15 seconds.
func polls(ctx context.Context, cfg *rest.Config) error {
	client := kubernetes.NewForConfigOrDie(cfg)
	for {
		_, err := client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "claim", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			err = client.CoreV1().PersistentVolumeClaims("default").Delete(ctx, "claim", metav1.DeleteOptions{})
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(15 * time.Second):
		}
	}
}

// A program that repeats a refused creation forever settles in two cases: another instance has created the object, or
// at least a second passes before each repetition.
func TestRefusedCreations(t *testing.T) {
	for _, c := range []struct {
		wait     time.Duration
		by, want string
	}{{time.Second / 2, "an instance", "settles"}, {time.Second / 2, "a user", ""}, {3 * time.Second, "a user", "settles"}} {
		waits := program("waits", func(ctx context.Context, cfg *rest.Config) error {
			maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "lock", Namespace: "default"}}
			for _, err := maps.Create(ctx, made, metav1.CreateOptions{}); err != nil && ctx.Err() == nil; {
				time.Sleep(c.wait)
				_, err = maps.Create(ctx, made, metav1.CreateOptions{})
			}
			<-ctx.Done()
			return nil
		})
		w := trial.New(trial.Options{})
		t.Cleanup(w.Stop)
		if c.by == "a user" {
			createMaps(t, w, "lock")
		} else {
			w.Start("one", waits)
		}
		w.Start("two", waits)
		if how := w.Settle(trial.Limits{Steps: 2500}); how.Settled != (c.want == "settles") {
			t.Errorf("%s has the lock, %v: %+v", c.by, c.wait, how)
		}
	}
}

// A program that sends a refused Event every minute for ever settles: Events are no activity.
func TestReportsAreNoActivity(t *testing.T) {
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("reports", program("reports", func(ctx context.Context, cfg *rest.Config) error {
		events := kubernetes.NewForConfigOrDie(cfg).EventsV1().Events("default")
		for {
			_, err := events.Create(ctx, &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "seen"}}, metav1.CreateOptions{})
			select {
			case <-ctx.Done():
				return err
			case <-time.After(time.Minute):
			}
		}
	}))
	if how := w.Settle(trial.Limits{Steps: 2500}); !how.Settled || how.At > 10*time.Minute {
		t.Errorf("it settles so: %+v", how)
	}
}

// Settle waits for a retry with the longest backoff of client-go's queues, even with regular requests in between. Then
// it ends after twenty minutes, although the requests go on.
func TestLongestBackOffIsWaitedFor(t *testing.T) {
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("retries", program("retries", func(ctx context.Context, cfg *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(cfg)
		go polls(ctx, cfg) // it returns the error of the ended context
		time.Sleep(1000 * time.Second)
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late", Namespace: "default"}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}))
	how := w.Settle(trial.Limits{Steps: 5000})
	if late := w.Server.Lookup(w.Server.KindNamed("configmap"), "default", "late"); late == nil || !how.Settled || how.At > 38*time.Minute {
		t.Errorf("the retry: %v, then %+v", late != nil, how)
	}
}

// clocked returns a world with a ConfigMap and a controller that uses [Timed].
func clocked(t *testing.T, made func(), sync func(env *host.Env, key string) error) *trial.Trial {
	t.Helper()
	c := bubble.Timed(host.Controller{
		Name: "clocked", For: configMaps,
		Routes: []host.Route{{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(metav1.Object).GetName())
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			made()
			return host.SyncFunc(func(_ context.Context, key string) error { return sync(env, key) })
		},
	})
	w := trial.New(trial.Options{})
	t.Cleanup(w.Stop)
	w.Start("clocked", c)
	createMaps(t, w, "a")
	return w
}

// New and each Sync see the world's time, also after waits and a crash. A Sync that sleeps returns.
func TestTimed(t *testing.T) {
	var made, seen []time.Duration
	w := clocked(t, func() { made = append(made, time.Since(sim.Epoch)) }, func(env *host.Env, key string) error {
		if at := time.Since(sim.Epoch); len(seen) < 3 {
			seen = append(seen, at)
			env.Queue.AddAfter(key, time.Hour)
		}
		time.Sleep(time.Millisecond)
		return nil
	})
	if how := w.Settle(trial.Limits{}); !how.Settled {
		t.Fatalf("%+v", how)
	}
	w.World.Do("crash", func() { w.Cluster.Process("clocked").Crash(true) })
	w.Settle(trial.Limits{})
	for i, at := range seen {
		if d := at - time.Duration(i)*time.Hour; d < 0 || d > time.Second {
			t.Errorf("sync %d was at %s", i, at)
		}
	}
	if len(seen) != 3 || len(made) != 2 || made[0] != 0 || made[1] < 2*time.Hour {
		t.Errorf("syncs at %v, made at %v", seen, made)
	}
}

// A Sync that panics violates never-panic. A Sync that waits for itself is reported at once.
func TestTimedEnds(t *testing.T) {
	w := clocked(t, func() {}, func(*host.Env, string) error { panic("no luck") })
	w.Settle(trial.Limits{})
	if b := w.Broken(); b == nil || b.Law.Name != "never-panic" || !strings.Contains(b.Text, "no luck") {
		t.Errorf("broken: %v", b)
	}
	w = clocked(t, func() {}, func(*host.Env, string) error {
		<-make(chan int)
		return errors.New("it goes on")
	})
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(error).Error(), "waits") {
			t.Errorf("got %v", r)
		}
	}()
	w.Settle(trial.Limits{})
	t.Error("the world settled")
}

// The steps of polls do not count for the limits, so a program with many requests in each poll settles. A loop without
// pauses does not.
func TestPollsOfManyRequests(t *testing.T) {
	for pause, settles := range map[time.Duration]bool{5 * time.Second: true, time.Microsecond: false} {
		w := trial.New(trial.Options{})
		t.Cleanup(w.Stop)
		w.Start("reads", program("reads", func(ctx context.Context, cfg *rest.Config) error {
			maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
			for ctx.Err() == nil {
				for i := range 40 {
					maps.Get(ctx, fmt.Sprint("c", i), metav1.GetOptions{})
				}
				time.Sleep(pause)
			}
			return nil
		}))
		if how := w.Settle(trial.Limits{Steps: 5000}); how.Settled != settles {
			t.Errorf("%v: %+v", pause, how)
		}
	}
}
