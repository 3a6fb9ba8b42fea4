package wrongoperators_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// The wrong operators manage Fleets of ships. A ship is a ConfigMap.
var (
	fleets = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Fleet"}
	ships  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

const fleetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Fleet, plural: fleets, singular: fleet}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {replicas: {type: integer}, sea: {type: string}, color: {type: string}, flagship: {type: string}}}
          status: {type: object, properties: {replicas: {type: integer}, ready: {type: integer}, ships: {type: array, items: {type: string}}}}
`

func fleet(name string, replicas int, sea string, more ...string) string {
	return fmt.Sprintf("apiVersion: example.com/v1\nkind: Fleet\nmetadata: {name: %s%s}\nspec: {replicas: %d, sea: "+
		"%s}\n", name, strings.Join(more, ""), replicas, sea)
}

func world(manifests ...string) string {
	return fleetDefinition + "---\n" + strings.Join(manifests, "---\n")
}

// doing contains the functions of an operator.
type doing struct {
	sync  func(o *operator, f metav1.Object) error
	dying func(o *operator, f metav1.Object) error // for a terminating owner; nil means to do nothing
}

type operator struct {
	client          host.Client
	env             *host.Env
	owners, members cache.Indexer
	member          schema.GroupVersionKind
	seen            map[string]string // what the operator remembers
}

// begin returns an operator that remembers nothing.
func begin(env *host.Env, member schema.GroupVersionKind) *operator {
	return &operator{client: env.Client, env: env, member: member, seen: map[string]string{},
		owners: env.Informer(fleets).GetIndexer(), members: env.Informer(member).GetIndexer()}
}

// operates returns an operator for fleets and one kind of members.
func operates(name string, member schema.GroupVersionKind, does doing) host.Controller {
	c := host.Controller{Name: name, For: fleets, Owns: []schema.GroupVersionKind{member}, Contract: law.Contract{Replicas: want}}
	c.New = func(env *host.Env) host.Reconciler {
		o := begin(env, member)
		return host.SyncFunc(func(_ context.Context, key string) error { return o.do(does, key) })
	}
	c.Routes = []host.Route{
		{Kind: fleets, Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, keyOf(either(e)))
		}},
		{Kind: member, Do: func(v host.View, e host.Event, out *host.Effect) {
			for _, o := range []runtime.Object{e.Old, e.New} {
				out.Keys = append(out.Keys, interested(v, o)...)
			}
		}},
	}
	return c
}

// fleeting returns an operator for fleets and their ships.
func fleeting(sync func(o *operator, f metav1.Object) error) host.Controller {
	return operates("fleet", ships, doing{sync: sync})
}

func either(e host.Event) runtime.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

func keyOf(o any) string { return o.(metav1.Object).GetNamespace() + "/" + o.(metav1.Object).GetName() }

// interested lists the keys that a change of a member enqueues: its owner, or for an orphan all owners that select it.
func interested(v host.View, member runtime.Object) (keys []string) {
	if member == nil {
		return nil
	}
	m := member.(metav1.Object)
	if c := metav1.GetControllerOf(m); c != nil {
		if c.Kind == fleets.Kind {
			keys = append(keys, m.GetNamespace()+"/"+c.Name)
		}
		return keys
	}
	v.Each(fleets, m.GetNamespace(), func(o runtime.Object) bool {
		if selector(o).Matches(labels.Set(m.GetLabels())) {
			keys = append(keys, keyOf(o))
		}
		return true
	})
	return keys
}

func want(owner runtime.Object) int {
	n, _ := number(owner.(metav1.Object), "spec", "replicas")
	return n
}

func wanted(f metav1.Object) int { return want(f.(runtime.Object)) }

func selector(owner runtime.Object) labels.Selector {
	return labels.SelectorFromSet(labels.Set{"sea": field(owner.(metav1.Object), "sea")})
}

func field(f metav1.Object, name string) string {
	s, _, _ := unstructured.NestedString(f.(*unstructured.Unstructured).Object, "spec", name)
	return s
}

// number returns the number in a fleet's field, and whether the field exists.
func number(f metav1.Object, fields ...string) (int, bool) {
	n, found, _ := unstructured.NestedInt64(f.(*unstructured.Unstructured).Object, fields...)
	return int(n), found
}

func counted(owner runtime.Object) int {
	n, _ := number(owner.(metav1.Object), "status", "replicas")
	return n
}

func (o *operator) do(does doing, key string) error {
	obj, ok, _ := o.owners.GetByKey(key)
	if !ok {
		return nil
	}
	f := obj.(metav1.Object)
	switch going := f.GetDeletionTimestamp() != nil; {
	case going && does.dying == nil:
		return nil
	case going:
		return does.dying(o, f)
	}
	return does.sync(o, f)
}

func (o *operator) list(which func(m metav1.Object) bool) (list []metav1.Object) {
	for _, x := range o.members.List() {
		if m := x.(metav1.Object); which(m) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// all lists the members that an owner selects.
func (o *operator) all(f metav1.Object) []metav1.Object {
	return o.list(func(m metav1.Object) bool { return selector(f.(runtime.Object)).Matches(labels.Set(m.GetLabels())) })
}

// owned lists the members that an owner controls.
func (o *operator) owned(f metav1.Object) []metav1.Object {
	return o.list(func(m metav1.Object) bool { return metav1.IsControlledBy(m, f) })
}

// has reports whether the cache has a member of that name.
func (o *operator) has(name string) bool {
	_, ok, _ := o.members.GetByKey("default/" + name)
	return ok
}

// made returns a new member. The server completes a name that ends in "-".
func (o *operator) made(f metav1.Object, name string) metav1.Object {
	meta := metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: name, Labels: map[string]string{"sea": field(f, "sea")},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f, fleets)}}
	if strings.HasSuffix(name, "-") {
		meta.Name, meta.GenerateName = "", name
	}
	return &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"color": field(f, "color")}}
}

// create creates a member. It is no error if the name exists already.
func (o *operator) create(m metav1.Object) error {
	_, err := o.client.Create(context.Background(), m.(runtime.Object))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// remove deletes a member, with its UID as a precondition. It is no error if the member does not exist.
func (o *operator) remove(m metav1.Object) error {
	uid := m.GetUID()
	err := o.client.Delete(context.Background(), o.member, "default", m.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (o *operator) merge(kind schema.GroupVersionKind, name string, patch map[string]any, subresource string) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = o.client.Patch(context.Background(), kind, "default", name,
		host.Patch{Type: types.MergePatchType, Data: data, Subresource: subresource})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// reports writes a number into the status, unless it is there already.
func (o *operator) reports(f metav1.Object, name string, n int) error {
	if was, found := number(f, "status", name); found && was == n {
		return nil
	}
	return o.merge(fleets, f.GetName(), map[string]any{"status": map[string]any{name: n}}, "status")
}

// keeps is the sync of a right operator: the ships of a fleet have fixed names, and unwanted ships are deleted with
// their UID.
func (o *operator) keeps(f metav1.Object) error {
	for i := range wanted(f) {
		if name := fmt.Sprintf("%s-%d", f.GetName(), i); !o.has(name) {
			if err := o.create(o.made(f, name)); err != nil {
				return err
			}
		}
	}
	for _, m := range o.owned(f) {
		var i int
		if fmt.Sscanf(strings.TrimPrefix(m.GetName(), f.GetName()+"-"), "%d", &i); i >= wanted(f) &&
			m.GetDeletionTimestamp() == nil {
			if err := o.remove(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func user(lines ...string) (list []simtest.Action) {
	for _, l := range lines {
		list = append(list, simtest.Verb(l))
	}
	return list
}

func refs(list ...metav1.OwnerReference) map[string]any {
	return map[string]any{"metadata": map[string]any{"ownerReferences": list}}
}
