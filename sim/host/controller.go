package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/law"
)

// Controller declares a program that reconciles objects of one kind, and its Contract.
type Controller struct {
	Name string // "replicaset"
	Era  string // "controllerref"; "" if there is only one era

	For  schema.GroupVersionKind   // the reconciled kind; zero for none, as for the garbage collector
	Owns []schema.GroupVersionKind // the kinds of objects that the controller creates, claims and deletes

	// New returns the controller's reconciler, with empty memory. The host calls it at every start, also after a crash.
	New func(env *Env) Reconciler
	// Routes map events to keys. They are called before the handlers that the controller itself adds to informers.
	Routes []Route
	// Reads are further kinds that its caches contain. Their events enqueue nothing.
	Reads []schema.GroupVersionKind

	Workers int     // how many keys may be reconciled at the same time; 0 means 1
	Backoff Backoff // delays of a key whose reconcile failed; zero means client-go's defaults (WRITE-8)

	// Goroutines must be set if a Sync starts goroutines: see Concurrent of package bubble. The host calls it for New,
	// for handlers and for each Sync. The returned [Program] calls run once, and ends when run returns. With ask, run
	// sends a request and waits for the answer.
	Goroutines func(at Place, run func(ctx context.Context, ask Ask) error) Program
	// Inside, if set, makes time.Now return the world's time in New, handlers and syncs. The host runs each of them
	// through the function that Inside returns. See Timed of package bubble.
	Inside func(at Place) func(do func())

	Contract law.Contract // what the laws may expect of the controller
	Careless Careless     // rules that the host does not enforce for this controller

	// Announces is set for a whole program that announces its reconciles: see [Announced].
	Announces bool

	program bool // set by [Hosting] for a whole program
}

// FullName returns "name@era", or "name" without an era.
func (ctl *Controller) FullName() string {
	if ctl.Era == "" {
		return ctl.Name
	}
	return ctl.Name + "@" + ctl.Era
}

// Hosted reports whether the controller is a whole program ([Hosting]).
func (ctl *Controller) Hosted() bool { return ctl.program }

// Careless lists the WRITE rules that the host does not enforce for a controller. Mutants violate these rules on
// purpose. A whole program has its own queue, so the host enforces none of them.
type Careless struct {
	StartUnsynced bool // workers start before the caches have synced (WRITE-6)
	SharedKeys    bool // two workers may reconcile the same key at the same time (WRITE-1)
	HastyDelays   bool // two workers may get a key if its delay ends while one of them reconciles it (WRITE-1)
	DropErrors    bool // a failed reconcile is not retried (WRITE-8)
}

// Env is the environment of one incarnation of a controller.
type Env struct {
	Client Client
	Queue  workqueue.TypedRateLimitingInterface[string]
	Now    func() time.Time
	// Informer returns the process's shared informer of a kind, the same one at every call. Generated listers
	// work on its indexer.
	Informer func(gvk schema.GroupVersionKind) cache.SharedIndexInformer
	// Behind returns how many more deliveries a cache needs until it has reached a resource version. It is 0 for a kind
	// that the process does not watch, and for a version that is not a number. With Behind instead of
	// LastStoreSyncResourceVersion, a controller's state contains no revisions, so exhaustive search can merge more
	// states.
	Behind func(gvk schema.GroupVersionKind, resourceVersion string) int
	// Kinds returns the server's current kinds, for controllers that work on any kind. CRDs may be added and removed
	// while a controller runs.
	Kinds func() []*fakeapi.Kind
	// Served is like Kinds, but includes all versions of each kind, because references may name any version.
	Served func() []*fakeapi.Kind

	_ struct{}
}

// Client is a controller's access to the API. Every method sends one request. The worker waits until the scheduler has
// executed the request and, in a separate step, delivered the response. Errors are *apierrors.StatusError. Returned
// objects are shared: change only a DeepCopy. The client neither changes nor keeps the objects in its arguments.
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

// Patch is the body of a patch request.
type Patch struct {
	Type        types.PatchType
	Data        []byte
	Subresource string // "" or "status"
}

// Route says what the events of one kind do to the queue and to expectations. Do is a pure function, so table tests can
// check the routing clauses (WATCH-1 to WATCH-6).
type Route struct {
	Kind schema.GroupVersionKind
	// Do adds the effect of the event e to out. v shows the process's caches as they are after the event.
	Do func(v View, e Event, out *Effect)
}

// Event is one change as a handler receives it. Old is nil for an addition, and New is nil for a deletion. Tombstone is
// set if only a relist showed the deletion. Then Old may be out of date.
type Event struct {
	Old, New  runtime.Object
	Tombstone bool
}

// Effect is the result of the routes for one event.
type Effect struct {
	Keys    []string // keys to enqueue, in this order
	Delayed []Delayed
	Created []string // keys with an expected creation that this event fulfils
	Deleted []string // keys with an expected deletion that this event fulfils
	Forget  []string // keys whose expectations are dropped, because the owner is gone or recreated
}

// Delayed is a key to enqueue after a delay.
type Delayed struct {
	Key   string
	After time.Duration
}

// View reads the process's caches.
type View interface {
	// Get returns the cached object, or nil.
	Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object
	// Each calls f for the cached objects of a kind in a namespace ("" for all), in key order, until f returns false.
	Each(gvk schema.GroupVersionKind, namespace string, f func(runtime.Object) bool)
}

// Reconciler is a controller's memory and its reconcile function. Optional methods make it a [Waiter], an
// [ExpectationObserver] or a [Forgetter].
//
// A Reconciler that can digest its memory is a [sim.Digester]. The digest covers all memory that a later reconcile,
// route or timer uses, with times relative to the current time. Exhaustive search compares states by this digest.
// Without a digest, the search assumes that the controller remembers each event and each answer that the process has
// received. A [Stateless] function has no memory.
type Reconciler interface {
	// Sync brings the object named by key ("namespace/name") closer to its desired state. Every call on env.Client is a
	// scheduling point. After an error the key is added again with backoff.
	Sync(ctx context.Context, key string) error
}

// SyncFunc is a function that is a Reconciler. It may keep data between reconciles. If it keeps none, use [Stateless].
type SyncFunc func(ctx context.Context, key string) error

// Sync calls f.
func (f SyncFunc) Sync(ctx context.Context, key string) error { return f(ctx, key) }

// Stateless is a Reconciler that remembers nothing between reconciles, so exhaustive search can merge equal states.
type Stateless func(ctx context.Context, key string) error

// Sync calls f.
func (f Stateless) Sync(ctx context.Context, key string) error { return f(ctx, key) }

// Waiter is a Reconciler that delays work on a key until expected events arrive. Waiting lists these keys. If a key is
// still in the list when the world has settled, the key waits forever (WATCH-7).
type Waiter interface {
	Waiting() []string
}

// ExpectationObserver is a Reconciler with expectations. The host calls Observed for each key that routes add to
// Created or Deleted of an [Effect] (WATCH-2).
type ExpectationObserver interface {
	// Observed lowers the expectations of key, because object ("namespace/name") was created or, if deletion is set,
	// deleted.
	Observed(key string, deletion bool, object string)
}

// Forgetter is a Reconciler that can drop its memory of a key.
type Forgetter interface {
	Forget(key string)
}

// Mutant is a controller that violates a rule on purpose. Most mutants lack one guard. Tests run each mutant and expect
// the violation that Law names.
type Mutant struct {
	Name     string // "replicaset/skip-recheck"
	Clause   string // the clause that the guard enforces: "ADOPT-4"
	Sentence string // what the mutant does wrong
	// Law is the ID of the law that must find the mutant. It is "" if no law finds the mutant: for example, the
	// controller corrects the mistake later.
	Law string

	Make func() Controller
}

// notInNames are characters that separate names in files and on command lines. So names cannot contain them.
const notInNames = " \t\r\n\"'@#,="

// Check returns the first mistake in a controller's declaration, in one line, or nil.
func (ctl *Controller) Check() error {
	what := ctl.mistake()
	if what == "" {
		return nil
	}
	if ctl.Name == "" {
		return fmt.Errorf("a controller for %s: %s", orNothing(ctl.For.Kind), what)
	}
	return fmt.Errorf("controller %s: %s", ctl.Name, what)
}

func (ctl *Controller) mistake() string {
	switch {
	case ctl.Name == "":
		return "Name is empty: processes, files and pages name it"
	case strings.ContainsAny(ctl.Name, notInNames):
		return "a Name is one word, without quotes and @ # , ="
	case ctl.Name == "user" || ctl.Name == apiserver:
		return "the Name is taken: so whoever acts from outside the world is called"
	case strings.ContainsAny(ctl.Era, notInNames):
		return fmt.Sprintf("Era %q: it is one word, without quotes and @ # , =", ctl.Era)
	case ctl.New == nil:
		return "New is nil: it makes the memory and the Sync of each start"
	case ctl.program && (len(ctl.Routes)+len(ctl.Reads) > 0 || ctl.Workers > 0):
		return "Routes, Reads and Workers are of a reconciler: a whole program has its own"
	case ctl.For.Empty() && (len(ctl.Owns) > 0 || ctl.Contract.Replicas != nil || ctl.Contract.Selector != nil):
		return "For is empty: the laws ask what it does for each object of that kind"
	}
	if err := ctl.Contract.Check(); err != nil {
		return err.Error()
	}
	for i, gvk := range ctl.Contract.Unwatched {
		if !slices.Contains(ctl.Owns, gvk) {
			return fmt.Sprintf("Unwatched[%d]: %s is none of Owns", i, gvk.Kind)
		}
	}
	for i, r := range ctl.Routes {
		switch {
		case ctl.Contract.Polls:
			return fmt.Sprintf("Routes[%d], of %s: the controller Polls, so no event enqueues anything: remove the route", i,
				r.Kind.Kind)
		case slices.Contains(ctl.Contract.Unwatched, r.Kind):
			return fmt.Sprintf("Routes[%d]: %s is Unwatched: no event of it arrives, so its function is not called", i, r.Kind.Kind)
		case r.Kind.Empty():
			return fmt.Sprintf("Routes[%d]: Kind is empty: events of which kind?", i)
		case r.Do == nil:
			return fmt.Sprintf("Routes[%d], of %s: Do is nil: it says what an event enqueues", i, r.Kind.Kind)
		}
	}
	return ""
}

func orNothing(kind string) string {
	if kind == "" {
		return "no kind"
	}
	return kind
}
