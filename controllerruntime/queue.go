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

// requests is the queue to which the handlers of one source add requests. It fills the queue of the process.
type requests struct {
	queue workqueue.TypedRateLimitingInterface[string]
	// direct passes requests on at once. Otherwise the requests of one handler call are sorted first, because a handler
	// that enqueues owners ranges over a map.
	direct  bool
	pending []reconcile.Request
}

func (q *requests) Add(r reconcile.Request) {
	if q.direct {
		q.queue.Add(keyOf(r))
		return
	}
	q.pending = append(q.pending, r)
}

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

func (q *requests) AddAfter(r reconcile.Request, d time.Duration) { q.queue.AddAfter(keyOf(r), d) }

func (q *requests) AddRateLimited(r reconcile.Request) { q.queue.AddRateLimited(keyOf(r)) }

func (q *requests) Forget(r reconcile.Request) { q.queue.Forget(keyOf(r)) }

func (q *requests) NumRequeues(r reconcile.Request) int { return q.queue.NumRequeues(keyOf(r)) }

func (q *requests) Len() int { return q.queue.Len() }

// Only workers call the following methods. Handlers never do, so the methods do nothing.
func (q *requests) Get() (reconcile.Request, bool) { return reconcile.Request{}, true }

func (q *requests) Done(reconcile.Request) {}

func (q *requests) ShutDown() {}

func (q *requests) ShutDownWithDrain() {}

func (q *requests) ShuttingDown() bool { return false }

// keyOf returns the host's key of a request: namespace/name, or only the name. A name that contains a slash gets
// another slash in front. No object has such a name.
func keyOf(r reconcile.Request) string {
	if r.Namespace == "" && !strings.Contains(r.Name, "/") {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

func requestOf(key string) reconcile.Request {
	if namespace, name, ok := strings.Cut(key, "/"); ok {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	}
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: key}}
}
