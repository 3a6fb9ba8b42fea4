package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// thing is an object of any kind.
type thing = unstructured.Unstructured

// idiom is a reconcile function, written as in real operators. The owner is nil if the cache does not contain it.
type idiom func(a *at, owner *thing) error

// at contains what a reconcile uses.
type at struct {
	context.Context
	env  *host.Env
	of   schema.GroupVersionKind // the kind of the owners
	kind schema.GroupVersionKind // the kind of the dependents

	namespace string // the owner's namespace, or "default" if the owner has none
}

// ownerLabel contains the name of the owner, for objects that do not refer to it. Objects in another namespace, and
// cluster-scoped objects, have "namespace.name" there.
const ownerLabel = "garden.example.com/owner"

func fullLabel(owner *thing) string { return owner.GetNamespace() + "." + owner.GetName() }

// inUse is the operator's finalizer on dependents. finished is its finalizer on owners.
const (
	inUse    = "idiom.example.com/in-use"
	finished = "idiom.example.com/finished"
)

// reconciler returns a controller with this idiom. It watches the owners and these kinds, of which the first is the
// kind of the dependents. An event of a dependent enqueues the owner that the object's reference or label names.
func reconciler(name string, of schema.GroupVersionKind, sync idiom, kinds ...schema.GroupVersionKind) host.Controller {
	c := host.Controller{Name: name, For: of, Routes: []host.Route{{Kind: of,
		Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, keyOf(of, newest(e).(metav1.Object), newest(e).(metav1.Object).GetName()))
		}}}}
	for _, kind := range kinds {
		c.Routes = append(c.Routes, host.Route{Kind: kind, Do: func(_ host.View, e host.Event, out *host.Effect) {
			for _, seen := range []runtime.Object{e.Old, e.New} {
				o, is := seen.(metav1.Object)
				if !is {
					continue
				}
				if slices.Contains(o.GetFinalizers(), inUse) {
					out.Keys = append(out.Keys, keyOf(of, o, inUse)) // the owner may no longer exist
				}
				if owner := o.GetLabels()[ownerLabel]; owner != "" {
					out.Keys = append(out.Keys, keyOf(of, o, owner))
				}
				for _, ref := range o.GetOwnerReferences() {
					if ref.Kind == of.Kind {
						out.Keys = append(out.Keys, keyOf(of, o, ref.Name))
					}
				}
			}
		}})
	}
	c.New = func(env *host.Env) host.Reconciler {
		owners := env.Informer(of).GetIndexer()
		a := at{env: env, of: of}
		for _, kind := range kinds {
			env.Informer(kind)
			a.kind = kinds[0]
		}
		return host.SyncFunc(func(ctx context.Context, key string) error {
			now := a
			now.Context, now.namespace = ctx, "default"
			if namespace, _, has := strings.Cut(key, "/"); has {
				now.namespace = namespace
			}
			if o, ok, _ := owners.GetByKey(key); ok {
				return sync(&now, fields(o.(runtime.Object), of))
			}
			return sync(&now, nil)
		})
	}
	return c
}

// remembering returns a controller for Gardens and their ConfigMaps whose memory is empty at each start.
func remembering(name string, start func(env *host.Env) idiom, kind schema.GroupVersionKind) host.Controller {
	c := reconciler(name, gardens, nil, kind)
	c.New = func(env *host.Env) host.Reconciler {
		return reconciler(name, gardens, living(start(env)), kind).New(env)
	}
	return c
}

// keyOf returns the key of an owner with this name, or with this value of ownerLabel. The object o is the owner or
// belongs to it.
func keyOf(of schema.GroupVersionKind, o metav1.Object, name string) string {
	if of == parks {
		return name
	}
	if namespace, rest, full := strings.Cut(name, "."); full {
		return namespace + "/" + rest
	}
	return o.GetNamespace() + "/" + name
}

// living returns an idiom that does nothing for owners that do not exist or are terminating.
func living(sync idiom) idiom {
	return func(a *at, owner *thing) error {
		if owner == nil || owner.GetDeletionTimestamp() != nil {
			return nil
		}
		return sync(a, owner)
	}
}

// errLater means that the cleanup waits for an object to be deleted. The object's next event enqueues the owner.
var errLater = errors.New("later")

// finalized returns an idiom that first adds its finalizer to the owner. If the owner is terminating, it calls cleanUp,
// and removes the finalizer if cleanUp returns no error.
func finalized(keep, cleanUp idiom) idiom {
	return func(a *at, owner *thing) error {
		switch {
		case owner == nil:
			return nil
		case owner.GetDeletionTimestamp() == nil:
			if is, err := a.holds(owner); !is {
				return err
			}
			return keep(a, owner)
		case !held(owner):
			return nil
		}
		switch err := cleanUp(a, owner); {
		case err == errLater:
			return nil
		case err != nil:
			return err
		}
		owner.SetFinalizers(without(owner, finished))
		return ignoreNotFound(a.update(owner))
	}
}

// holds adds the operator's finalizer to an owner. It reports whether the owner already had it.
func (a *at) holds(owner *thing) (bool, error) {
	if held(owner) {
		return true, nil
	}
	owner.SetFinalizers(append(owner.GetFinalizers(), finished))
	return false, a.update(owner)
}

func held(owner *thing) bool { return slices.Contains(owner.GetFinalizers(), finished) }

func without(o *thing, finalizers ...string) []string {
	return slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return slices.Contains(finalizers, f) })
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func ignoreAlreadyExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func object(kind schema.GroupVersionKind, namespace, name string) *thing {
	o := &thing{Object: map[string]any{}}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func stringAt(o *thing, fields ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, fields...)
	return s
}

func intAt(o *thing, fields ...string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return n
}

// fields returns a copy of an object as a thing.
func fields(o runtime.Object, kind schema.GroupVersionKind) *thing {
	if u, ok := o.(*thing); ok {
		return u.DeepCopy()
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	u := &thing{Object: m}
	u.SetGroupVersionKind(kind)
	return u
}

// seen lists the objects of a kind in the cache, sorted by name.
func (a *at) seen(kind schema.GroupVersionKind) (list []*thing) {
	for _, o := range a.env.Informer(kind).GetIndexer().List() {
		list = append(list, fields(o.(runtime.Object), kind))
	}
	slices.SortFunc(list, func(x, y *thing) int { return strings.Compare(x.GetName(), y.GetName()) })
	return list
}

// list reads the objects of a kind from the server.
func (a *at) list(kind schema.GroupVersionKind, namespace, selector string) (list []*thing, err error) {
	all, err := a.env.Client.List(a, kind, namespace, metav1.ListOptions{LabelSelector: selector})
	for _, o := range all {
		list = append(list, fields(o, kind))
	}
	return list, err
}

// own lists the dependents in the cache that an owner controls.
func (a *at) own(owner *thing) []*thing {
	return slices.DeleteFunc(a.seen(a.kind), func(o *thing) bool { return !metav1.IsControlledBy(o, owner) })
}

func (a *at) cachedAt(kind schema.GroupVersionKind, key string) *thing {
	o, ok, _ := a.env.Informer(kind).GetIndexer().GetByKey(key)
	if !ok {
		return nil
	}
	return fields(o.(runtime.Object), kind)
}

func (a *at) cached(name string) *thing { return a.cachedAt(a.kind, a.namespace+"/"+name) }

// live reads an object from the server. It returns nil if the object does not exist.
func (a *at) live(kind schema.GroupVersionKind, namespace, name string) (*thing, error) {
	o, err := a.env.Client.Get(a, kind, namespace, name)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	return fields(o, kind), nil
}

// same reports whether the owner still exists on the server with the same UID, and is not terminating.
func (a *at) same(owner *thing) (bool, error) {
	now, err := a.live(a.of, owner.GetNamespace(), owner.GetName())
	return now != nil && now.GetUID() == owner.GetUID() && now.GetDeletionTimestamp() == nil, err
}

// bare returns a new dependent without content.
func (a *at) bare(owner *thing, name string) *thing {
	d := object(a.kind, owner.GetNamespace(), name)
	d.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, a.of)})
	return d
}

// dependent returns a new dependent with the owner's color.
func (a *at) dependent(owner *thing, name string) *thing {
	d := a.bare(owner, name)
	d.Object["data"] = map[string]any{"color": stringAt(owner, "spec", "color")}
	return d
}

// wanted returns the names of an owner's dependents.
func wanted(owner *thing) []string { return names(owner, intAt(owner, "spec", "size")) }

func (a *at) serverKind(gvk schema.GroupVersionKind) *fakeapi.Kind {
	all := a.env.Kinds()
	return all[slices.IndexFunc(all, func(k *fakeapi.Kind) bool { return k.GVK == gvk })]
}

// typed returns an object in the Go type of its kind.
func (a *at) typed(o *thing) runtime.Object {
	obj := a.serverKind(o.GroupVersionKind()).New()
	if u, ok := obj.(*thing); ok {
		u.Object = o.Object
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, obj); err != nil {
		panic(err)
	}
	return obj
}

func (a *at) create(o *thing) error {
	_, err := a.env.Client.Create(a, a.typed(o))
	return err
}

// update writes an object, with its resource version as a precondition.
func (a *at) update(o *thing) error {
	_, err := a.env.Client.Update(a, a.typed(o))
	return err
}

// remove deletes an object, with its UID and its resource version as preconditions. A missing object is no error.
func (a *at) remove(o *thing) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return ignoreNotFound(a.env.Client.Delete(a, o.GroupVersionKind(), o.GetNamespace(), o.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}}))
}

func (a *at) removeAll(list []*thing) error {
	for _, o := range list {
		if err := a.remove(o); err != nil {
			return err
		}
	}
	return nil
}

// prune deletes the dependents that the owner does not want.
func (a *at) prune(owner *thing) error { return a.pruneBut(owner, wanted(owner)...) }

// pruneBut deletes the dependents of an owner except those with these names.
func (a *at) pruneBut(owner *thing, names ...string) error {
	return a.removeAll(slices.DeleteFunc(a.own(owner), func(d *thing) bool {
		return d.GetDeletionTimestamp() != nil || slices.Contains(names, d.GetName())
	}))
}

// patch sends a patch of an object, or a server-side apply.
func (a *at) patch(o *thing, subresource string, kind types.PatchType, body any, options metav1.PatchOptions) error {
	data, err := json.Marshal(body)
	_, sent := a.env.Client.Do(a, &fakeapi.Request{Verb: fakeapi.Patch, Kind: a.serverKind(o.GroupVersionKind()),
		Namespace: o.GetNamespace(), Name: o.GetName(), Subresource: subresource, PatchType: kind, Patch: data, PatchO: options})
	return errors.Join(err, sent)
}

func (a *at) apply(o *thing, subresource string, force bool) error {
	return a.patch(o, subresource, types.ApplyPatchType, o.Object, metav1.PatchOptions{FieldManager: "idiom", Force: &force})
}

func (a *at) reports(owner *thing, field string, value any) error {
	if was, _, _ := unstructured.NestedFieldNoCopy(owner.Object, "status", field); reflect.DeepEqual(was, value) {
		return nil
	}
	c := owner.DeepCopy()
	if err := unstructured.SetNestedField(c.Object, value, "status", field); err != nil {
		return err
	}
	_, err := a.env.Client.UpdateStatus(a, c)
	return err
}

// taken returns the error for a name that an object of another owner has.
func taken(o *thing) error { return fmt.Errorf("%s %s is not mine", o.GetKind(), o.GetName()) }

// alike reports whether an object has the wanted data.
func alike(is, wanted *thing) bool {
	return reflect.DeepEqual(is.Object["data"], wanted.Object["data"])
}

// upsert creates an object, or calls change to update the cached object, like CreateOrUpdate.
func (a *at) upsert(next *thing, change func(is *thing) error) error {
	is := a.cachedAt(next.GroupVersionKind(), cache.MetaObjectToName(next).String())
	if is == nil {
		return a.create(next)
	}
	before := is.DeepCopy()
	if err := change(is); err != nil || reflect.DeepEqual(before, is) {
		return err
	}
	return a.update(is)
}

// ensure creates a dependent once. It returns an error if an object of another owner has the name.
func (a *at) ensure(owner, next *thing) error {
	return a.upsert(next, func(is *thing) error { return mine(owner, is) })
}

// fills creates a dependent, or updates its data. It returns an error if an object of another owner has the name.
func (a *at) fills(owner, next *thing) error {
	return a.upsert(next, func(is *thing) error {
		is.Object["data"] = next.Object["data"]
		return mine(owner, is)
	})
}

// mine returns an error if the owner does not control the object.
func mine(owner, o *thing) error {
	if !metav1.IsControlledBy(o, owner) {
		return taken(o)
	}
	return nil
}

// controls makes the owner the controller of an object, unless the object has another controller.
func (a *at) controls(owner, o *thing) error {
	switch {
	case metav1.IsControlledBy(o, owner):
		return nil
	case metav1.GetControllerOf(o) != nil || o.GetDeletionTimestamp() != nil:
		return taken(o)
	}
	o.SetOwnerReferences(append(o.GetOwnerReferences(), *metav1.NewControllerRef(owner, a.of)))
	return nil
}
