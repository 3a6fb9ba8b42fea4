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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// Setup sets up controllers with a manager, as main does: it makes their reconcilers and calls their SetupWithManager.
// It is called at every start of a process, and must make new reconcilers each time.
type Setup func(mgr manager.Manager) error

// Options are what a manager's options say in main. The zero value is a manager with
// no options.
type Options struct {
	// Reads are kinds that a reconciler reads from the cache and that nothing watches.
	Reads []client.Object
	// Live are kinds that the manager's client never reads from its cache: DisableFor of
	// the manager's client options.
	Live []client.Object
	// CacheUnstructured: unstructured objects are read from the cache, too; as
	// Unstructured in the manager's client options.
	CacheUnstructured bool
	// Client, if set, is put around the manager's client: client.WithFieldOwner.
	Client func(client.Client) client.Client

	// Goroutines: a Reconcile starts goroutines that call the API, as an errgroup does. Their
	// requests are pending at one time, and the schedule decides about each; it costs time, and
	// one processor for the whole Go process: see bubble.Concurrent. Without it such a call is a
	// mistake, and ends the Go process.
	Goroutines bool

	// Controller is the manager's Controller options: concurrency of kinds and the like.
	Controller config.Controller
	// Logger is what the manager and Reconcile's context log to; nothing by default.
	Logger logr.Logger

	// Recorded, if set, is told of every event that is recorded.
	Recorded func(e corev1.Event)
	// WriteEvents writes events to the API as well, each as one create in the midst of
	// the sync that records it. A real recorder writes from a goroutine of its own, and
	// counts events that recur instead of writing them again.
	WriteEvents bool

	// LeaveOut names what the setup adds and what does not run here: a runnable by its
	// type ("*main.Poller"), a webhook by its path.
	LeaveOut []string

	_ struct{}
}

// Controllers returns the controllers that a setup sets up, in the order in which it
// does. They are values: what the laws may know besides (Replicas, Selector, Active, the
// kinds of Owns that no event wakes it for) is set on what is returned. An error is a
// mistake in the setup, or something in it that cannot be run, in one line.
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

// same reports whether two reconcilers are one: pointers to one thing that has room for
// a memory.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Pointer && y.Kind() == reflect.Pointer && x.Pointer() == y.Pointer() &&
		x.Type().Elem().Size() > 0
}

// declare says what a controller is to the host and to the laws.
func (p *process) declare(i int, c *controller, setup Setup) (host.Controller, error) {
	ctl := host.Controller{Name: c.name, Workers: c.workers,
		Careless: host.Careless{
			DropErrors: true,
		}} // the reconciler's limiter says when, see [reconciler.Sync]
	watched, err := p.watched(c)
	if err != nil {
		return ctl, err
	}
	for _, w := range watched {
		switch {
		case w.gvk.Empty():
		case w.role == forObject && ctl.For.Empty() && len(ctl.Routes) == 0 && len(ctl.Owns) == 0:
			ctl.For = w.gvk
		case w.role == forOwner && !w.every && !slices.Contains(ctl.Owns, w.gvk): // else it need not control it
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
		ctl.Routes = append(ctl.Routes, silent(gvk))
	}
	for _, gvk := range p.indexed { // which starts an informer
		ctl.Routes = append(ctl.Routes, silent(gvk))
	}
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

// silent makes the host watch a kind from the start. What an event of it does is up to
// the handlers that the sources add.
func silent(gvk schema.GroupVersionKind) host.Route {
	return host.Route{Kind: gvk, Do: func(host.View, host.Event, *host.Effect) {}}
}

// start makes a new life of a controller, in which it remembers nothing.
func start(p *process, setup Setup, i int, name string, roles []role) host.Reconciler {
	if err := p.setUp(setup); err != nil {
		panic(host.Misuse("controller " + name + ": its setup fails at a start: " + err.Error()))
	}
	if all := p.manager.controllers; i >= len(all) || all[i].name != name {
		panic(host.Misuse("controller " + name + ": its setup does not set it up at every start"))
	}
	c := p.manager.controllers[i]
	for _, obj := range p.o.Reads {
		p.mustView(obj)
	}
	p.watch(c, roles)
	return newReconciler(p, c)
}
