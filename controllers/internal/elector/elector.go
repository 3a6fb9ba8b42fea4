// Package elector is leader election by a Lease, like client-go's. Of several instances of the controller manager, only
// the holder of the lease runs its controllers.
//
// The lease is not a lock. A holder that cannot renew the lease leads until its deadline has passed, so two instances
// may lead at the same time (SKEW-1).
package elector

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// The name of the lease, and the times of kube-controller-manager. A lease that is not renewed expires after 15
// seconds. The holder tries every 2 seconds to renew the lease, and gives up after 10 seconds.
const (
	namespace = "kube-system"
	name      = "kube-controller-manager"

	duration = 15 * time.Second
	deadline = 10 * time.Second
	retry    = 2 * time.Second
)

var leaseKind = coordinationv1.SchemeGroupVersion.WithKind("Lease")

// New returns a candidate. It calls lead(true) when it gets the lease, and lead(false) when it gives up renewing the
// lease. Each start has a new identity, so a restarted candidate waits until its previous lease expires.
func New(candidate string, lead func(bool)) host.Controller {
	lives := 0
	return host.Controller{
		Name: "manager", Workers: 1,
		New: func(env *host.Env) host.Reconciler {
			lives++
			env.Queue.Add(name)
			return &elector{env: env, lead: lead, candidate: candidate, life: lives}
		},
	}
}

type elector struct {
	env       *host.Env
	lead      func(bool)
	candidate string
	life      int

	leading bool
	renewed time.Time             // the last time at which this candidate certainly held the lease
	lease   *coordinationv1.Lease // as last read or written
	since   time.Time             // when this candidate first saw the spec of lease
}

func (e *elector) identity() string { return fmt.Sprintf("%s_%d", e.candidate, e.life) }

// Sync tries once to take or to keep the lease, and then requeues.
func (e *elector) Sync(ctx context.Context, key string) error {
	asked := e.env.Now()
	// The deadline starts with the first failed try, which is one retry period after the last success.
	over := e.leading && asked.Sub(e.renewed) >= retry+deadline
	switch held := !over && e.try(ctx); {
	case over:
		// The candidate gets another identity, like a restarted process.
		e.leading, e.lease = false, nil
		e.life++
		e.lead(false)
	case held && !e.leading:
		e.leading, e.renewed = true, asked
		e.lead(true)
	case held:
		e.renewed = asked
	}
	e.env.Queue.AddAfter(key, retry)
	return nil
}

// try acquires or renews the lease, unless another candidate has it. It reports whether it succeeded.
func (e *elector) try(ctx context.Context) bool {
	// The holder writes the lease as last seen. It reads the lease only if this write fails.
	if e.holds() && e.write(e.env.Client.Update(ctx, e.claim(e.lease))) {
		return true
	}
	obj, err := e.env.Client.Get(ctx, leaseKind, namespace, name)
	if apierrors.IsNotFound(err) {
		return e.write(e.env.Client.Create(ctx, e.claim(nil)))
	}
	if err != nil {
		return false
	}
	found := obj.(*coordinationv1.Lease)
	// Compare only the spec: annotating a lease does not renew it.
	if e.lease == nil || !equality.Semantic.DeepEqual(found.Spec, e.lease.Spec) {
		e.since = e.env.Now()
	}
	e.lease = found
	if holder := holderOf(found); holder != "" && holder != e.identity() && e.valid() {
		return false
	}
	return e.write(e.env.Client.Update(ctx, e.claim(found)))
}

// holds reports whether the candidate believes that it has the lease.
func (e *elector) holds() bool {
	return e.lease != nil && holderOf(e.lease) == e.identity() && e.valid()
}

func (e *elector) valid() bool { return e.env.Now().Before(e.since.Add(term(e.lease))) }

// write handles the response to a write of the lease, and reports whether the write succeeded.
func (e *elector) write(obj any, err error) bool {
	if err != nil {
		return false
	}
	e.lease, e.since = obj.(*coordinationv1.Lease), e.env.Now()
	return true
}

// claim returns a lease with the candidate as its holder. The lease is a copy of found, or new if found is nil.
func (e *elector) claim(found *coordinationv1.Lease) *coordinationv1.Lease {
	now, seconds, holder := metav1.NewMicroTime(e.env.Now()), int32(duration/time.Second), e.identity()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if found != nil {
		lease = found.DeepCopy()
	}
	s := &lease.Spec
	if holderOf(lease) != holder {
		transitions := int32(0)
		if s.LeaseTransitions != nil {
			transitions = *s.LeaseTransitions
		}
		if found != nil {
			transitions++
		}
		s.AcquireTime, s.LeaseTransitions, s.HolderIdentity = &now, &transitions, &holder
	}
	s.RenewTime, s.LeaseDurationSeconds = &now, &seconds
	return lease
}

func term(l *coordinationv1.Lease) time.Duration {
	if l.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
}

func holderOf(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func (e *elector) Digest(h *sim.Hash) {
	h.Bool(e.leading)
	h.Word(uint64(e.life))
	now := e.env.Now()
	if e.leading {
		h.Word(uint64(now.Sub(e.renewed)))
	}
	if e.lease != nil {
		s := &e.lease.Spec
		if e.holds() {
			h.String(e.lease.ResourceVersion) // a renewal must name this version
		}
		h.String(holderOf(e.lease))
		h.Word(uint64(term(e.lease)))
		if h.Bool(s.LeaseTransitions != nil); s.LeaseTransitions != nil {
			h.Word(uint64(*s.LeaseTransitions))
		}
		for _, at := range []*metav1.MicroTime{s.AcquireTime, s.RenewTime} {
			if h.Bool(at != nil); at != nil {
				h.Word(uint64(now.Sub(at.Time)))
			}
		}
		h.Word(uint64(now.Sub(e.since)))
	}
}
