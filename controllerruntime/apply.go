package controllerruntime

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
)

// named is what client-go's apply configurations say of their object.
type named interface {
	GetName() *string
	GetNamespace() *string
	GetKind() *string
	GetAPIVersion() *string
}

// Apply applies a configuration (server-side apply).
func (c apiClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	o := (&client.ApplyOptions{}).ApplyOptions(opts)
	return c.apply(ctx, obj, obj, "", *o.AsPatchOptions())
}

// apply sends content to the object that obj names, and makes obj what was answered.
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
	return json.Unmarshal(data, obj) // which leaves what the answer does not name, as in controller-runtime
}

// target is the object that a configuration is for; its name goes into the request.
func target(obj runtime.ApplyConfiguration, req *fakeapi.Request) (schema.GroupVersionKind, string, error) {
	switch obj := obj.(type) {
	case client.Object: // an unstructured one
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
