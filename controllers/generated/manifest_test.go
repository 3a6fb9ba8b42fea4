package generated_test

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/law"
)

// place is where an object is.
type place struct{ kind, namespace, name string }

// ask makes a request of the user about an object anywhere, and reports whether it was granted.
func (w *world) ask(at place, r fakeapi.Request) bool {
	if r.Kind = w.Server.KindNamed(at.kind); r.Kind == nil {
		return false // the kind is not defined now
	}
	if r.Kind.Namespaced {
		r.Namespace = at.namespace
	}
	r.Name = at.name
	return w.Cluster.As(law.User, &r).Err == nil
}

// make creates an object as a manifest says.
func (w *world) make(at place, manifest string, args ...any) bool {
	k := w.Server.KindNamed(at.kind)
	if k == nil {
		return false
	}
	obj := k.New()
	text := fmt.Appendf(nil, "apiVersion: %s\nkind: %s\n", k.GVK.GroupVersion(), k.GVK.Kind)
	if err := yaml.UnmarshalStrict(fmt.Appendf(text, manifest, args...), obj); err != nil {
		w.t.Fatalf("%s: %v", fmt.Sprintf(manifest, args...), err)
	}
	m := obj.(metav1.Object)
	if m.SetName(at.name); k.Namespaced {
		m.SetNamespace(at.namespace)
	}
	return w.ask(at, fakeapi.Request{Verb: fakeapi.Create, Object: obj})
}

// merge makes a merge patch of an object anywhere.
func (w *world) merge(at place, sub string, patch any) bool {
	return w.ask(at, fakeapi.Request{Verb: fakeapi.Patch, Subresource: sub, PatchType: types.MergePatchType,
		Patch: encode(patch)})
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("generated: " + err.Error())
	}
	return raw
}

// drop deletes an object anywhere.
func (w *world) drop(at place, policy metav1.DeletionPropagation, grace *int64) bool {
	o := metav1.DeleteOptions{GracePeriodSeconds: grace}
	if policy != "" {
		o.PropagationPolicy = &policy
	}
	return w.ask(at, fakeapi.Request{Verb: fakeapi.Delete, Delete: o})
}

// there are the places of all objects of some kinds.
func (w *world) there(kinds ...string) (list []place) {
	for _, kind := range kinds {
		k := w.Server.KindNamed(kind)
		if k == nil {
			continue
		}
		w.Server.Each(k, func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			list = append(list, place{kind, m.GetNamespace(), m.GetName()})
			return true
		})
	}
	return list
}

// at is the object at a place; nil for none.
func (w *world) at(p place) metav1.Object {
	k := w.Server.KindNamed(p.kind)
	if k == nil {
		return nil
	}
	obj := w.Server.Lookup(k, p.namespace, p.name)
	if obj == nil {
		return nil
	}
	return obj.(metav1.Object)
}

// ago is a time before now, as manifests and patches have it.
func (w *world) ago(d time.Duration) string {
	return w.World.Clock.Now().Add(-d).UTC().Format(time.RFC3339)
}

// fields are part of a patch.
type fields = map[string]any

// step takes some steps.
func (w *world) step(n int) {
	for range n {
		w.Step()
	}
}
