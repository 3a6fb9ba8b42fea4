package elector_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/threelaws/threelaws/controllers/internal/elector"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// election is a candidate with its calls of lead.
type election struct {
	*trial.Trial
	t    *testing.T
	told []string
}

func newElection(t *testing.T) *election {
	e := &election{Trial: trial.New(trial.Options{}), t: t}
	t.Cleanup(e.Stop)
	e.Start("manager", elector.New("a", func(leads bool) {
		e.told = append(e.told, fmt.Sprintf("%v %v", e.World.Clock.Elapsed(), leads))
	}))
	return e
}

func (e *election) lease() *coordinationv1.Lease {
	obj := e.Server.Lookup(e.Server.KindNamed("Lease"), "kube-system", "kube-controller-manager")
	return obj.(*coordinationv1.Lease)
}

// write changes the lease like another candidate.
func (e *election) write(change func(*coordinationv1.Lease)) {
	e.t.Helper()
	l := e.lease().DeepCopy()
	change(l)
	if _, err := e.Request(&fakeapi.Request{Verb: fakeapi.Update, Kind: e.Server.KindNamed("Lease"),
		Namespace: l.Namespace, Name: l.Name, Object: l}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *election) pass(d time.Duration) { e.Settle(trial.Limits{For: d}) }

// want compares the calls of lead, and the lease.
func (e *election) want(holder string, transitions int32, renewed time.Duration, told ...string) {
	e.t.Helper()
	if !slices.Equal(e.told, told) {
		e.t.Errorf("lead got %q, want %q", e.told, told)
	}
	s := e.lease().Spec
	since := s.RenewTime.Sub(e.World.Clock.Now()) + e.World.Clock.Elapsed()
	if *s.HolderIdentity != holder || *s.LeaseTransitions != transitions || since != renewed ||
		*s.LeaseDurationSeconds != 15 {
		e.t.Errorf("lease of %s with %d transitions, renewed at %v for %d s; want %s, %d, %v", *s.HolderIdentity,
			*s.LeaseTransitions, since, *s.LeaseDurationSeconds, holder, transitions, renewed)
	}
}

func TestLeadsAndRenews(t *testing.T) {
	e := newElection(t)
	e.pass(5 * time.Second)
	e.want("a_1", 0, 4*time.Second, "0s true")
}

// A candidate does not take another's lease until it has seen no renewal for the lease's duration. A holder that lost
// its lease leads until the deadline, and then continues with another identity.
func TestTakenAway(t *testing.T) {
	e := newElection(t)
	e.pass(5 * time.Second)
	other := "b"
	e.write(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &other })
	e.pass(10 * time.Second)
	e.want("b", 0, 4*time.Second, "0s true")
	e.pass(2 * time.Second)
	e.want("b", 0, 4*time.Second, "0s true", "16s false")
	// The candidate forgot the lease at the deadline, so its waiting time starts again.
	e.pass(15 * time.Second)
	e.want("b", 0, 4*time.Second, "0s true", "16s false")
	e.pass(2 * time.Second)
	e.want("a_2", 1, 34*time.Second, "0s true", "16s false", "34s true")
}

// A released lease is taken at once.
func TestReleased(t *testing.T) {
	e := newElection(t)
	e.pass(time.Second)
	nobody, three := "", int32(3)
	e.write(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity, l.Spec.LeaseTransitions = &nobody, &three })
	e.pass(2 * time.Second)
	e.want("a_1", 4, 2*time.Second, "0s true")
}

// A holder that cannot write the lease assumes that it lost the lease. It need not read the lease.
func TestCutOff(t *testing.T) {
	for verb, cutOff := range map[fakeapi.Verb]bool{fakeapi.Update: true, fakeapi.Get: false} {
		e := newElection(t)
		e.pass(time.Second)
		e.Cluster.Fail(host.FailedRequest{Process: "manager", Verb: verb, Code: 500})
		if e.pass(12 * time.Second); cutOff {
			e.want("a_1", 0, 0, "0s true", "12s false")
		} else {
			e.want("a_1", 0, 12*time.Second, "0s true")
		}
	}
}

// If a client has annotated the lease, the holder reads the lease and continues.
func TestAnnotated(t *testing.T) {
	e := newElection(t)
	for range 10 {
		e.pass(2 * time.Second)
		e.write(func(l *coordinationv1.Lease) { l.Annotations = map[string]string{"at": e.World.Clock.Now().String()} })
	}
	e.pass(time.Second)
	e.want("a_1", 0, 20*time.Second, "0s true")
}
