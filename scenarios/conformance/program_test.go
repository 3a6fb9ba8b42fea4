package conformance

import (
	"context"
	"os"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// program returns the operator as a whole program, with the clients, informers and queue of client-go.
func program(adopts bool, w wrong) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		any, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		typed, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		custom, core := bubble.DynamicInformers(any, 0), bubble.Informers(typed, 0)
		of := custom.ForResource(resourceOf(widgets)).Informer()
		their := core.Core().V1().ConfigMaps().Informer()
		o := &operator{wrong: w, adopts: adopts, env: &host.Env{Client: client{dynamic: any}}, made: map[string]bool{},
			widgets: of.GetIndexer(), parts: their.GetIndexer()}
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		wake(of, their, queue)
		custom.Start(ctx.Done())
		core.Start(ctx.Done())
		custom.WaitForCacheSync(ctx.Done())
		core.WaitForCacheSync(ctx.Done())
		context.AfterFunc(ctx, queue.ShutDown)
		for {
			key, quit := queue.Get()
			if quit {
				return ctx.Err()
			}
			if err := o.sync(ctx, key); err != nil {
				queue.AddRateLimited(key)
			} else {
				queue.Forget(key)
			}
			queue.Done(key)
		}
	}
}

// wake makes each event enqueue its Widget.
func wake(widgets, parts cache.SharedIndexInformer, queue workqueue.TypedInterface[string]) {
	handle := func(i cache.SharedIndexInformer, each func(m metav1.Object)) {
		about := func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			each(obj.(metav1.Object))
		}
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: about, DeleteFunc: about,
			UpdateFunc: func(old, now any) { about(old); about(now) }})
		if err != nil {
			panic(err)
		}
	}
	handle(widgets, func(m metav1.Object) { queue.Add(key(m)) })
	handle(parts, func(m metav1.Object) {
		if ref := metav1.GetControllerOf(m); ref != nil && ref.Kind == "Widget" {
			queue.Add("default/" + ref.Name)
		} else if name := m.GetLabels()[partOf]; name != "" {
			queue.Add("default/" + name)
		}
	})
}

// client is the operator's client. It uses a client of client-go.
type client struct {
	host.Client
	dynamic dynamic.Interface
}

func resourceOf(gvk schema.GroupVersionKind) schema.GroupVersionResource {
	return gvk.GroupVersion().WithResource(map[string]string{"Widget": "widgets", "ConfigMap": "configmaps",
		"Namespace": "namespaces"}[gvk.Kind])
}

func (c client) of(gvk schema.GroupVersionKind, namespace string) dynamic.ResourceInterface {
	return c.dynamic.Resource(resourceOf(gvk)).Namespace(namespace)
}

func sent(obj runtime.Object) *unstructured.Unstructured {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u
	}
	return fields(obj, parts)
}

func (c client) Get(ctx context.Context, gvk schema.GroupVersionKind, ns, name string) (runtime.Object, error) {
	return c.of(gvk, ns).Get(ctx, name, metav1.GetOptions{})
}

func (c client) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	u := sent(obj)
	return c.of(u.GroupVersionKind(), u.GetNamespace()).Create(ctx, u, metav1.CreateOptions{})
}

func (c client) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	u := sent(obj)
	return c.of(u.GroupVersionKind(), u.GetNamespace()).Update(ctx, u, metav1.UpdateOptions{})
}

func (c client) UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	u := sent(obj)
	return c.of(u.GroupVersionKind(), u.GetNamespace()).UpdateStatus(ctx, u, metav1.UpdateOptions{})
}

func (c client) Patch(ctx context.Context, gvk schema.GroupVersionKind, ns, name string, p host.Patch) (runtime.Object,
	error) {
	return c.of(gvk, ns).Patch(ctx, name, p.Type, p.Data, metav1.PatchOptions{})
}

func (c client) Delete(ctx context.Context, gvk schema.GroupVersionKind, ns, name string,
	o metav1.DeleteOptions) error {
	return c.of(gvk, ns).Delete(ctx, name, o)
}

// whole returns a subject with a program.
func whole(adopts bool, w wrong) Subject {
	s := sample(host.Controller{})
	s.Run = program(adopts, w)
	return s
}

// In the case deleted/early, a whole program has started before the sample exists. A reconciler starts at once.
func TestEarlyDeletion(t *testing.T) {
	for name, s := range map[string]Subject{"program": whole(false, wrong{}), "reconciler": sample(widget(false, wrong{}))} {
		world := caseOf(prepared(t, s), "deleted/early").World(nil)
		if started := world.SettleFirst && world.User[0].Manifests != ""; started != (name == "program") {
			t.Errorf("%s: it has started: %t; the user's first action: %+v", name, started, world.User[0])
		}
	}
}

// A right operator passes as a whole program.
func TestWholeProgram(t *testing.T) {
	for name, adopts := range map[string]bool{"numbered": false, "adopting": true} {
		t.Run(name, func(t *testing.T) {
			s := whole(adopts, wrong{})
			if os.Getenv("SOAK") == "" {
				s.Schedules = usual / 6
			}
			Test(t, s)
		})
	}
}

// A program may have several controllers. Objects that they create for owners of other kinds do not count as created
// for the sample, and are not reported.
func TestSecondControllerOfAProgram(t *testing.T) {
	s := whole(false, wrong{})
	s.Run, s.Schedules = withLocks(s.Run), 20
	good, err := os.ReadFile(s.Samples[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Samples = []string{sampleFile(t, string(good)+
		"---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: lock}\n")}
	plan := prepared(t, s)
	if owns := plan.Controller.Owns; len(owns) != 1 ||
		!strings.Contains(plan.String(), "Secret for an owner of another kind") {
		t.Errorf("owns %v\n%s", owns, plan)
	}
	Test(t, s)
}

// Two runs of a program with a random order differ. Then the test runs again under the overlay, and passes.
func TestRandomOrder(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("it compiles all dependencies with the overlay, which takes minutes: set SOAK=1")
	}
	s := whole(false, wrong{})
	run := s.Run
	s.Run = func(ctx context.Context, cfg *rest.Config) error {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		for name := range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true} {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err := client.CoreV1().ConfigMaps("default").Create(ctx, cm, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		return run(ctx, cfg)
	}
	s.Schedules = usual / 6
	Test(t, s)
}

// withLocks adds a controller to a program. It creates a ConfigMap and a Secret for each Lease.
func withLocks(run func(context.Context, *rest.Config) error) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		typed, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		core := bubble.Informers(typed, 0)
		leases, queue := core.Coordination().V1().Leases().Informer(), workqueue.NewTyped[string]()
		_, err = leases.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { queue.Add(key(o)) }})
		if err != nil {
			return err
		}
		core.Start(ctx.Done())
		context.AfterFunc(ctx, queue.ShutDown)
		go func() {
			for name, quit := queue.Get(); !quit; name, quit = queue.Get() {
				lock, _, _ := leases.GetIndexer().GetByKey(name)
				kind := coordinationv1.SchemeGroupVersion.WithKind("Lease")
				ref := metav1.NewControllerRef(lock.(metav1.Object), kind)
				made := metav1.ObjectMeta{Name: "of-the-lock", OwnerReferences: []metav1.OwnerReference{*ref}}
				_, err1 := typed.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: made},
					metav1.CreateOptions{})
				_, err2 := typed.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: made},
					metav1.CreateOptions{})
				if queue.Done(name); err1 != nil && !apierrors.IsAlreadyExists(err1) ||
					err2 != nil && !apierrors.IsAlreadyExists(err2) {
					queue.Add(name)
				}
			}
		}()
		return run(ctx, cfg)
	}
}

// What a program creates for a dependent of the sample belongs to the sample.
func TestDependentOfADependent(t *testing.T) {
	s := whole(false, wrong{})
	run := s.Run
	s.Run = func(ctx context.Context, cfg *rest.Config) error {
		typed, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		core := bubble.Informers(typed, 0)
		_, err = core.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
			ref := []metav1.OwnerReference{*metav1.NewControllerRef(o.(metav1.Object), parts)}
			made := metav1.ObjectMeta{Name: o.(metav1.Object).GetName(), OwnerReferences: ref}
			_, _ = typed.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: made}, metav1.CreateOptions{})
		}})
		if err != nil {
			return err
		}
		core.Start(ctx.Done())
		return run(ctx, cfg)
	}
	shows(t, prepared(t, s), "Secret with a ControllerRef to a dependent")
}

// Outcomes say what a program wrote, although it is not known for which object.
func TestOutcomesOfPrograms(t *testing.T) {
	c := placed(t, prepared(t, whole(false, wrong{})), "one-owner")
	c.Schedules = 3
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil || !strings.Contains(x.Text(), "program creates 2") {
		t.Errorf("%v\n%s", err, x.Text())
	}
}

// The classic mistakes are also found in whole programs, after the world has settled. For example, a program adopts for
// a terminating owner, or takes a dependent of another owner.
func TestWrongPrograms(t *testing.T) {
	for _, w := range []wrongOperator{
		{false, wrong{bare: true}, "one-owner", "take-ownership"},
		{false, wrong{misgives: true}, "one-owner", "take-ownership"},
		{false, wrong{byLabel: true}, "somebody-elses", "exact-sum"},
		{true, wrong{shares: true}, "orphan", "exact-sum"},
		{true, wrong{dying: true}, "terminating-orphan", "skip-terminating-orphans"},
		{true, wrong{going: true}, "terminating", "status-only-when-terminating"},
		{false, wrong{cascades: true}, "deleted/orphan", "expect"},
		{false, wrong{panics: true}, "faults", "never-panic"},
		{false, wrong{recreated: true}, "restored", "recreated-is-another"},
		{true, wrong{recreated: true}, "restored", "recreated-is-another"},
	} {
		t.Run(w.where+" "+w.law, func(t *testing.T) { finds(t, prepared(t, whole(w.adopts, w.wrong)), w.where, w.law) })
	}
}

// Most schedules show what a program does with a name that is taken, although a program starts slowly.
func TestProgramMeetsTakenName(t *testing.T) {
	c := placed(t, prepared(t, whole(false, wrong{takes: true})), "name-taken")
	c.Schedules = 30
	if x, err := c.Explore(t.Context(), t.Name()); err != nil || x.Failed < 20 {
		t.Errorf("%v\n%s", err, x.Text())
	}
}
