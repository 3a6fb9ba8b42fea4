package randomworlds_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

type world struct {
	*trial.Trial
	draw
	t *testing.T

	subject *subject
	names   int // the number of names used so far
}

// subject is a controller with generated worlds.
type subject struct {
	name   string
	beside []string       // controllers that may run too
	kind   string         // the kind that it reconciles
	begin  func(w *world) // creates the initial objects
	owner  func(w *world) // creates one more object of the kind
	acts   []act          // its own acts, in addition to the common ones

	// apart is for a controller that does not concern owners of pods: only its own acts apply, not the common ones. Time
	// passes in its worlds even if no timer waits.
	apart bool
	most  time.Duration // the longest time step, for a controller that does much in it; 0 for any
}

// act is a possible change to a world. It does nothing if it does not apply.
type act struct {
	often int
	name  string
	do    func(w *world)
}

// play runs the world of a seed under some laws.
func play(t *testing.T, s *subject, seed uint64, laws ...*law.Law) *world {
	w := &world{t: t, subject: s, draw: draw{sim.NewSeed(seed)}}
	choices := sim.Choices(sim.Zero{})
	if w.in(4) {
		choices = sim.NewSeed(seed)
	}
	if !s.apart {
		w.n(12) // unused, like the next one: further's seeds were found with these draws
	}
	w.Trial = trial.New(trial.Options{Choices: choices, Laws: laws})
	defer w.Stop()
	w.create(&corev1.Namespace{TypeMeta: typeOf("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	w.n(3)
	w.begin()
	own := s.acts
	if s.apart {
		own = slices.Concat(own, gaps)
	}
	for range 5 + w.n(9) {
		if w.in(2) {
			w.act(faults)
		}
		for n := 1 + w.n(2); n > 0; n-- {
			if !s.apart && w.in(2) {
				w.act(podActs)
			} else {
				w.act(own)
			}
		}
		w.pass()
	}
	w.settle(30 * time.Minute)
	return w
}

// namespace contains all owners and pods. Unlike the default namespace, it may be deleted.
const namespace = "ns"

// namespace returns the namespace of requests that do not name one.
func (w *world) namespace() string {
	if w.subject.apart {
		return metav1.NamespaceDefault
	}
	return namespace
}

// begin creates the initial objects, and starts the controllers before or after that.
func (w *world) begin() {
	early := w.in(2)
	if early {
		w.startAll()
	}
	w.subject.begin(w)
	if !early {
		w.startAll()
	}
	w.pass()
}

func (w *world) startAll() {
	w.Start(w.subject.name, w.controller(w.subject.name))
	for _, name := range w.subject.beside {
		if w.in(2) {
			w.start(name)
		}
	}
}

func (w *world) start(name string) {
	c := w.controller(name)
	if w.Cluster.Process(c.Name) == nil {
		w.Start(c.Name, c)
	}
}

func (w *world) controller(name string) host.Controller {
	for _, c := range slices.Backward(controllers.Builtin()) {
		if c.Name == name || c.FullName() == name {
			return c
		}
	}
	w.t.Fatalf("no controller %s", name)
	panic("unreachable")
}

func (w *world) process() *host.Process { return w.Cluster.Process(w.subject.name) }

func (w *world) act(acts []act) {
	sum := 0
	for _, a := range acts {
		sum += a.often
	}
	i := w.n(sum)
	for _, a := range acts {
		if i -= a.often; i < 0 {
			a.do(w)
			return
		}
	}
}

// pass lets the controllers work until they settle, for some time, or for some steps only.
func (w *world) pass() {
	switch w.n(8) {
	case 0, 1, 2:
		w.settle(one(w, time.Second, 5*time.Second, 11*time.Second, 31*time.Second, time.Minute, 5*time.Minute))
	case 3:
		w.settle(15 * time.Minute)
	case 4, 5:
		for range 1 + w.n(12) {
			w.Step()
		}
	default:
		w.settle(2 * time.Second)
	}
}

// mostSteps is much larger than the number of steps of a world that settles.
const mostSteps = 1_000

func (w *world) settle(d time.Duration) {
	if w.subject.most > 0 {
		d = min(d, w.subject.most)
	}
	until := w.World.Clock.Elapsed() + d
	w.Settle(trial.Limits{Steps: mostSteps, For: d})
	if w.subject.apart && len(w.World.Clock.Pending()) == 0 {
		w.World.Clock.Advance(until - w.World.Clock.Elapsed())
	}
}

func (w *world) do(kind, name string, r fakeapi.Request) bool {
	if r.Kind = w.kind(kind); r.Kind.Namespaced {
		r.Namespace = w.namespace()
	}
	r.Name = name
	return w.Cluster.As(law.User, &r).Err == nil
}

func (w *world) kind(name string) *fakeapi.Kind {
	k := w.Server.KindNamed(name)
	if k == nil {
		w.t.Fatalf("no kind %s", name)
	}
	return k
}

func (w *world) create(obj runtime.Object) bool {
	m := obj.(metav1.Object)
	k := w.Server.Kind(obj.GetObjectKind().GroupVersionKind())
	if k == nil {
		w.t.Fatalf("no kind of %T", obj)
	}
	return w.do(k.GVK.Kind, m.GetName(), fakeapi.Request{Verb: fakeapi.Create, Object: obj})
}

func objects[T any](w *world, kind string) []T {
	var list []T
	w.Server.Each(w.kind(kind), func(obj runtime.Object) bool {
		list = append(list, any(obj).(T))
		return true
	})
	return list
}

// edit changes one object of a kind, or its status. It reports whether the server accepted the change.
func edit[T metav1.Object](w *world, kind, sub string, choose func(T) bool, change func(T)) bool {
	var list []T
	for _, obj := range objects[T](w, kind) {
		if choose == nil || choose(obj) {
			list = append(list, obj)
		}
	}
	if len(list) == 0 {
		return false
	}
	obj := any(one(w, list...)).(runtime.Object).DeepCopyObject()
	change(any(obj).(T))
	return w.do(kind, any(obj).(T).GetName(), fakeapi.Request{Verb: fakeapi.Update, Subresource: sub, Object: obj})
}

func (w *world) patch(kind, name, sub, data string, args ...any) bool {
	return w.do(kind, name, fakeapi.Request{Verb: fakeapi.Patch, Subresource: sub, PatchType: types.MergePatchType,
		Patch: fmt.Appendf(nil, data, args...)})
}

func (w *world) remove(kind, name string, policy metav1.DeletionPropagation, grace *int64) bool {
	o := metav1.DeleteOptions{GracePeriodSeconds: grace}
	if policy != "" {
		o.PropagationPolicy = &policy
	}
	return w.do(kind, name, fakeapi.Request{Verb: fakeapi.Delete, Delete: o})
}

type draw struct{ seed *sim.Seed }

func (d draw) n(n int) int { return d.seed.Pick(n, "") }

func (d draw) in(n int) bool { return d.n(n) == 0 }

type drawer interface{ n(n int) int }

func one[T any](d drawer, list ...T) T { return list[d.n(len(list))] }

// some returns one of several values or nil, each with the same probability.
func some[T any](d drawer, list ...T) *T {
	i := d.n(len(list) + 1)
	if i == len(list) {
		return nil
	}
	v := list[i]
	return &v
}
