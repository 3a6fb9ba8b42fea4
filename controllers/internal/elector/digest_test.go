package elector

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// TestDigest checks that candidates have different digests if and only if they will act differently.
func TestDigest(t *testing.T) {
	now, minute := time.Unix(1000, 0), int32(60)
	lease := func(term int32, holder string, renewed time.Time) *coordinationv1.Lease {
		at := metav1.NewMicroTime(renewed)
		return &coordinationv1.Lease{
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at, LeaseTransitions: &term}}
	}
	of := func(later time.Duration, change func(e *elector)) sim.Hash {
		e := &elector{env: &host.Env{Now: func() time.Time { return now.Add(later) }}, life: 1, leading: true,
			renewed: now, lease: lease(1, "a", now), since: now}
		change(e)
		var h sim.Hash
		e.Digest(&h)
		return h
	}
	seen := map[sim.Hash]string{}
	for name, change := range map[string]func(e *elector){
		"as it is":           func(*elector) {},
		"does not lead":      func(e *elector) { e.leading = false },
		"another life":       func(e *elector) { e.life = 2 },
		"renewed before":     func(e *elector) { e.renewed = now.Add(-time.Second) },
		"knows of no lease":  func(e *elector) { e.lease = nil },
		"another term":       func(e *elector) { e.lease = lease(2, "a", now) },
		"never renewed":      func(e *elector) { e.lease.Spec.RenewTime = nil },
		"acquired":           func(e *elector) { e.lease.Spec.AcquireTime = e.lease.Spec.RenewTime },
		"for longer":         func(e *elector) { e.lease.Spec.LeaseDurationSeconds = &minute },
		"another holder":     func(e *elector) { e.lease = lease(1, "b", now) },
		"it renewed before":  func(e *elector) { e.lease = lease(1, "a", now.Add(-time.Second)) },
		"seen for some time": func(e *elector) { e.since = now.Add(-time.Second) },
	} {
		h := of(0, change)
		if other := seen[h]; other != "" {
			t.Errorf("%q and %q have the same digest", name, other)
		}
		seen[h] = name
	}
	led := func(later time.Duration) func(e *elector) {
		return func(e *elector) { e.leading, e.lease, e.renewed = false, nil, now.Add(later) }
	}
	if of(0, led(0)) != of(0, led(time.Second)) {
		t.Error("the digest of a candidate that does not lead contains when it led last")
	}
	if of(time.Minute, led(0)) != of(0, led(0)) {
		t.Error("the digest depends on the time of day")
	}
}
