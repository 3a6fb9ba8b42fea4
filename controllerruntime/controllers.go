package controllerruntime

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// Setup adds controllers to a manager, like the main function of an operator. It makes their reconcilers and calls
// their SetupWithManager. It is called at every start of a process, and must make new reconcilers each time.
type Setup func(mgr manager.Manager) error

// Options are a manager's options. The zero value is a manager without options.
type Options struct {
	// Reads are kinds that a reconciler reads from the cache and that no source of the manager's controllers watches.
	Reads []client.Object
	// Live are kinds that the manager's client always reads from the server, as with client.CacheOptions.DisableFor.
	Live []client.Object
	// CacheUnstructured makes the client also read unstructured objects from the cache, as
	// client.CacheOptions.Unstructured does.
	CacheUnstructured bool
	// Client, if set, wraps the manager's client, for example with client.WithFieldOwner.
	Client func(client.Client) client.Client

	// Goroutines allows a Reconcile to start goroutines that call the API, for example with an errgroup. Several
	// requests can then be pending, and the schedule decides their order. This takes more time, and limits the Go
	// process to one processor: see bubble.Concurrent. Without this option, an API call from another goroutine ends the
	// Go process.
	Goroutines bool

	// Controller holds the manager's Controller options, such as GroupKindConcurrency.
	Controller config.Controller
	// Logger is the logger of the manager and of Reconcile's context; nothing is logged by default.
	Logger logr.Logger

	// Recorded, if set, is called with every event that a reconciler records.
	Recorded func(e corev1.Event)
	// WriteEvents also writes events to the API, with one create in the reconcile that records the event. A real
	// recorder writes from another goroutine, and counts repeated events instead of writing them again.
	WriteEvents bool

	// LeaveOut names parts of the setup that do not run here: a runnable by its type ("*main.Poller"), and a webhook by
	// its path.
	LeaveOut []string

	_ struct{}
}

// Controllers returns the controllers that a setup adds, in the order of the setup. The caller can add to their
// Contracts what the laws cannot learn from the setup, such as Replicas and Selector. The error describes in one line a
// mistake in the setup or the options, or a part of the setup that cannot run.
func Controllers(scheme *runtime.Scheme, setup Setup, o Options) (controllers []host.Controller, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case host.Misuse:
			controllers, err = nil, errors.New(strings.TrimPrefix(r.Error(), "host: "))
		default:
			panic(r)
		}
	}()
	first, again := newProcess(scheme, &o, nil), newProcess(scheme, &o, nil)
	for _, p := range []*process{first, again} {
		if err := p.setUp(setup); err != nil {
			return nil, err
		}
	}
	if len(first.manager.controllers) == 0 {
		return nil, errors.New("the setup adds no controller to its manager")
	}
	for i, c := range first.manager.controllers {
		other := again.manager.controllers
		if i >= len(other) || other[i].name != c.name {
			return nil, fmt.Errorf("controller %s: a second call of the setup does not set it up: it has to do the "+
				"same at every start", c.name)
		}
		if same(c.do, other[i].do) {
			return nil, fmt.Errorf("controller %s: the setup hands over the same %T at every call: make it within the "+
				"setup, so that what it remembers is lost in a crash", c.name, c.do)
		}
		ctl, err := first.declare(i, c, setup)
		if err != nil {
			return nil, fmt.Errorf("controller %s: %w", c.name, err)
		}
		controllers = append(controllers, ctl)
	}
	return controllers, first.leftOut()
}

// same reports whether two reconcilers are the same pointer. It is false for pointers to empty structs, because Go may
// give different empty structs one address.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Pointer && y.Kind() == reflect.Pointer && x.Pointer() == y.Pointer() &&
		x.Type().Elem().Size() > 0
}

// declare converts a controller of the setup to a [host.Controller], with its Contract for the laws.
func (p *process) declare(i int, c *controller, setup Setup) (host.Controller, error) {
	ctl := host.Controller{Name: c.name, Workers: c.workers,
		Careless: host.Careless{
			DropErrors: true,
		}} // after an error, [reconciler.Sync] requeues the key itself
	watched, err := p.watched(c)
	if err != nil {
		return ctl, err
	}
	for _, w := range watched {
		switch {
		case w.gvk.Empty():
		case w.role == forObject && ctl.For.Empty() && len(ctl.Routes) == 0 && len(ctl.Owns) == 0:
			ctl.For = w.gvk
		case w.role == forOwner && !w.every && !slices.Contains(ctl.Owns, w.gvk): // !w.every: by ControllerRef only
			ctl.Owns = append(ctl.Owns, w.gvk)
		default:
			ctl.Routes = append(ctl.Routes, silent(w.gvk))
		}
	}
	for _, obj := range p.o.Reads {
		gvk, err := p.gvkOf(obj)
		if err != nil {
			return ctl, fmt.Errorf("Reads: %w", err)
		}
		ctl.Reads = append(ctl.Reads, gvk)
	}
	for _, obj := range p.beside(c) {
		gvk, err := p.gvkOf(obj)
		if err != nil {
			return ctl, err
		}
		ctl.Reads = append(ctl.Reads, gvk)
	}
	ctl.Reads = append(ctl.Reads, p.indexed...) // an index on a kind makes the manager watch the kind
	scheme, o, roles := p.scheme, p.o, rolesOf(watched)
	ctl.New = func(env *host.Env) host.Reconciler {
		return start(newProcess(scheme, o, env), setup, i, ctl.Name, roles)
	}
	if p.o.Goroutines {
		ctl = bubble.Concurrent(ctl)
	} else {
		ctl = bubble.Timed(ctl)
	}
	return ctl, ctl.Check()
}

// beside returns an object of each kind that other controllers of the manager watch. They share its cache, so a reconciler
// may read these kinds.
func (p *process) beside(c *controller) (all []client.Object) {
	for _, other := range p.manager.controllers {
		for _, s := range *other.sources {
			if other != c && isKind(s) {
				all = append(all, watchedBy(s))
			}
		}
	}
	return all
}

// silent returns a route that makes the host watch a kind, but enqueues nothing. The handlers of the sources enqueue.
func silent(gvk schema.GroupVersionKind) host.Route {
	return host.Route{Kind: gvk, Do: func(host.View, host.Event, *host.Effect) {}}
}

// start starts a controller's process, with an empty memory.
func start(p *process, setup Setup, i int, name string, roles []role) host.Reconciler {
	if err := p.setUp(setup); err != nil {
		panic(host.Misuse("controller " + name + ": its setup fails at a start: " + err.Error()))
	}
	if all := p.manager.controllers; i >= len(all) || all[i].name != name {
		panic(host.Misuse("controller " + name + ": its setup does not set it up at every start"))
	}
	c := p.manager.controllers[i]
	for _, obj := range slices.Concat(p.o.Reads, p.beside(c)) {
		p.mustView(obj)
	}
	p.watch(c, roles)
	return newReconciler(p, c)
}

// controller is a controller that a setup has added. Its fields are those of controller-runtime's controller.
type controller struct {
	name    string
	do      reconcile.Reconciler
	workers int
	limiter workqueue.TypedRateLimiter[reconcile.Request]
	log     func(*reconcile.Request) logr.Logger
	sources *[]source.Source // sources that are not started yet
}

// controllerPackage is the package of the controllers that controller-runtime's builder makes.
const controllerPackage = "sigs.k8s.io/controller-runtime/pkg/internal/controller"

// controllerOf reads a controller from a runnable. It returns nil, nil for any other runnable. It uses reflection,
// because the type of controllers is internal. If a field does not exist any more, [field] panics.
func controllerOf(r manager.Runnable) (*controller, error) {
	t := reflect.TypeOf(r)
	if t.Kind() != reflect.Pointer || t.Elem().PkgPath() != controllerPackage {
		return nil, nil
	}
	if _, ok := r.(ctrlcontroller.Controller); !ok {
		_, request, _ := strings.Cut(strings.TrimSuffix(t.Elem().Name(), "]"), "[")
		return nil, fmt.Errorf("controllerruntime: a controller whose requests are %s: only those of "+
			"reconcile.Request run here", request)
	}
	return &controller{
		name:    *field[string](r, "Name"),
		do:      *field[reconcile.Reconciler](r, "Do"),
		workers: *field[int](r, "MaxConcurrentReconciles"),
		limiter: *field[workqueue.TypedRateLimiter[reconcile.Request]](r, "RateLimiter"),
		log:     *field[func(*reconcile.Request) logr.Logger](r, "LogConstructor"),
		sources: field[[]source.Source](r, "startWatches"),
	}, nil
}

// field returns a pointer to a field of a controller-runtime type, exported or not.
func field[T any](of any, name string) *T {
	f := reflect.ValueOf(of).Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("controllerruntime: %T has no field %s of type %s: this module is for "+
			"controller-runtime v0.24", of, name, reflect.TypeFor[T]()))
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Interface().(*T)
}
