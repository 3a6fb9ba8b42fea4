package convicted_test

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// The wrong operators manage Fleets of ships, or ReplicaSets of pods. A ship is a ConfigMap.
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

// fleet returns the manifest of a fleet.
func fleet(name string, replicas int, sea string, more ...string) string {
	return fmt.Sprintf("apiVersion: example.com/v1\nkind: Fleet\nmetadata: {name: %s%s}\nspec: {replicas: %d, sea: "+
		"%s}\n", name, strings.Join(more, ""), replicas, sea)
}

// replicaSet returns the manifest of a ReplicaSet.
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

// ship returns the manifest of an orphan ship, or of a pod.
func ship(name, sea string, more ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {sea: %s}%s}\n", name, sea,
		strings.Join(more, ""))
}

func world(manifests ...string) string {
	return fleetDefinition + "---\n" + strings.Join(manifests, "---\n")
}

// doing holds an operator's functions.
type doing struct {
	sync  func(o *operator, f metav1.Object) error
	dying func(o *operator, f metav1.Object) error // for an owner that is being deleted; nil: do nothing
	gone  func(o *operator, name string) error     // for one missing from its cache; nil: do nothing
}

// operator is the state of each operator.
type operator struct {
	client          host.Client
	env             *host.Env
	owners, members cache.Indexer
	member          schema.GroupVersionKind
	owner           schema.GroupVersionKind
	seen            map[string]string // its memory
}

// operates makes an operator on one kind of owner.
func operates(name string, owner, member schema.GroupVersionKind, does doing) host.Controller {
	c := host.Controller{Name: name, For: owner, Owns: []schema.GroupVersionKind{member}, Contract: law.Contract{Replicas: want}}
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

// interested lists the keys that a change of a member concerns: its owner, or for an orphan every owner that selects
// it.
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

// want returns how many members an owner wants.
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

// field returns a field of a fleet's spec.
func field(f metav1.Object, name string) string {
	s, _, _ := unstructured.NestedString(f.(*unstructured.Unstructured).Object, "spec", name)
	return s
}

// counted returns the replicas in a status.
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
