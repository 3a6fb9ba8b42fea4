package trial_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// A world in which a program cannot reach a server outside is not judged as a settled world.
func TestProgramWithoutItsServer(t *testing.T) {
	for text, want := range map[string]string{
		"dial tcp: lookup db.default.svc: no such host": law.CutShort,
		"dial tcp 10.0.0.1:80: connection refused":      law.CutShort,
		"two Pods for one head":                         "",
	} {
		w := trial.New(trial.Options{})
		w.Start("failing", host.Hosting(host.Controller{Name: "failing", For: corev1.SchemeGroupVersion.WithKind("ConfigMap")},
			func(*host.Cluster, string) host.Program { return failing(text) }))
		if s := w.Settle(trial.Limits{}); !s.Settled {
			t.Errorf("%s: %+v", text, s)
		}
		last := w.World.History.At(w.World.History.Len() - 1)
		if last.Op != sim.Settled || last.Reason != want {
			t.Errorf("%s: the last record is %v with the reason %q, want %q", text, last.Op, last.Reason, want)
		}
		w.Stop()
	}
}

// failing is a program that does nothing, and has printed an error five times.
type failing string

func (failing) Start()                         {}
func (failing) Kill()                          {}
func (failing) Asked() []*host.Call            { return nil }
func (failing) Queried() []host.Query          { return nil }
func (failing) Ended() (error, bool)           { return nil, false }
func (failing) Answer(*host.Call)              {}
func (failing) Send(*host.Stream, watch.Event) {}

func (f failing) Printed(int) []string {
	return slices.Repeat([]string{"2017-03-01T00:00:00Z\tERROR\t" + string(f)}, 5)
}
