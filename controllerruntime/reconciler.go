package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/threelaws/threelaws/sim/host"
)

// reconciler runs a controller's Reconcile like controller-runtime's worker.
type reconciler struct {
	p       *process
	c       *controller
	limiter limiter
	ctx     context.Context // shared by all reconciles if there is neither a log sink nor Options.Goroutines
	sources int             // number of started sources
}

func newReconciler(p *process, c *controller) *reconciler {
	return &reconciler{p: p, c: c, limiter: onWorldClock(c.limiter, p.env.Now), sources: len(*c.sources),
		ctx: log.IntoContext(context.Background(), p.o.Logger)}
}

// Sync reconciles one request. After an error (except a TerminalError), or with Requeue, Sync requeues the request by
// the controller's rate limiter. With RequeueAfter, Sync requeues the request after this time. DropErrors keeps the
// host from requeueing. The host would reset the delay after a Requeue, which is no error.
func (r *reconciler) Sync(of context.Context, key string) error {
	req, ctx := requestOf(key), r.ctx
	switch {
	case r.p.o.Logger.GetSink() != nil:
		ctx = log.IntoContext(of, r.c.log(&req))
	case r.p.o.Goroutines:
		ctx = log.IntoContext(of, r.p.o.Logger)
	}
	result, err := r.c.do.Reconcile(ctx, req)
	if len(*r.c.sources) != r.sources {
		panic(host.Misuse(fmt.Sprintf("controller %s adds a watch while it runs: the sources are those of its setup",
			r.c.name)))
	}
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
		return nil // no retry is needed
	case err != nil:
		r.p.env.Queue.AddAfter(key, r.limiter.When(req))
	case result.RequeueAfter > 0:
		r.limiter.Forget(req)
		r.p.env.Queue.AddAfter(key, result.RequeueAfter)
	case result.Requeue: // nolint:staticcheck // for as long as controller-runtime has it
		r.p.env.Queue.AddAfter(key, r.limiter.When(req))
	default:
		r.limiter.Forget(req)
	}
	return err
}

type limiter = workqueue.TypedRateLimiter[reconcile.Request]

// onWorldClock returns a limiter whose token buckets use the world's clock. With the real clock, two runs of a schedule
// would differ.
func onWorldClock(l limiter, now func() time.Time) limiter {
	switch l := l.(type) {
	case *workqueue.TypedBucketRateLimiter[reconcile.Request]:
		return bucket{l, now}
	case *workqueue.TypedMaxOfRateLimiter[reconcile.Request]:
		limiters := *field[[]limiter](l, "limiters")
		all := make([]limiter, len(limiters))
		for i, each := range limiters {
			all[i] = onWorldClock(each, now)
		}
		return workqueue.NewTypedMaxOfRateLimiter(all...)
	case *workqueue.TypedWithMaxWaitRateLimiter[reconcile.Request]:
		within := onWorldClock(*field[limiter](l, "limiter"), now)
		return workqueue.NewTypedWithMaxWaitRateLimiter(within, *field[time.Duration](l, "maxDelay"))
	}
	return l
}

type bucket struct {
	*workqueue.TypedBucketRateLimiter[reconcile.Request]
	now func() time.Time
}

func (b bucket) When(reconcile.Request) time.Duration {
	now := b.now()
	return b.ReserveN(now, 1).DelayFrom(now)
}
