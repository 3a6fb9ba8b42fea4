package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
)

// subresource reads and writes one subresource of objects.
type subresource struct {
	apiClient
	name string
}

// Get reads the subresource of obj.
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

// Create posts sub to the subresource of obj.
func (s subresource) Create(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
	defer keepKind(sub)()
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return fmt.Errorf("cannot update status using only metadata -- did you mean to patch?")
	}
	if sub.GetName() == "" {
		sub.SetName(obj.GetName())
	}
	// The options are lost, as in controller-runtime, whose
	// SubResourceCreateOptions.ApplyToSubResourceCreate sets those it comes from.
	o := (&client.SubResourceCreateOptions{}).ApplyOptions(opts)
	return s.send(ctx, obj, sub, &fakeapi.Request{Verb: fakeapi.Create, Subresource: s.name,
		Create: *o.AsCreateOptions()})
}

// Update replaces the subresource of obj by what obj says, or the body of the options.
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

// Patch patches the subresource of obj.
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

// Apply applies a configuration to the subresource of the object that obj names.
func (s subresource) Apply(ctx context.Context, obj runtime.ApplyConfiguration,
	opts ...client.SubResourceApplyOption) error {
	o := (&client.SubResourceApplyOptions{}).ApplyOpts(opts)
	content := obj
	if o.SubResourceBody != nil {
		content = o.SubResourceBody
	}
	return s.apply(ctx, obj, content, s.name, *o.AsPatchOptions())
}

// empty makes an object the zero of its Go type.
func empty(obj runtime.Object) {
	if u, ok := obj.(runtime.Unstructured); ok {
		u.SetUnstructuredContent(map[string]any{})
		return
	}
	if _, err := meta.Accessor(obj); err == nil {
		reflect.ValueOf(obj).Elem().SetZero()
	}
}
