package agent_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/trial"
)

// A main with controller-runtime announces which object each reconcile is for. Writes of a goroutine that a reconcile
// starts belong to the reconcile.
func TestReconcilesAreAnnounced(t *testing.T) {
	for _, env := range [][]string{nil, {"SPREAD=1"}} {
		b := program(t, "manager")
		b.Env = env
		if !b.Announces {
			t.Fatal("the build added no announcements")
		}
		w := run(t, b.Controller(keeper), sim.Zero{}, nil)
		defer w.Stop()
		begun, ended, wrote := 0, 0, 0
		for i := range w.World.History.Records {
			r := &w.World.History.Records[i]
			switch {
			case r.Process != "keeper":
				continue
			case r.Op == sim.SyncStart:
				begun++
			case r.Op == sim.SyncEnd:
				ended++
			case r.Op == sim.Commit:
				wrote++
				if r.For.Kind != "ConfigMap" || r.For.Name != r.Object.Name || r.For.UID == "" || r.SawFor == nil {
					t.Errorf("%v: the creation of %s is for %+v", env, r.Object, r.For)
				}
			}
		}
		if wrote != owners || begun < owners || ended != begun {
			t.Errorf("%v: %d writes, %d reconciles that began, %d that ended", env, wrote, begun, ended)
		}
	}
}

// The records say which version of an object a reconcile had read from its cache, even if it waited before the read.
func TestReadsFromCachesAreAnnounced(t *testing.T) {
	b := program(t, "manager")
	b.Env = []string{"STAMP=1"}
	limits := trial.Limits{Writes: 1000, Steps: 20_000}
	stamped := 0
	for seed := range uint64(10) {
		w := trial.New(trial.Options{Choices: sim.NewSeed(seed)})
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}
		s := &corev1.Secret{ObjectMeta: m.ObjectMeta}
		w.Start("keeper", b.Controller(keeper))
		w.Settle(limits)
		for i := range 12 {
			w.Later("edit", func() {
				for _, obj := range []interface {
					runtime.Object
					metav1.Object
				}{m, s} {
					verb := fakeapi.Update
					if i == 0 {
						verb = fakeapi.Create
					}
					obj.SetLabels(map[string]string{"edit": fmt.Sprint(i)})
					_, err := w.Request(&fakeapi.Request{Verb: verb, Kind: w.Server.KindOf(obj), Namespace: "default", Name: "m",
						Object: obj.DeepCopyObject()})
					must(t, err)
				}
			})
		}
		w.Settle(limits)
		for i := range w.World.History.Records {
			r := &w.World.History.Records[i]
			if r.Op != sim.Commit || r.Process != "keeper" || r.Object.Kind != "Secret" {
				continue
			}
			stamped++
			saw, _ := r.Saw.(*corev1.Secret)
			if says := r.After.(*corev1.Secret).Annotations["saw"]; saw == nil || saw.ResourceVersion != says {
				t.Errorf("seed %d: the reconcile had read version %s; the record says %v", seed, says, saw)
			}
		}
		w.Stop()
	}
	if stamped < 20 {
		t.Errorf("only %d writes", stamped)
	}
}

// A world settles soon if its program only polls at short intervals, and retries no key with a growing delay.
func TestPollsThatSettleSoon(t *testing.T) {
	for poll, want := range map[string]struct{ least, most, failing time.Duration }{
		"":        {7 * time.Minute, time.Hour, 7 * time.Minute}, // a timer that no reconcile has asked for may be hidden
		"1s":      {time.Minute, 3 * time.Minute, 7 * time.Minute},
		"live 1s": {2 * time.Minute, 3 * time.Minute, 8 * time.Minute},
		"1m":      {3 * time.Minute, 6 * time.Minute, 7 * time.Minute},
		"live 1m": {3 * time.Minute, 6 * time.Minute, 16 * time.Minute},
		"3m":      {6 * time.Minute, time.Hour, 7 * time.Minute},
		"live 3m": {9 * time.Minute, time.Hour, 16 * time.Minute},
	} {
		for _, fail := range []string{"", "yes"} {
			b := program(t, "manager")
			b.Env = []string{"POLL=" + poll, "FAIL=" + fail}
			w := run(t, b.Controller(keeper), sim.Zero{}, nil)
			least, most := want.least, want.most
			if fail != "" {
				least, most = want.failing, time.Hour
			}
			if took := w.World.Clock.Elapsed(); took < least || took > most {
				t.Errorf("%s, failing: %q: settled after %s, want %s to %s", poll, fail, took, least, most)
			}
			w.Stop()
		}
	}
}

// A main without controller-runtime announces nothing.
func TestNothingIsAnnounced(t *testing.T) {
	if program(t, "bare").Announces {
		t.Error("a main without controller-runtime announces reconciles")
	}
}
