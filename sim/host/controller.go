package host

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Controller is a subject: a program that reconciles objects of one kind. It is
// a value; the table of controllers is made of them.
type Controller struct {
	Name       string // "replicaset"
	Generation string // "controllerref"; "" when there is only one

	For  schema.GroupVersionKind   // the kind it syncs; zero for controllers without one (the garbage collector)
	Owns []schema.GroupVersionKind // the kinds it creates, claims and deletes

	// New makes the controller's memory. It is called at every start and again
	// after each crash: whatever it does not get from the API is lost.
	New func(env *Env) Reconciler
	// Routes say what events enqueue. They are run before handlers that the
	// controller adds to its informers itself.
	Routes []Route

	// Workers is how many keys may be synced at once; 0 means 1.
	Workers int
	// Backoff is how long a key waits whose sync has failed; zero: as client-go's queues
	// have it unless told otherwise (WRITE-8).
	Backoff Backoff
	// Goroutines, if set, is what runs a Sync that may start goroutines, and New, on goroutines
	// of its own: a [Program] for each of them, which calls run once and ends with it. The ask
	// that run is given waits until a call is answered. Package bubble has one: see its Concurrent.
	Goroutines func(at Place, run func(ctx context.Context, ask Ask) error) Program

	// Inside, if set, returns what runs the controller's code, New, handlers and syncs, one piece after another, where
	// the time of day is the world's. Package bubble has one: see its Timed.
	Inside func(at Place) func(do func())

	// Selector and Replicas tell the laws what an object of kind For asks for.
	// Any may be nil. Selector may return nil for "selects nothing, or cannot be read",
	// and Replicas a negative number for "nothing is done about its dependents".
	Selector func(owner runtime.Object) labels.Selector
	Replicas func(owner runtime.Object) int
	// Surge is how many active dependents an object may have above what it asks
	// for, Unavailable how many it may lack because the controller itself deleted
	// some, as a rolling update does; nil: none, not even for a moment (EXACT-1,
	// EXACT-2).
	Surge       func(owner runtime.Object) int
	Unavailable func(owner runtime.Object) int
	// Most is how many active dependents an object may have at one time, for a kind
	// that wants no number of them, as a CronJob; negative for any number. A create
	// may not bring them above it (EXACT-2).
	Most func(owner runtime.Object) int
	// Identity is what no two active dependents of one owner may both be: an
	// ordinal, a node, an index, a scheduled time; "" for a dependent that may be
	// there twice (EXACT-3).
	Identity func(dependent runtime.Object) string
	// Wanted is whether an owner asks for this very dependent, where one is not as good
	// as another: web-1 is not put in place of web-0. What is not wanted may go however
	// few there are, and what is wanted may come however many others there are, but for
	// those that are wanted, too (EXACT-1, EXACT-2). Nil: any is as good as another.
	Wanted func(owner, dependent runtime.Object) bool
	// Awaits is whether no more dependents are made while this one of the owner's is as
	// it is: one that is not ready yet, or whose name is not free yet; nil: never
	// (NOFIGHT-3).
	Awaits func(owner, dependent runtime.Object) bool
	// Willing is whether an owner would have a dependent that its selector matches, as
	// one that goes by names as well; nil: always (ADOPT-1, ADOPT-2, ORPHAN-1).
	Willing func(owner, dependent runtime.Object) bool
	// Unwatched are those of Owns of which no event wakes anybody: what becomes of them
	// is seen at the next sync, whatever that is for.
	Unwatched []schema.GroupVersionKind
	// Twins reports whether an owner may have two dependents of one identity for a
	// while, as an update with a surge makes them; nil: none may.
	Twins func(owner, a, b runtime.Object) bool
	// Amiss says what is wrong at rest with the dependents that an object controls,
	// those that are being deleted included, where that depends on what others are
	// like: a DaemonSet wants one for each node that is eligible. "" is nothing; all
	// lists what is stored of a kind (KIND-DS).
	Amiss func(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string
	// Neglects is as Amiss for what no event wakes anybody for, but which a sync puts right:
	// it is asked of an object that was synced since its controller was shown everything.
	Neglects func(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string
	// Lacks says what a dependent rests on that is not there, is another's, or is on its
	// way out: the revision that it is of, a claim that it mounts; "" for nothing. None is
	// made that lacks something, and what one that is there rests on is not deleted. all
	// lists what is there of a kind (EXACT-9).
	Lacks func(owner, dependent runtime.Object, all func(kind string) []runtime.Object) string
	// Oversteps says in what a write to one dependent, nil before for one that is made and
	// after for one that is deleted, goes beyond what an owner allows of all of them
	// together, as a rollout its surge; others are the rest of those that it controls, and
	// all lists what is there of a kind; "" for nothing (EXACT-11).
	Oversteps func(owner runtime.Object, others []runtime.Object, before, after runtime.Object, now time.Time,
		all func(kind string) []runtime.Object) string
	// Strands says what is to go with a dependent, and would stay if that were deleted as
	// things are: a claim that is not the pod's yet; "" for nothing. Its controller ties it
	// to the dependent first (EXACT-10).
	Strands func(owner, dependent runtime.Object, all func(kind string) []runtime.Object) string
	// Retries names what is tried again when this dependent, which has failed, is deleted to be
	// made anew, so that what fails again and again is not replaced as fast as it fails; "" for
	// nothing (WRITE-8).
	Retries func(owner, dependent runtime.Object, all func(kind string) []runtime.Object) string
	// Counts are the numbers in an object's status that count its dependents
	// (EXACT-8).
	Counts []Count
	// Counted is how many dependents an owner's status says it has.
	Counted func(owner runtime.Object) int
	// Active tells the laws whether a dependent counts, one that is being deleted
	// aside; nil: each does.
	Active func(dependent runtime.Object) bool

	// Leaves reports whether an object is one that it does nothing for any more, or
	// nothing at all, as a Job that has ended: it neither adopts for it nor releases.
	Leaves func(owner runtime.Object) bool

	// Profile says which laws it is held to: without more those that any controller
	// owes the others.
	Profile Profile
	// Standalone are the objects that it makes for itself, by kind, namespace and name: a certificate, an identifier,
	// a lease. They have no owner, also where they are of a kind of Owns (LAW-1).
	Standalone []sim.Ref
	// Also are kinds that other controllers of the same program work on. They may write to any object of such a kind,
	// also where it is of a kind of Owns, and delete one that nobody controls (LAW-2).
	Also []schema.GroupVersionKind
	// Tends are kinds that it edits by its office, whoever owns them, as an autoscaler
	// does its targets. It leaves their owner references alone, and removes those of
	// others, and takes references off, only where Spares says which it has to leave (LAW-2).
	Tends []schema.GroupVersionKind
	// Spares says, of one that marks and removes objects of others by its office, why it
	// has to leave one alone as things stand; "" where it need not. get looks at what is
	// there (PODGC-1).
	Spares func(obj runtime.Object, deletes bool, get func(kind, namespace, name string) runtime.Object) string
	// Quarantine is how long a cluster-scoped object that Spares asks for must have been
	// gone before it counts as gone, since it may come back (PODGC-1).
	Quarantine time.Duration
	// Stays says, of one that deletes what others have made when its time is over, why an
	// object is to stay as yet; "" where it is to go. It is asked of what it deletes, and of all
	// that it watches once all is quiet (TTL-1).
	Stays func(obj runtime.Object, now time.Time) string
	// Finalizers are those that it puts on objects and takes off again: at rest
	// nothing may wait for them alone (EXACT-6). One that is held to more than
	// ownership declares them all.
	Finalizers []string
	// Keeps says why an object that is being deleted keeps such a finalizer as things
	// stand, "" where it need not: a claim of storage that a pod uses. Nil: nothing does
	// but what is under way. Of who empties namespaces: why one stays that it has emptied. all
	// lists what is stored of a kind (EXACT-6, FIN-3).
	Keeps func(obj runtime.Object, all func(kind string) []runtime.Object) string

	// Polls: it watches nothing, but looks at everything from time to time, as CronJob's
	// controller did. What has no ControllerRef it may know for its own by the created-by
	// annotation (KIND-CRON-2).
	Polls bool

	// The following break a rule of writing controllers on purpose; only mutants
	// set them.
	StartUnsynced bool // workers start before the caches have synced (WRITE-6)
	CarelessQueue bool // a key may be synced by two workers at once (WRITE-1)
	CarelessDelay bool // ... if its delay is over while it is being synced
	DropErrors    bool // a failed sync is not retried (WRITE-8)

	// Program says that it is a whole program; [Hosting] sets it.
	Program bool

	_ struct{}
}

// Count is one number in the status of an owner.
type Count struct {
	Name string // "readyReplicas"
	// Of is what the status says; negative where it says nothing, or nothing
	// that follows from the dependents alone.
	Of func(owner runtime.Object) int
	// Ever says that it counts those that are gone as well, as a Job's status does: it
	// is at least the number of those that are there, once all is quiet, and at no time
	// more than the owner has had dependents.
	Ever bool
	// Once says that it counts for good, each that ever was such at most once, and that
	// nothing else is said of it: it may be late (EXACT-12).
	Once bool
	// Is reports whether a dependent that the owner controls is one of those,
	// one that is being deleted included.
	Is func(owner, dependent runtime.Object) bool
	// Each, in place of Is, is how many a dependent stands for, where the status adds
	// up what its dependents say of their own: a Deployment's pods are those of its
	// ReplicaSets.
	Each func(owner, dependent runtime.Object) int
}

// Profile says which laws a controller owes. Each holds the one before.
type Profile uint8

// The profiles.
const (
	Ownership Profile = iota // what any controller owes the others
	Writing                  // and the guidelines of Writing Controllers
	Upstream                 // and how kube-controller-manager's own controllers are written
)

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
