package acquitted_test

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// client does what a manager's client does for reconcilers: it reads copies from the caches and writes to the server.
type client struct {
	host.Client
	env *host.Env
}

// object is the type of the operators' typed children.
type object interface {
	metav1.Object
	runtime.Object
}

// operator returns the New of a controller without memory: one function of a client and a key.
func operator(sync func(ctx context.Context, c client, key string) error) func(*host.Env) host.Reconciler {
	return func(env *host.Env) host.Reconciler {
		c := client{env.Client, env}
		return host.SyncFunc(func(ctx context.Context, key string) error { return sync(ctx, c, key) })
	}
}

// app reads an App from the cache, or returns nil.
func (c client) app(key string) *App {
	obj, ok, _ := c.env.Informer(appKind).GetStore().GetByKey(key)
	if !ok {
		return nil
	}
	return appOf(obj.(runtime.Object))
}

// cached reads an object from the cache; false if there is none.
func cached[T object](c client, kind schema.GroupVersionKind, namespace, name string) (T, bool) {
	obj, ok, _ := c.env.Informer(kind).GetStore().GetByKey(namespace + "/" + name)
	if !ok {
		var none T
		return none, false
	}
	return obj.(T).DeepCopyObject().(T), true
}

// all reads the objects of a namespace that a selector matches; nil matches all.
func all[T object](c client, kind schema.GroupVersionKind, namespace string, s labels.Selector) []T {
	var out []T
	for _, key := range slices.Sorted(slices.Values(c.env.Informer(kind).GetStore().ListKeys())) {
		obj, ok, _ := c.env.Informer(kind).GetStore().GetByKey(key)
		if o := obj.(T); ok && o.GetNamespace() == namespace && (s == nil || s.Matches(labels.Set(o.GetLabels()))) {
			out = append(out, o.DeepCopyObject().(T))
		}
	}
	return out
}

func (c client) updateApp(ctx context.Context, a *App) error {
	_, err := c.Update(ctx, a.object())
	return err
}

func (c client) updateAppStatus(ctx context.Context, a *App) error {
	_, err := c.UpdateStatus(ctx, a.object())
	return err
}

// remove deletes an object by its uid. It treats an object that is gone as deleted.
func (c client) remove(ctx context.Context, kind schema.GroupVersionKind, o object) error {
	uid := o.GetUID()
	err := c.Delete(ctx, kind, o.GetNamespace(), o.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	return ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// controlled sets an App as the controller of an object, as controllerutil.SetControllerReference does. It refuses an
// object with another controller.
func controlled(a *App, o metav1.Object) error {
	if metav1.IsControlledBy(o, a) {
		return nil
	}
	if owner := metav1.GetControllerOf(o); owner != nil {
		return &alreadyOwned{o.GetName(), *owner}
	}
	o.SetOwnerReferences(append(o.GetOwnerReferences(), *metav1.NewControllerRef(a, appKind)))
	return nil
}

type alreadyOwned struct {
	name  string
	owner metav1.OwnerReference
}

func (e *alreadyOwned) Error() string {
	return e.name + " is already owned by " + e.owner.Kind + " " + e.owner.Name
}
