package controllerruntime

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/threelaws/threelaws/sim/host"
)

// reconciler is a controller at work: what controller-runtime's worker does with a request.
type reconciler struct {
	p       *process
	c       *controller
	limiter limiter
	ctx     context.Context // of syncs, where nobody listens to the log
	sources int             // that were started
}

func newReconciler(p *process, c *controller) *reconciler {
	return &reconciler{p: p, c: c, limiter: onWorldClock(c.limiter, p.env.Now), sources: len(*c.sources),
		ctx: log.IntoContext(context.Background(), p.o.Logger)}
}

// Sync reconciles one request and puts it back as its result says: after an error and
// with Requeue when the controller's rate limiter says, after RequeueAfter else. The host
// does not put it back itself (DropErrors): its limiter would forget a request that asks
// for another turn without an error.
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
		return nil // that it is not tried again is what was meant
	case err != nil:
		r.p.env.Queue.AddAfter(key, r.limiter.When(req))
	case result.RequeueAfter > 0:
		r.limiter.Forget(req)
		r.p.env.Queue.AddAfter(key, result.RequeueAfter)
	case result.Requeue: //nolint:staticcheck // as long as controller-runtime has it
		r.p.env.Queue.AddAfter(key, r.limiter.When(req))
	default:
		r.limiter.Forget(req)
	}
	return err
}
