package controllerruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

type subresource struct {
	apiClient
	name string
}

func (s subresource) Get(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceGetOption) error {
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return errors.New("can not get subresource using only metadata")
	}
	if sub.GetName() == "" {
		sub.SetName(obj.GetName())
	}
	k, _, err := s.p.kindOf(obj)
	if err != nil {
		return err
	}
	req := &fakeapi.Request{Verb: fakeapi.Get, Kind: k, Subresource: s.name, Name: obj.GetName()}
	if req.Namespace, err = path(req, obj.GetNamespace()); err != nil {
		return err
	}
	resp, err := s.p.do(ctx, req)
	if err != nil {
		return err
	}
	return s.p.answer(sub, k.BodyKind(s.name), resp)
}

func (s subresource) Create(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
	defer keepKind(sub)()
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return fmt.Errorf("cannot update status using only metadata -- did you mean to patch?")
	}
	if sub.GetName() == "" {
		sub.SetName(obj.GetName())
	}
	if _, ok := sub.(*authenticationv1.TokenRequest); ok {
		panic(host.Misuse("a token of a ServiceAccount is requested: no server here issues tokens; test the whole program, with " +
			"conformance.Subject.Run or threelaws check"))
	}
	// As in controller-runtime, a *SubResourceCreateOptions in opts has no effect. Its method changes only itself.
	o := (&client.SubResourceCreateOptions{}).ApplyOptions(opts)
	return s.send(ctx, obj, sub, &fakeapi.Request{Verb: fakeapi.Create, Subresource: s.name,
		Create: *o.AsCreateOptions()})
}

// Update sends obj, or the body in the options if it is set, as the new content of obj's subresource.
func (s subresource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	defer keepKind(obj)()
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return fmt.Errorf("cannot update status using only metadata -- did you mean to patch?")
	}
	o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
	content := obj
	if o.SubResourceBody != nil {
		content = o.SubResourceBody
	}
	if content.GetName() == "" {
		content.SetName(obj.GetName())
	}
	if content.GetNamespace() == "" {
		content.SetNamespace(obj.GetNamespace())
	}
	return s.send(ctx, obj, content, &fakeapi.Request{Verb: fakeapi.Update, Subresource: s.name,
		Update: *o.AsUpdateOptions()})
}

func (s subresource) Patch(ctx context.Context, obj client.Object, patch client.Patch,
	opts ...client.SubResourcePatchOption) error {
	defer keepKind(obj)()
	o := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	content := obj
	if o.SubResourceBody != nil {
		content = o.SubResourceBody
	}
	data, err := patch.Data(content)
	if err != nil {
		return err
	}
	return s.send(ctx, obj, content, &fakeapi.Request{Verb: fakeapi.Patch, Subresource: s.name,
		PatchType: patch.Type(), Patch: data, PatchO: *o.AsPatchOptions()})
}

func (s subresource) Apply(ctx context.Context, obj runtime.ApplyConfiguration,
	opts ...client.SubResourceApplyOption) error {
	o := (&client.SubResourceApplyOptions{}).ApplyOpts(opts)
	content := obj
	if o.SubResourceBody != nil {
		content = o.SubResourceBody
	}
	return s.apply(ctx, obj, content, s.name, *o.AsPatchOptions())
}

func empty(obj runtime.Object) {
	if u, ok := obj.(runtime.Unstructured); ok {
		u.SetUnstructuredContent(map[string]any{})
		return
	}
	if _, err := meta.Accessor(obj); err == nil {
		reflect.ValueOf(obj).Elem().SetZero()
	}
}

// named is implemented by client-go's apply configurations.
type named interface {
	GetName() *string
	GetNamespace() *string
	GetKind() *string
	GetAPIVersion() *string
}

func (c apiClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	o := (&client.ApplyOptions{}).ApplyOptions(opts)
	return c.apply(ctx, obj, obj, "", *o.AsPatchOptions())
}

// apply sends content as a server-side apply to the object that obj names. Afterwards obj holds the response.
func (c apiClient) apply(ctx context.Context, obj, content runtime.ApplyConfiguration, subresource string,
	o metav1.PatchOptions) error {
	req := &fakeapi.Request{Verb: fakeapi.Patch, Subresource: subresource, PatchType: types.ApplyPatchType, PatchO: o}
	gvk, namespace, err := target(obj, req)
	if err != nil {
		return err
	}
	if req.Kind, err = c.p.kind(gvk); err != nil {
		return err
	}
	if req.Namespace, err = path(req, namespace); err != nil {
		return err
	}
	if req.Patch, err = json.Marshal(content); err != nil {
		return fmt.Errorf("failed to create apply request: failed to marshal apply configuration: %w", err)
	}
	resp, err := c.p.do(ctx, req)
	if err != nil {
		return err
	}
	answer, err := contentOf(resp.Object, resp.Object.GetObjectKind().GroupVersionKind())
	if err != nil {
		return err
	}
	if u, ok := obj.(runtime.Unstructured); ok {
		u.SetUnstructuredContent(runtime.DeepCopyJSON(answer))
		return nil
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, obj) // fields that the answer lacks keep their values, as in controller-runtime
}

// target returns the kind and namespace of the object that an apply configuration describes. It sets req.Name.
func target(obj runtime.ApplyConfiguration, req *fakeapi.Request) (schema.GroupVersionKind, string, error) {
	switch obj := obj.(type) {
	case client.Object: // an unstructured object
		req.Name = obj.GetName()
		return obj.GetObjectKind().GroupVersionKind(), obj.GetNamespace(), nil
	case named:
		req.Name = ptr.Deref(obj.GetName(), "")
		gv, err := schema.ParseGroupVersion(ptr.Deref(obj.GetAPIVersion(), ""))
		if err != nil {
			return schema.GroupVersionKind{}, "", fmt.Errorf("failed to parse %q as GroupVersion: %w",
				ptr.Deref(obj.GetAPIVersion(), ""), err)
		}
		return gv.WithKind(ptr.Deref(obj.GetKind(), "")), ptr.Deref(obj.GetNamespace(), ""), nil
	}
	return schema.GroupVersionKind{}, "",
		fmt.Errorf("%T is a runtime.ApplyConfiguration but not an applyConfiguration", obj)
}
