package controllerruntime

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// limiter says when a request that failed is tried again.
type limiter = workqueue.TypedRateLimiter[reconcile.Request]

// onWorldClock returns a limiter in which token buckets go by the world's clock. Their
// own would make runs of one schedule differ.
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

// bucket is a token bucket on the world's clock.
type bucket struct {
	*workqueue.TypedBucketRateLimiter[reconcile.Request]
	now func() time.Time
}

// When takes a token and says when it is there.
func (b bucket) When(reconcile.Request) time.Duration {
	now := b.now()
	return b.ReserveN(now, 1).DelayFrom(now)
}
