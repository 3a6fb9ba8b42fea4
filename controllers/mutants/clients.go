package mutants

import (
	"bytes"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/sim/host"
)

// collectorHabits are garbage collectors whose requests go through a faulty client.
var collectorHabits = []mutant{
	{"gc/controlled-is-kept", "ORPHAN-3", "ORPHAN-3",
		"never deletes objects with a ControllerRef, even if their controller is gone",
		collecting(func(_ *host.Env, inner host.Client) host.Client { return sparing{inner} })},
	{"gc/any-namespace", "GC-7", "GC-7",
		"looks for an owner in every namespace",
		collecting(func(env *host.Env, inner host.Client) host.Client { return farsighted{inner, env} })},
}

// collecting returns a garbage collector. The function through wraps its client.
func collecting(through func(env *host.Env, inner host.Client) host.Client) build {
	return build{make: func() host.Controller {
		c := garbagecollector.New(garbagecollector.Without{})
		inner := c.New
		c.New = func(env *host.Env) host.Reconciler {
			e := *env
			e.Client = through(env, env.Client)
			return inner(&e)
		}
		return c
	}}
}

// sparing is a client that does not delete objects with a ControllerRef. It reports success.
type sparing struct{ host.Client }

func (s sparing) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	opts metav1.DeleteOptions) error {
	obj, err := s.Client.Get(ctx, gvk, namespace, name)
	if err == nil && metav1.GetControllerOf(obj.(metav1.Object)) != nil {
		return nil
	}
	return s.Client.Delete(ctx, gvk, namespace, name, opts)
}

// farsighted is a client that looks for an object in all namespaces if the requested namespace lacks it.
type farsighted struct {
	host.Client
	env *host.Env
}

func (f farsighted) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object,
	error) {
	obj, err := f.Client.Get(ctx, gvk, namespace, name)
	if !apierrors.IsNotFound(err) || namespace == "" {
		return obj, err
	}
	for _, there := range f.env.Informer(gvk).GetIndexer().List() {
		if there.(metav1.Object).GetName() == name {
			return there.(runtime.Object), nil
		}
	}
	return obj, err
}

// adopts reports whether a patch makes a set the controller of a pod.
func adopts(gvk schema.GroupVersionKind, p host.Patch) bool {
	return gvk == pod.Kind && bytes.Contains(p.Data, []byte(`"controller":true`))
}

// modest is a client that answers an adoption with NotFound if the set already owns enough pods.
type modest struct {
	host.Client
	of *careless
}

func (m modest) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	if adopts(gvk, p) {
		if set := m.of.set(m.of.key); set != nil && m.of.owned(m.of.key) >= set.Replicas {
			return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
		}
	}
	return m.Client.Patch(ctx, gvk, namespace, name, p)
}

// updating is a client that replaces an adoption patch with an update without a resourceVersion.
type updating struct {
	host.Client
	of *careless
}

func (u updating) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	cached, exists, _ := u.of.env.Informer(pod.Kind).GetIndexer().GetByKey(namespace + "/" + name)
	set := u.of.set(u.of.key)
	if !adopts(gvk, p) || !exists || set == nil {
		return u.Client.Patch(ctx, gvk, namespace, name, p)
	}
	whole := cached.(*corev1.Pod).DeepCopy()
	whole.ResourceVersion = ""
	whole.OwnerReferences = append(whole.OwnerReferences, *metav1.NewControllerRef(set, replicaset.Kind.GVK))
	return u.Client.Update(ctx, whole)
}

const seal = "example.com/keep"

// sealing is a client that adds a finalizer to each pod that it creates.
type sealing struct{ host.Client }

func (s sealing) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	if pod, ok := obj.(*corev1.Pod); ok && !slices.Contains(pod.Finalizers, seal) {
		sealed := pod.DeepCopy()
		sealed.Finalizers = append(sealed.Finalizers, seal)
		obj = sealed
	}
	return s.Client.Create(ctx, obj)
}

// remembering is a client that never sends a successful adoption patch again.
type remembering struct {
	host.Client
	of *careless
}

func (m remembering) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	this := "adopted " + namespace + "/" + name + string(p.Data)
	if !adopts(gvk, p) || !m.of.begun[this] {
		obj, err := m.Client.Patch(ctx, gvk, namespace, name, p)
		m.of.begun[this] = err == nil
		return obj, err
	}
	return nil, nil
}

// reporting is a client that writes wrong numbers into statuses.
type reporting struct {
	host.Client
	change func(s *appsv1.ReplicaSetStatus)
}

func (r reporting) UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	rs := *obj.(*appsv1.ReplicaSet)
	r.change(&rs.Status)
	return r.Client.UpdateStatus(ctx, &rs)
}

// telling returns a ReplicaSet controller. change falsifies each status before it is written.
func telling(change func(s *appsv1.ReplicaSetStatus)) build {
	return client(replicas.Current, func(_ *careless, inner host.Client) host.Client {
		return reporting{inner, change}
	})
}
