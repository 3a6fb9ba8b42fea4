package controllerruntime

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// requests is the process's queue as the handlers of one source see it.
type requests struct {
	queue workqueue.TypedRateLimitingInterface[string]
	// direct: what is added is added at once. What a handler for owners adds waits for the
	// end of its call and is put into an order: it ranges over a map.
	direct  bool
	pending []reconcile.Request
}

// Add marks a request as needing work.
func (q *requests) Add(r reconcile.Request) {
	if q.direct {
		q.queue.Add(keyOf(r))
		return
	}
	q.pending = append(q.pending, r)
}

// flush adds what a handler has added in its call.
func (q *requests) flush() {
	if q == nil || len(q.pending) == 0 {
		return
	}
	slices.SortFunc(q.pending, func(a, b reconcile.Request) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range q.pending {
		q.queue.Add(keyOf(r))
	}
	q.pending = q.pending[:0]
}

// AddAfter adds a request once d has passed.
func (q *requests) AddAfter(r reconcile.Request, d time.Duration) { q.queue.AddAfter(keyOf(r), d) }

// AddRateLimited adds a request after its backoff.
func (q *requests) AddRateLimited(r reconcile.Request) { q.queue.AddRateLimited(keyOf(r)) }

// Forget resets a request's backoff.
func (q *requests) Forget(r reconcile.Request) { q.queue.Forget(keyOf(r)) }

// NumRequeues is how often a request was added with backoff.
func (q *requests) NumRequeues(r reconcile.Request) int { return q.queue.NumRequeues(keyOf(r)) }

// Len is how many requests wait.
func (q *requests) Len() int { return q.queue.Len() }

// Get, Done and the others are the workers' business, not the handlers'.
func (q *requests) Get() (reconcile.Request, bool) { return reconcile.Request{}, true }

// Done does nothing.
func (q *requests) Done(reconcile.Request) {}

// ShutDown does nothing: the host ends processes.
func (q *requests) ShutDown() {}

// ShutDownWithDrain does nothing.
func (q *requests) ShutDownWithDrain() {}

// ShuttingDown is false.
func (q *requests) ShuttingDown() bool { return false }

// keyOf is the host's key of a request: namespace/name, or the name alone. A name that has
// a slash in it, which no object's has, begins with one more.
func keyOf(r reconcile.Request) string {
	if r.Namespace == "" && !strings.Contains(r.Name, "/") {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// requestOf is the request of a key.
func requestOf(key string) reconcile.Request {
	if namespace, name, ok := strings.Cut(key, "/"); ok {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	}
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: key}}
}
