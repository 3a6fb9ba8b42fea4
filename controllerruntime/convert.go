package controllerruntime

import (
	"fmt"
	"math"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
)

// The server stores each kind in one Go type: a type of k8s.io/api, or unstructured objects for the kind of a CRD. A
// reconciler may use other types.

// converter is apimachinery's converter. It uses JSON tags, like the HTTP API.
var converter = runtime.DefaultUnstructuredConverter

// as returns a stored object in the Go type of a form. If the object already has this type, as returns the object
// itself. The result must not be changed.
func as(stored runtime.Object, f form) (client.Object, error) {
	if reflect.TypeOf(stored) == f.as {
		return stored.(client.Object), nil
	}
	switch f.as {
	case metadataType:
		return metadataOf(stored, f.gvk), nil
	case unstructuredType:
		content, err := contentOf(stored, f.gvk)
		return &unstructured.Unstructured{Object: content}, err
	}
	content, err := contentOf(stored, f.gvk)
	if err != nil {
		return nil, err
	}
	obj := reflect.New(f.as.Elem()).Interface().(client.Object)
	if err := converter.FromUnstructured(content, obj); err != nil {
		return nil, fmt.Errorf("%s %s does not fit its Go type %s: %w", f.gvk.Kind,
			client.ObjectKeyFromObject(stored.(client.Object)), f.as.Elem(), err)
	}
	return obj, nil
}

// contentOf returns an object's JSON value. It does not copy the value of an unstructured object.
func contentOf(obj runtime.Object, gvk schema.GroupVersionKind) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent(), nil
	}
	content, err := converter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	integral(content)
	content["apiVersion"], content["kind"] = gvk.ToAPIVersionAndKind()
	return content, nil
}

// integral converts whole numbers to integers, because JSON writes 1.0 as 1.
func integral(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if _, ok := e.(string); !ok {
				v[k] = integral(e)
			}
		}
	case []any:
		for i, e := range v {
			v[i] = integral(e)
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	}
	return v
}

func metadataOf(obj runtime.Object, gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	p := &metav1.PartialObjectMetadata{}
	p.SetGroupVersionKind(gvk)
	if m, ok := obj.(metav1.ObjectMetaAccessor); ok {
		if meta, ok := m.GetObjectMeta().(*metav1.ObjectMeta); ok {
			p.ObjectMeta = *meta
			return p
		}
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		meta, _ := u.Object["metadata"].(map[string]any)
		if err := converter.FromUnstructured(meta, &p.ObjectMeta); err != nil {
			panic(fmt.Sprintf("controllerruntime: the metadata of a stored %s: %v", gvk.Kind, err))
		}
	}
	return p
}

// fill sets obj to an object of the server's response. It clears the kind of a typed object, like client-go's decoder.
func (p *process) fill(obj, answer runtime.Object, gvk schema.GroupVersionKind) error {
	f := form{gvk, reflect.TypeOf(obj)}
	var from client.Object
	var err error
	if v := p.views[f]; v != nil {
		from, err = v.try(answer)
	} else {
		from, err = as(answer, f)
	}
	if err != nil {
		return err
	}
	set(obj, from.DeepCopyObject())
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	default:
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}

func set(to, from runtime.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
}

// body returns an object in the Go type in which the server stores it. If an unstructured object does not fit the type,
// body returns the server's error.
func body(k *fakeapi.Kind, obj runtime.Object) (runtime.Object, error) {
	to := k.New()
	u, untyped := obj.(*unstructured.Unstructured)
	_, custom := to.(*unstructured.Unstructured)
	switch {
	case reflect.TypeOf(obj) == reflect.TypeOf(to):
		return obj, nil
	case custom:
		content, err := contentOf(obj, k.GVK)
		return &unstructured.Unstructured{Object: content}, err
	case untyped:
		if err := converter.FromUnstructured(u.Object, to); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
				k.GVK.Kind,
				k.GVK.Version, k.GVK.Kind, err))
		}
		return to, nil
	}
	content, err := contentOf(obj, k.GVK)
	if err != nil {
		return nil, err
	}
	return to, converter.FromUnstructured(content, to)
}

// Of converts a function of one Go type to a function of stored objects, for the Contract of a [host.Controller]:
//
//	controllers[0].Replicas = controllerruntime.Of(func(w *v1.Widget) int { return int(w.Spec.Replicas) })
//
// The returned function panics if an object does not fit the type.
func Of[T, R any](f func(*T) R) func(runtime.Object) R {
	return func(obj runtime.Object) R { return f(typed[T](obj)) }
}

func typed[T any](obj runtime.Object) *T {
	if t, ok := any(obj).(*T); ok {
		return t
	}
	u, ok := obj.(runtime.Unstructured)
	if !ok {
		panic(fmt.Sprintf("controllerruntime: the server keeps %T, not %s", obj, reflect.TypeFor[*T]()))
	}
	t := new(T)
	if err := converter.FromUnstructured(u.UnstructuredContent(), t); err != nil {
		panic(fmt.Sprintf("controllerruntime: an object does not fit %s: %v", reflect.TypeFor[T](), err))
	}
	return t
}
