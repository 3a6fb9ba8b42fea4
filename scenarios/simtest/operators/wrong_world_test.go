package operators_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
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
)

// The wrong operators manage Fleets, each of so many ships, or ReplicaSets of
// pods. A ship is a ConfigMap.
var (
	fleets      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Fleet"}
	ships       = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	replicaSets = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	pods        = corev1.SchemeGroupVersion.WithKind("Pod")
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

// fleet is the manifest of a fleet.
func fleet(name string, replicas int, sea string, more ...string) string {
	return fmt.Sprintf("apiVersion: example.com/v1\nkind: Fleet\nmetadata: {name: %s%s}\nspec: {replicas: %d, sea: %s}\n", name, strings.Join(more, ""), replicas, sea)
}

// replicaSet is the manifest of a ReplicaSet.
func replicaSet(name string, replicas int, app string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: %s}
spec:
  replicas: %d
  selector: {matchLabels: {app: %[3]s}}
  template:
    metadata: {labels: {app: %[3]s}}
    spec: {containers: [{name: c, image: c}]}
`, name, replicas, app)
}

// ship is the manifest of a ship, or of a pod, that nobody controls yet.
func ship(name, sea string, more ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {sea: %s}%s}\n", name, sea, strings.Join(more, ""))
}

func world(manifests ...string) string {
	return fleetDefinition + "---\n" + strings.Join(manifests, "---\n")
}

// doing is what an operator does when it is called.
type doing struct {
	sync  func(o *operator, f metav1.Object) error
	dying func(o *operator, f metav1.Object) error // for an owner that is being deleted; nil: nothing
	gone  func(o *operator, name string) error     // for one that its cache does not have; nil: nothing
}

// operator is what each of them has.
type operator struct {
	client          host.Client
	env             *host.Env
	owners, members cache.Indexer
	member          schema.GroupVersionKind
	owner           schema.GroupVersionKind
	seen            map[string]string // what it remembers
}

// operates makes the operator on one kind of owner.
func operates(name string, owner, member schema.GroupVersionKind, does doing) host.Controller {
	c := host.Controller{Name: name, For: owner, Owns: []schema.GroupVersionKind{member}, Replicas: want}
	c.New = func(env *host.Env) host.Reconciler {
		o := &operator{client: env.Client, env: env, owner: owner, member: member, seen: map[string]string{},
			owners: env.Informer(owner).GetIndexer(), members: env.Informer(member).GetIndexer()}
		return host.SyncFunc(func(_ context.Context, key string) error { return o.do(does, key) })
	}
	c.Routes = []host.Route{
		{Kind: owner, Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, keyOf(either(e)))
		}},
		{Kind: member, Do: func(v host.View, e host.Event, out *host.Effect) {
			for _, o := range []runtime.Object{e.Old, e.New} {
				out.Keys = append(out.Keys, interested(v, owner, o)...)
			}
		}},
	}
	return c
}

// fleeting makes an operator on fleets and their ships.
func fleeting(sync func(o *operator, f metav1.Object) error) host.Controller {
	return operates("fleet", fleets, ships, doing{sync: sync})
}

func either(e host.Event) runtime.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

func keyOf(o any) string { return o.(metav1.Object).GetNamespace() + "/" + o.(metav1.Object).GetName() }

// interested lists whom a change of a member concerns: its owner, or whoever
// selects it while it has none.
func interested(v host.View, owner schema.GroupVersionKind, member runtime.Object) (keys []string) {
	if member == nil {
		return nil
	}
	m := member.(metav1.Object)
	if c := metav1.GetControllerOf(m); c != nil {
		if c.Kind == owner.Kind {
			keys = append(keys, m.GetNamespace()+"/"+c.Name)
		}
		return keys
	}
	v.Each(owner, m.GetNamespace(), func(o runtime.Object) bool {
		if selector(o).Matches(labels.Set(m.GetLabels())) {
			keys = append(keys, keyOf(o))
		}
		return true
	})
	return keys
}

// want is how many members an owner asks for.
func want(owner runtime.Object) int {
	if rs, ok := owner.(*appsv1.ReplicaSet); ok {
		return int(*rs.Spec.Replicas)
	}
	n, _, _ := unstructured.NestedInt64(owner.(*unstructured.Unstructured).Object, "spec", "replicas")
	return int(n)
}

func wanted(f metav1.Object) int { return want(f.(runtime.Object)) }

func selector(owner runtime.Object) labels.Selector {
	if rs, ok := owner.(*appsv1.ReplicaSet); ok {
		return labels.SelectorFromSet(rs.Spec.Selector.MatchLabels)
	}
	return labels.SelectorFromSet(labels.Set{"sea": field(owner.(metav1.Object), "sea")})
}

// field is a field of a fleet's spec.
func field(f metav1.Object, name string) string {
	s, _, _ := unstructured.NestedString(f.(*unstructured.Unstructured).Object, "spec", name)
	return s
}

// counted is what a status says of the replicas.
func counted(owner runtime.Object) int {
	if rs, ok := owner.(*appsv1.ReplicaSet); ok {
		return int(rs.Status.Replicas)
	}
	n, _, _ := unstructured.NestedInt64(owner.(*unstructured.Unstructured).Object, "status", "replicas")
	return int(n)
}

func (o *operator) do(does doing, key string) error {
	obj, ok, _ := o.owners.GetByKey(key)
	switch {
	case !ok && does.gone != nil:
		return does.gone(o, strings.TrimPrefix(key, "default/"))
	case !ok:
		return nil
	}
	f := obj.(metav1.Object)
	if f.GetDeletionTimestamp() != nil {
		if does.dying == nil {
			return nil
		}
		return does.dying(o, f)
	}
	return does.sync(o, f)
}

// all lists the members that a fleet has by its selector, whoever's they are.
func (o *operator) all(f metav1.Object) (list []metav1.Object) {
	for _, x := range o.members.List() {
		if m := x.(metav1.Object); selector(f.(runtime.Object)).Matches(labels.Set(m.GetLabels())) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// owned lists those that it controls.
func (o *operator) owned(f metav1.Object) (list []metav1.Object) {
	for _, x := range o.members.List() {
		if m := x.(metav1.Object); metav1.IsControlledBy(m, f) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// has reports whether the cache holds a member of that name.
func (o *operator) has(name string) bool {
	_, ok, _ := o.members.GetByKey("default/" + name)
	return ok
}

// made is a new member. A name that ends in "-" is completed by the server.
func (o *operator) made(f metav1.Object, name string) metav1.Object {
	meta := metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f, o.owner)}}
	if strings.HasSuffix(name, "-") {
		meta.Name, meta.GenerateName = "", name
	}
	if rs, ok := f.(*appsv1.ReplicaSet); ok {
		meta.Labels = rs.Spec.Template.Labels
		return &corev1.Pod{ObjectMeta: meta, Spec: *rs.Spec.Template.Spec.DeepCopy()}
	}
	meta.Labels = map[string]string{"sea": field(f, "sea")}
	return &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"color": field(f, "color")}}
}

// create takes a name that is taken for success.
func (o *operator) create(m metav1.Object) error {
	_, err := o.client.Create(context.Background(), m.(runtime.Object))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// remove deletes a member by name and uid, and one that is gone with success.
func (o *operator) remove(m metav1.Object) error {
	uid := m.GetUID()
	return o.removeName(m.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}

func (o *operator) removeName(name string, how metav1.DeleteOptions) error {
	err := o.client.Delete(context.Background(), o.member, "default", name, how)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// merge sends a merge patch.
func (o *operator) merge(kind schema.GroupVersionKind, name string, patch map[string]any, subresource string) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = o.client.Patch(context.Background(), kind, "default", name, host.Patch{Type: types.MergePatchType, Data: data, Subresource: subresource})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// reports writes a number into a status that says another one.
func (o *operator) reports(f metav1.Object, name string, n int) error {
	if was, found, _ := unstructured.NestedInt64(f.(*unstructured.Unstructured).Object, "status", name); found && int(was) == n {
		return nil
	}
	return o.merge(o.owner, f.GetName(), map[string]any{"status": map[string]any{name: n}}, "status")
}

// keeps is what a right operator does: the ships of a fleet have fixed names, and
// what is beyond what it wants goes by uid.
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
		if fmt.Sscanf(strings.TrimPrefix(m.GetName(), f.GetName()+"-"), "%d", &i); i >= wanted(f) && m.GetDeletionTimestamp() == nil {
			if err := o.remove(m); err != nil {
				return err
			}
		}
	}
	return nil
}

var errSea = errors.New("the sea is rough")

// user says what the user does.
func user(lines ...string) (list []simtest.Action) {
	for _, l := range lines {
		list = append(list, simtest.Verb(l))
	}
	return list
}

// refs is a list of owner references as a patch has it.
func refs(list ...metav1.OwnerReference) map[string]any {
	return map[string]any{"metadata": map[string]any{"ownerReferences": list}}
}

// holds is the finalizers of an object as a patch has them, nil for none.
func finalizers(list ...string) map[string]any {
	if len(list) == 0 {
		return map[string]any{"metadata": map[string]any{"finalizers": nil}}
	}
	return map[string]any{"metadata": map[string]any{"finalizers": list}}
}
