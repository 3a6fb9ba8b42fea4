package trial_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

// reads is a controller's environment with the cache of its ConfigMaps.
type reads struct {
	*host.Env
	maps cache.Indexer
}

func (r reads) get(key string) *corev1.ConfigMap {
	if o, ok, _ := r.maps.GetByKey(key); ok {
		return o.(*corev1.ConfigMap).DeepCopy()
	}
	return nil
}

// syncs returns a controller of ConfigMaps with this Sync.
func syncs(sync func(ctx context.Context, r reads, key string) error) host.Controller {
	return host.Controller{
		Name: "mapper", For: configMaps, Owns: nil,
		Routes: []host.Route{{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(*corev1.ConfigMap).Name)
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			r := reads{env, env.Informer(configMaps).GetIndexer()}
			return host.SyncFunc(func(ctx context.Context, key string) error { return sync(ctx, r, key) })
		},
	}
}

// writes returns a Sync that sets a value in the data of its ConfigMap.
func writes(value func(m *corev1.ConfigMap, now time.Time) string) func(context.Context, reads, string) error {
	return func(ctx context.Context, r reads, key string) error {
		m := r.get(key)
		if m == nil {
			return nil
		}
		v := value(m, r.Now())
		if m.Data["v"] == v {
			return nil
		}
		m.Data = map[string]string{"v": v}
		_, err := r.Client.Update(ctx, m)
		return err
	}
}

// later returns a Sync that is repeated after d.
func later(d time.Duration, sync func(context.Context, reads, string) error) func(context.Context, reads,
	string) error {
	return func(ctx context.Context, r reads, key string) error {
		r.Queue.AddAfter(key, d)
		return sync(ctx, r, key)
	}
}

func nothing(context.Context, reads, string) error { return nil }

// absent is a Sync that reads a Secret that does not exist.
func absent(ctx context.Context, r reads, _ string) error {
	_, _ = r.Client.Get(ctx, secrets, "default", "s")
	return nil
}

func object(tb testing.TB, t *trial.Trial, o kruntime.Object) {
	tb.Helper()
	m := o.(metav1.Object)
	if _, err := t.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: t.Server.KindOf(o), Namespace: "default",
		Name: m.GetName(), Object: o}); err != nil {
		tb.Fatal(err)
	}
}

func settled(t *testing.T, choices sim.Choices, cs ...host.Controller) (*trial.Trial, trial.Settling) {
	t.Helper()
	w := trial.New(trial.Options{Choices: choices})
	t.Cleanup(w.Stop)
	for i, c := range cs {
		w.Start(c.Name+strconv.Itoa(i), c)
	}
	object(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	return w, w.Settle(trial.Limits{Steps: 100_000})
}

func TestSettle(t *testing.T) {
	grow := writes(func(m *corev1.ConfigMap, _ time.Time) string {
		n, _ := strconv.Atoi(m.Data["v"])
		return strconv.Itoa(n + 1)
	})
	clock := writes(func(_ *corev1.ConfigMap, now time.Time) string { return now.Format(time.RFC3339) })
	// triggered only by time: the events of its writes cause no further write
	ticks := writes(func(_ *corev1.ConfigMap, now time.Time) string {
		return "tick " + strconv.Itoa(int(now.Sub(sim.Epoch)/(10*time.Second))) + " of many"
	})
	wants := syncs(nothing)
	wants.Owns = append(wants.Owns, secrets)
	wants.Contract.Replicas = func(kruntime.Object) int { return 1 }
	idles := wants // a world with only a heartbeat has settled, and is judged
	idles.New = syncs(later(10*time.Minute, nothing)).New
	pile := syncs(func(ctx context.Context, r reads, key string) error {
		r.Queue.Add(key)
		_, err := r.Client.Create(ctx,
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "s-"}})
		return err
	})
	// like an operator that reports that it tries to reach a server, and then that it failed
	reports := func(every time.Duration, value func(n int) int64) host.Controller {
		n := 0
		return syncs(later(every, func(ctx context.Context, r reads, _ string) error {
			q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}}
			if _, err := r.Client.Create(ctx, q.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
			for range 2 {
				n++
				q.Status.Used = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(value(n), resource.DecimalSI)}
				if _, err := r.Client.UpdateStatus(ctx, q); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	parity := writes(func(_ *corev1.ConfigMap, now time.Time) string {
		return strconv.Itoa(int(now.Sub(sim.Epoch)/(10*time.Second)) % 2)
	})
	makes := func(fails bool) func(context.Context, reads, string) error {
		return func(ctx context.Context, r reads, _ string) error {
			_, err := r.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}})
			if fails || !apierrors.IsAlreadyExists(err) {
				return err
			}
			return nil
		}
	}
	// always refused with 409, because it writes a version that does not exist any more
	outdated := func(fails bool) host.Controller {
		return syncs(later(10*time.Minute, func(ctx context.Context, r reads, key string) error {
			m := r.get(key)
			m.ResourceVersion = "1"
			if _, err := r.Client.Update(ctx, m); fails {
				return err
			}
			return nil
		}))
	}
	count := func(n int) int64 { return int64(n) }
	twoStates := func(n int) int64 { return int64(n % 2) }
	set := func(v string) host.Controller {
		return syncs(writes(func(*corev1.ConfigMap, time.Time) string { return v }))
	}
	for _, c := range []struct {
		name        string
		controllers []host.Controller
		broken      string // the violated law; "" for none
		says        string
	}{
		{"settles", []host.Controller{set("x")}, "", ""},
		{"makes nothing", []host.Controller{wants}, "NOFIGHT-3", "wants 1, owns 0"},
		{"panics", []host.Controller{syncs(func(context.Context, reads, string) error { panic("at the disco") })},
			"EXACT-7b", "at the disco"},
		{"fights", []host.Controller{set("x"), set("y")}, "NOFIGHT-1", "recurs"},
		{"counts for ever", []host.Controller{syncs(grow)}, "NOFIGHT-1", `data.v: "`},
		{"piles up", []host.Controller{pile}, "NOFIGHT-1", "objects of kind Secret and makes more"},
		{"waits for a Secret", []host.Controller{syncs(later(5*time.Second, absent))}, "", ""},
		{"waits without a pause", []host.Controller{syncs(later(1, absent))}, "EXACT-7", "secret/s is refused"},
		{"looks again, and makes nothing", []host.Controller{idles}, "NOFIGHT-3", "wants 1, owns 0"},
		{"tells the time", []host.Controller{syncs(later(10*time.Second, clock))}, "", ""},
		{"reports two states", []host.Controller{reports(10*time.Minute, twoStates)}, "", ""},
		{"two instances report two states", []host.Controller{reports(10*time.Minute, twoStates), reports(10*time.Minute, twoStates)}, "", ""},
		{"counts in a status", []host.Controller{reports(10*time.Minute, count)}, "", ""},
		{"creates what exists, every half an hour", []host.Controller{syncs(later(30*time.Minute, makes(false)))}, "", ""},
		{"fails because an object exists", []host.Controller{syncs(later(30*time.Minute, makes(true)))}, "EXACT-7", "already exists"},
		{"writes an old version", []host.Controller{outdated(true)}, "EXACT-7", "the object has been modified"},
		{"writes an old version now and then", []host.Controller{outdated(false)}, "EXACT-7", "cm/a is refused"},
		{"counts in a status without a pause", []host.Controller{reports(0, count)}, "NOFIGHT-1", "status.used.pods"},
		{"reports two states without a pause", []host.Controller{reports(0, twoStates)}, "NOFIGHT-1", "recurs"},
		{"two instances tell the time", []host.Controller{syncs(later(10*time.Second, clock)), syncs(later(10*time.Second, clock))}, "", ""},
		{"alternates now and then", []host.Controller{syncs(later(10*time.Second, parity))}, "NOFIGHT-1", "recurs"},
		{"counts now and then", []host.Controller{syncs(later(10*time.Second, ticks))}, "NOFIGHT-1", `data.v: "tick `},
		{"spins", []host.Controller{
			syncs(func(_ context.Context, r reads, key string) error { r.Queue.Add(key); return nil })}, "EXACT-7",
			"is synced, again and again"},
		{"fails", []host.Controller{syncs(func(context.Context, reads, string) error { return errors.New("no luck") })},
			"EXACT-7", "no luck"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed, choices := range []sim.Choices{sim.Zero{}, sim.NewSeed(1), sim.NewSeed(2), sim.NewSeed(3)} {
				w, how := settled(t, choices, c.controllers...)
				b := w.Broken()
				switch {
				case c.broken == "" && (b != nil || !how.Settled):
					t.Errorf("seed %d: %v, %+v", seed, b, how)
				case c.broken != "" && (b == nil || b.Law.ID != c.broken || !strings.Contains(b.Text, c.says)):
					t.Errorf("seed %d: %v, want %s: %s", seed, b, c.broken, c.says)
				}
			}
		})
	}
}

// A status that alternates between two states is known after two polls. It need not be compared as a counter.
func TestReportsSettleSoon(t *testing.T) {
	n := 0
	_, how := settled(t, nil, syncs(later(10*time.Minute, func(ctx context.Context, r reads, _ string) error {
		n++
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}}
		_, _ = r.Client.Create(ctx, q.DeepCopy())
		q.Status.Used = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(n%2), resource.DecimalSI)}
		_, err := r.Client.UpdateStatus(ctx, q)
		return err
	})))
	if !how.Settled || how.At > 3*time.Hour {
		t.Errorf("%+v", how)
	}
}

// After the first wait for timers, a status that returns to a state from before that wait is a change. The world then
// runs for another hour.
func TestStatesBeforeTheFirstWait(t *testing.T) {
	looks := 0
	_, how := settled(t, nil, syncs(later(20*time.Minute, func(ctx context.Context, r reads, _ string) error {
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}}
		if looks == 0 {
			_, _ = r.Client.Create(ctx, q.DeepCopy())
		}
		looks++
		for _, n := range map[int][]int64{1: {1, 2}, 2: {1}}[looks] {
			q.Status.Used = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(n, resource.DecimalSI)}
			if _, err := r.Client.UpdateStatus(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})))
	if !how.Settled || how.At < 80*time.Minute {
		t.Errorf("%+v", how)
	}
}

// The world does not settle before the fourth reconcile, which deletes an object. The first three have no effect.
func TestHeartbeatGoesOnForAnHour(t *testing.T) {
	looks := 0
	w, how := settled(t, nil, syncs(func(ctx context.Context, r reads, key string) error {
		if m := r.get(key); m == nil {
			return nil
		}
		r.Queue.AddAfter(key, 20*time.Minute)
		if looks++; looks < 4 {
			return nil
		}
		return r.Client.Delete(ctx, configMaps, "default", "a", metav1.DeleteOptions{})
	}))
	if !how.Settled || w.Server.Len(w.Server.Kind(configMaps)) != 0 {
		t.Errorf("settled %v after %d reconciles", how.Settled, looks)
	}
}

// If the end time stops Settle, the laws of settled worlds are evaluated only if Limits.Rest is set.
func TestCutByTheClockIsNotSettled(t *testing.T) {
	wants := syncs(later(10*time.Minute, nothing))
	wants.Owns, wants.Contract.Replicas = append(wants.Owns, secrets), func(kruntime.Object) int { return 1 }
	for _, rest := range []bool{false, true} {
		w := trial.New(trial.Options{})
		t.Cleanup(w.Stop)
		w.Start("wants", wants)
		object(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		how := w.Settle(trial.Limits{For: time.Minute, Rest: rest})
		if b := w.Broken(); !how.Settled || how.At != time.Minute || (b != nil) != rest {
			t.Errorf("rest %v: %+v, %v", rest, how, b)
		}
	}
}

// If the end time interrupts work, the work is completed before the world is judged. If it does not end, the world is
// not judged.
func TestCutInTheMiddle(t *testing.T) {
	const waits = 5 * time.Second
	slow := func(wants int, writes func(look int) *corev1.Secret) host.Controller {
		looks := 0
		c := syncs(func(ctx context.Context, r reads, key string) error {
			m := r.get(key)
			secret := writes(looks)
			if looks++; secret == nil {
				r.Queue.AddAfter(key, waits)
				return nil
			}
			secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(m, configMaps)}
			_, err := r.Client.Create(ctx, secret)
			r.Queue.AddAfter(key, waits)
			return err
		})
		c.Owns, c.Contract.Replicas = append(c.Owns, secrets), func(kruntime.Object) int { return wants }
		return c
	}
	named := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	for _, c := range []struct {
		name   string
		wants  int
		writes func(look int) *corev1.Secret
		until  time.Duration // for how long the world continues
		middle string
		broken bool
	}{
		{"the second look creates it", 1, func(look int) *corev1.Secret {
			if look != 1 {
				return nil
			}
			return named("s")
		}, waits + doneFor, "", false},
		{"no look creates it", 1, func(int) *corev1.Secret { return nil }, doneFor, "", true},
		{"each look creates one more", 1000, func(look int) *corev1.Secret { return named("s" + strconv.Itoa(look)) }, time.Minute,
			"a reconcile of cm/a by slow0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := trial.New(trial.Options{})
			t.Cleanup(w.Stop)
			ctl := slow(c.wants, c.writes)
			ctl.Name = "slow"
			w.Start("slow0", ctl)
			object(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
			how := w.Settle(trial.Limits{For: time.Second, Rest: true})
			if b := w.Broken(); !how.Settled || how.At > c.until || how.Middle != c.middle || (b != nil) != c.broken {
				t.Errorf("%+v, %v", how, b)
			}
		})
	}
}

// doneFor is how long nothing may change before interrupted work counts as completed.
const doneFor = 10 * time.Second

func TestTraps(t *testing.T) {
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("mapper", syncs(writes(func(*corev1.ConfigMap, time.Time) string { return "x" })))
	w.Set(trial.Trap{Process: "mapper", After: true, Verb: fakeapi.Update, Back: true})
	object(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	if how := w.Settle(trial.Limits{}); !how.Settled || w.Cluster.Process("mapper").Incarnation != 1 {
		t.Errorf("%+v, incarnation %d", how, w.Cluster.Process("mapper").Incarnation)
	}
}

// The user's queued actions race with the controllers.
func TestLater(t *testing.T) {
	before, after := 0, 0
	for seed := range uint64(50) {
		w := trial.New(trial.Options{Choices: sim.NewSeed(seed), Laws: []*law.Law{}})
		w.Start("mapper", syncs(writes(func(*corev1.ConfigMap, time.Time) string { return "x" })))
		object(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		w.Later("look", func() {
			if w.Server.Lookup(w.Server.Kind(configMaps), "default", "a").(*corev1.ConfigMap).Data["v"] == "x" {
				after++
			} else {
				before++
			}
		})
		w.Settle(trial.Limits{})
		w.Recycle()
	}
	if before == 0 || after == 0 || before+after != 50 {
		t.Errorf("%d before the write, %d after it", before, after)
	}
}

// An action that must be repeated waits for at least a second.
func TestLaterUntil(t *testing.T) {
	w := trial.New(trial.Options{Laws: []*law.Law{}})
	defer w.Stop()
	for i, label := range []string{"one", "two", "three", "four"} {
		w.World.Clock.After(time.Duration(i+1)*700*time.Millisecond, "", label, func() {})
	}
	var tries []time.Duration
	w.LaterUntil("try", func() bool {
		tries = append(tries, w.World.Clock.Elapsed())
		return len(tries) == 3
	})
	w.Settle(trial.Limits{})
	want := []time.Duration{0, 1400 * time.Millisecond, 2800 * time.Millisecond}
	if !slices.Equal(tries, want) || w.Waiting() != 0 {
		t.Errorf("tried at %v, %d queued; want %v", tries, w.Waiting(), want)
	}
}
