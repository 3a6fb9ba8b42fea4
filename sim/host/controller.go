package host

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/law"
)

// Controller declares a program that reconciles objects of one kind, and its Contract. It is a value; the
// table of controllers consists of them.
type Controller struct {
	Name string // "replicaset"
	Era  string // "controllerref"; "" when there is only one

	For  schema.GroupVersionKind   // the kind it syncs; zero for controllers without one (the garbage collector)
	Owns []schema.GroupVersionKind // the kinds it creates, claims and deletes

	// New makes the controller's memory. It is called at every start, also after a crash. Only the API
	// survives a crash.
	New func(env *Env) Reconciler
	// Routes map events to keys. They run before handlers that the controller adds to its informers itself.
	Routes []Route

	Workers int     // how many keys may be synced at once; 0 means 1
	Backoff Backoff // delays of the key of a failed sync; zero: the defaults of client-go's queues (WRITE-8)

	// Goroutines, if set, runs New and each Sync as a [Program] on goroutines of its own, so that a Sync may
	// start goroutines. The program calls run once and ends with it. The ask that it passes waits until a
	// call is answered. See Concurrent of package bubble.
	Goroutines func(at Place, run func(ctx context.Context, ask Ask) error) Program
	// Inside, if set, returns a function that runs New, handlers and syncs, one after another, where time.Now
	// is the world's time. See Timed of package bubble.
	Inside func(at Place) func(do func())

	Contract law.Contract // what the laws may expect of it
	Careless Careless     // rules of writing controllers that its queue violates

	program bool // a whole program; set by [Hosting]
}

// Hosted reports whether the controller is a whole program ([Hosting]).
func (ctl *Controller) Hosted() bool { return ctl.program }

// Careless are rules of writing controllers that the host violates for a controller. Mutants leave them out,
// and a program with a queue of its own does not need the host's.
type Careless struct {
	StartUnsynced bool // workers start before the caches have synced (WRITE-6)
	SharedKeys    bool // a key may be synced by two workers at once (WRITE-1)
	HastyDelays   bool // ... if its delay ends while it is being synced
	DropErrors    bool // a failed sync is not retried (WRITE-8)
}

// Env is the environment of one incarnation of a controller.
type Env struct {
	Client Client
	Queue  workqueue.TypedRateLimitingInterface[string]
	Now    func() time.Time
	// Informer returns the process's shared informer of a kind, the same one at every call. Generated listers
	// work on its indexer.
	Informer func(gvk schema.GroupVersionKind) cache.SharedIndexInformer
	// Behind returns how many deliveries of a kind the process's cache lacks until it is as new as a resource
	// version. It is 0 for a kind that the process does not watch and for a version that is no number. Unlike
	// LastStoreSyncResourceVersion it keeps revisions out of the state: they depend on everything that ever
	// happened.
	Behind func(gvk schema.GroupVersionKind, resourceVersion string) int
	// Kinds returns the server's current table, for controllers that work on any kind. CRDs come and go while
	// they run.
	Kinds func() []*fakeapi.Kind
	// Served is Kinds with further versions of the kinds, which references may name.
	Served func() []*fakeapi.Kind

	_ struct{}
}

// Client is the API for a controller. Every method is one request. The worker is parked until the scheduler
// has executed the request and, in a step of its own, delivered the response. Errors are
// *apierrors.StatusError. Returned objects are stored versions, shared by everybody: change a DeepCopy.
// Objects passed in stay the caller's.
type Client interface {
	Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error)
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace string, opts metav1.ListOptions) ([]runtime.Object,
		error)
	Create(ctx context.Context, obj runtime.Object) (runtime.Object, error)
	Update(ctx context.Context, obj runtime.Object) (runtime.Object, error)
	UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error)
	Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, p Patch) (runtime.Object, error)
	Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, opts metav1.DeleteOptions) error
	// Do sends any other request.
	Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error)
}

// Route is a pure function from an event on one kind to its effect on the queue and on expectations. So the
// routing clauses (WATCH-1 to WATCH-6) can be tested as tables.
type Route struct {
	Kind schema.GroupVersionKind
	// Do receives the process's view after the event.
	Do func(v View, e Event, out *Effect)
}

// Event is one change as a handler sees it. A nil Old is an addition. A nil New is a deletion, and with
// Tombstone its Old may be out of date.
type Event struct {
	Old, New  runtime.Object
	Tombstone bool
}

// Effect collects the effect of an event.
type Effect struct {
	Keys    []string // to enqueue, in this order
	Delayed []Delayed
	Created []string // keys whose expected creations are lowered by one
	Deleted []string // keys whose expected deletion of this object is fulfilled
	Forget  []string // keys whose expectations are dropped (the owner is gone or replaced)
}

// Delayed is a key to enqueue after a while.
type Delayed struct {
	Key   string
	After time.Duration
}

// View reads the process's caches.
type View interface {
	// Get returns the cached object, nil if there is none.
	Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object
	// Each calls f for the cached objects of a kind in a namespace ("" for all), in key order, until f
	// returns false.
	Each(gvk schema.GroupVersionKind, namespace string, f func(runtime.Object) bool)
}
