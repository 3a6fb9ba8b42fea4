package convicted_test

import (
	"context"
	"encoding/json"
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

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// all lists the members that a fleet's selector matches, whoever owns them.
func (o *operator) all(f metav1.Object) (list []metav1.Object) {
	for _, x := range o.members.List() {
		if m := x.(metav1.Object); selector(f.(runtime.Object)).Matches(labels.Set(m.GetLabels())) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// owned lists the members that it controls.
func (o *operator) owned(f metav1.Object) (list []metav1.Object) {
	for _, x := range o.members.List() {
		if m := x.(metav1.Object); metav1.IsControlledBy(m, f) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}

// has reports whether the cache has a member of that name.
func (o *operator) has(name string) bool {
	_, ok, _ := o.members.GetByKey("default/" + name)
	return ok
}

// made returns a new member. The server completes a name that ends in "-".
func (o *operator) made(f metav1.Object, name string) metav1.Object {
	meta := metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f, o.owner)}}
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

// create treats a taken name as success.
func (o *operator) create(m metav1.Object) error {
	_, err := o.client.Create(context.Background(), m.(runtime.Object))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// remove deletes a member by name and uid. It treats a missing member as success.
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
	_, err = o.client.Patch(context.Background(), kind, "default", name,
		host.Patch{Type: types.MergePatchType, Data: data, Subresource: subresource})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// reports writes a number into a status that has another one.
func (o *operator) reports(f metav1.Object, name string, n int) error {
	if was, found,
		_ := unstructured.NestedInt64(f.(*unstructured.Unstructured).Object, "status", name); found && int(was) == n {
		return nil
	}
	return o.merge(o.owner, f.GetName(), map[string]any{"status": map[string]any{name: n}}, "status")
}

// keeps is a right operator: the ships of a fleet have fixed names, and it deletes surplus ships by uid.
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

// user returns the user's actions.
func user(lines ...string) (list []simtest.Action) {
	for _, l := range lines {
		list = append(list, simtest.Verb(l))
	}
	return list
}

// refs returns owner references for a patch.
func refs(list ...metav1.OwnerReference) map[string]any {
	return map[string]any{"metadata": map[string]any{"ownerReferences": list}}
}

// finalizers returns finalizers for a patch; nil for none.
func finalizers(list ...string) map[string]any {
	if len(list) == 0 {
		return map[string]any{"metadata": map[string]any{"finalizers": nil}}
	}
	return map[string]any{"metadata": map[string]any{"finalizers": list}}
}
