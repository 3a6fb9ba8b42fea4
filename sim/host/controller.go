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

// Controller says what runs: a program that reconciles objects of one kind, and its Contract. It is a value; the table
// of controllers is made of them.
type Controller struct {
	Name string // "replicaset"
	Era  string // "controllerref"; "" when there is only one

	For  schema.GroupVersionKind   // the kind it syncs; zero for controllers without one (the garbage collector)
	Owns []schema.GroupVersionKind // the kinds it creates, claims and deletes

	// New makes the controller's memory. It is called at every start and again after each crash: whatever it does not
	// get from the API is lost.
	New func(env *Env) Reconciler
	// Routes say what events enqueue. They run before handlers that the controller adds to its informers itself.
	Routes []Route

	Workers int     // how many keys may be synced at once; 0 means 1
	Backoff Backoff // how long the key of a failed sync waits; zero: as client-go's queues do by default (WRITE-8)

	// Goroutines, if set, runs a Sync that may start goroutines, and New, on goroutines of its own: a [Program] for each
	// of them, which calls run once and ends with it. The ask that run is given waits until a call is answered. See
	// Concurrent of package bubble.
	Goroutines func(at Place, run func(ctx context.Context, ask Ask) error) Program
	// Inside, if set, returns what runs New, handlers and syncs, one piece after another, where the time of day is the
	// world's. See Timed of package bubble.
	Inside func(at Place) func(do func())

	Contract law.Contract // what the laws may expect of it
	Careless Careless     // rules of writing controllers that its queue breaks

	program bool // it is a whole program; [Hosting] sets it
}

// Hosted reports whether the controller is a whole program ([Hosting]).
func (ctl *Controller) Hosted() bool { return ctl.program }

// Careless are rules of writing controllers that the host breaks for a controller: mutants leave out what every
// controller needs, and a program with a queue of its own has no use for the host's.
type Careless struct {
	StartUnsynced bool // workers start before the caches have synced (WRITE-6)
	SharedKeys    bool // a key may be synced by two workers at once (WRITE-1)
	HastyDelays   bool // ... if its delay is over while it is being synced
	DropErrors    bool // a failed sync is not retried (WRITE-8)
}

// Env is what the host gives to one incarnation of a controller.
type Env struct {
	Client Client
	Queue  workqueue.TypedRateLimitingInterface[string]
	Now    func() time.Time
	// Informer returns the process's shared informer of a kind, the same one at
	// every call. Generated listers work on its indexer.
	Informer func(gvk schema.GroupVersionKind) cache.SharedIndexInformer
	// Behind is how many deliveries of a kind the process's cache is yet to see until
	// it is as new as a resource version: 0 where it is, and where that cannot be
	// told (a kind that the process does not watch, no number). Unlike the
	// LastStoreSyncResourceVersion of the informer's store it keeps revisions, which
	// depend on everything that ever happened, out of what a state is known by.
	Behind func(gvk schema.GroupVersionKind, resourceVersion string) int
	// Kinds is the server's table as it stands, for controllers that work on any
	// kind: definitions come and go while they run.
	Kinds func() []*fakeapi.Kind
	// Served is the same with further versions of the kinds: what references may name.
	Served func() []*fakeapi.Kind

	_ struct{}
}

// Client is the API as a controller meets it. Every method is one request: the
// worker gives up the processor until the scheduler has executed the request
// and, in a step of its own, delivered the response. Errors are
// *apierrors.StatusError. Objects returned are stored versions, shared by
// everybody: change a DeepCopy. Objects handed in are the caller's.
type Client interface {
	Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error)
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace string, opts metav1.ListOptions) ([]runtime.Object,
		error)
	Create(ctx context.Context, obj runtime.Object) (runtime.Object, error)
	Update(ctx context.Context, obj runtime.Object) (runtime.Object, error)
	UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error)
	Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, p Patch) (runtime.Object, error)
	Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, opts metav1.DeleteOptions) error
	// Do sends any other request the server knows.
	Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error)
}

// Route is a pure function from an event on one kind to what it does to the
// queue and to expectations, so that the routing clauses (WATCH-1 to WATCH-6)
// can be tested as tables.
type Route struct {
	Kind schema.GroupVersionKind
	// Do is given the process's view as it stands after the event.
	Do func(v View, e Event, out *Effect)
}

// Event is one change as a handler sees it. Old nil is an addition, New nil a
// deletion (Old then may be out of date: Tombstone).
type Event struct {
	Old, New  runtime.Object
	Tombstone bool
}

// Effect collects what an event does.
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
	// Get returns the cached object, nil when there is none.
	Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object
	// Each calls f for the cached objects of a kind in a namespace ("" for
	// all), in key order, until f returns false.
	Each(gvk schema.GroupVersionKind, namespace string, f func(runtime.Object) bool)
}
