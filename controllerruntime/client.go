package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
)

// apiClient is a manager's client: it reads from the cache and writes to the server.
type apiClient struct{ p *process }

// Get reads from the cache, or from the server if the manager's client does not cache the kind.
func (c apiClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	live, err := c.readsLive(obj)
	if err != nil {
		return err
	}
	if live {
		return apiReader(c).Get(ctx, key, obj, opts...)
	}
	return cacheReader(c).Get(ctx, key, obj, opts...)
}

// List reads from the cache, or from the server if the manager's client does not cache the kind.
func (c apiClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	live, err := c.readsLive(list)
	if err != nil {
		return err
	}
	if live {
		return apiReader(c).List(ctx, list, opts...)
	}
	return cacheReader(c).List(ctx, list, opts...)
}

func (c apiClient) readsLive(obj runtime.Object) (bool, error) {
	gvk, err := c.p.gvkOf(obj)
	if err != nil {
		return false, err
	}
	if meta.IsListType(obj) {
		gvk.Kind = trimList(gvk.Kind)
	}
	_, untyped := obj.(runtime.Unstructured)
	return c.p.live[gvk] || untyped && !c.p.o.CacheUnstructured, nil
}

func (c apiClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return fmt.Errorf("cannot create using only metadata")
	}
	allowed := authorizationv1.SubjectAccessReviewStatus{Allowed: true} // as package httpapi answers; no such object is stored
	switch o := obj.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		o.Status = allowed
		return nil
	case *authorizationv1.SubjectAccessReview:
		o.Status = allowed
		return nil
	case *authorizationv1.LocalSubjectAccessReview:
		o.Status = allowed
		return nil
	}
	o := (&client.CreateOptions{}).ApplyOptions(opts)
	return c.send(ctx, obj, obj, &fakeapi.Request{Verb: fakeapi.Create, Create: *o.AsCreateOptions()})
}

func (c apiClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	defer keepKind(obj)()
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return fmt.Errorf("cannot update using only metadata -- did you mean to patch?")
	}
	o := client.UpdateOptions{}
	o.ApplyOptions(opts)
	return c.send(ctx, obj, obj, &fakeapi.Request{Verb: fakeapi.Update, Update: *o.AsUpdateOptions()})
}

func (c apiClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	defer keepKind(obj)()
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	o := (&client.PatchOptions{}).ApplyOptions(opts)
	return c.send(ctx, obj, obj, &fakeapi.Request{Verb: fakeapi.Patch, PatchType: patch.Type(), Patch: data,
		PatchO: *o.AsPatchOptions()})
}

func (c apiClient) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	o := (&client.DeleteOptions{}).ApplyOptions(opts)
	return c.send(ctx, obj, nil, &fakeapi.Request{Verb: fakeapi.Delete, Delete: *o.AsDeleteOptions()})
}

func (c apiClient) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	k, _, err := c.p.kindOf(obj)
	if err != nil {
		return err
	}
	o := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
	req := &fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: k, List: *o.AsListOptions(),
		Delete: *o.AsDeleteOptions()}
	if req.Namespace, err = path(req, o.ListOptions.Namespace); err != nil {
		return err
	}
	if k.Namespaced && req.Namespace == "" { // the API has no such path
		return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "",
			"", 0, true)
	}
	_, err = c.p.do(ctx, req)
	return err
}

// send sends a request about obj, with content as the body if the verb has one. Afterwards content holds the response;
// if content is nil, the response is dropped.
func (c apiClient) send(ctx context.Context, obj, content client.Object, req *fakeapi.Request) error {
	k, _, err := c.p.kindOf(obj)
	if err != nil {
		return err
	}
	req.Kind, req.Name = k, obj.GetName()
	if req.Namespace, err = path(req, obj.GetNamespace()); err != nil {
		return err
	}
	sent := k.BodyKind(req.Subresource)
	if content != nil && req.Verb != fakeapi.Patch {
		if req.Object, err = body(sent, content); err != nil {
			return err
		}
	}
	resp, err := c.p.do(ctx, req)
	if err != nil || content == nil {
		return err
	}
	return c.p.answer(content, sent, resp)
}

// answer sets obj to the response to a request. If the response has another kind than sent, such as a Status, answer
// empties obj, like controller-runtime's decoder.
func (p *process) answer(obj client.Object, sent *fakeapi.Kind, resp fakeapi.Response) error {
	if resp.Object == nil || resp.Object.GetObjectKind().GroupVersionKind().Kind != sent.GVK.Kind {
		empty(obj)
		return nil
	}
	gvk, err := p.gvkOf(obj)
	if err != nil {
		return err
	}
	return p.fill(obj, resp.Object, gvk)
}

// keepKind returns a function that restores obj's present kind, unless this kind is empty. Callers defer it, because an
// update or patch must not change the kind.
func keepKind(obj client.Object) func() {
	gvk := obj.GetObjectKind().GroupVersionKind()
	return func() {
		if !gvk.Empty() {
			obj.GetObjectKind().SetGroupVersionKind(gvk)
		}
	}
}

func (c apiClient) Status() client.SubResourceWriter { return c.SubResource("status") }

func (c apiClient) SubResource(name string) client.SubResourceClient { return subresource{c, name} }

func (c apiClient) Scheme() *runtime.Scheme { return c.p.scheme }

func (c apiClient) RESTMapper() meta.RESTMapper { return c.p.mapper }

func (c apiClient) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return c.p.gvkOf(obj)
}

func (c apiClient) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	gvk, err := c.p.gvkOf(obj)
	if err != nil {
		return false, err
	}
	m, err := c.p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	return m.Scope.Name() != meta.RESTScopeNameRoot, nil
}

// path returns the namespace in a request's path. It returns the errors that client-go's rest.Request returns before it
// sends a request.
func path(req *fakeapi.Request, namespace string) (string, error) {
	named := true
	switch req.Verb {
	case fakeapi.List, fakeapi.DeleteCollection:
		named = false
	case fakeapi.Create:
		named = req.Subresource != ""
	}
	if !req.Kind.Namespaced {
		namespace = ""
	} else if msgs := rest.IsValidPathSegmentName(namespace); len(msgs) > 0 {
		return "", fmt.Errorf("invalid namespace %q: %v", namespace, msgs)
	}
	if named {
		if req.Name == "" {
			return "", errors.New("resource name may not be empty")
		}
		if msgs := rest.IsValidPathSegmentName(req.Name); len(msgs) > 0 {
			return "", fmt.Errorf("invalid resource name %q: %v", req.Name, msgs)
		}
	}
	if req.Kind.Namespaced && namespace == "" {
		switch {
		case req.Verb == fakeapi.Create:
			return "", errors.New("an empty namespace may not be set during creation")
		case named && req.Verb != fakeapi.Patch: // client-go sends the patch, and the server answers 404
			return "", errors.New("an empty namespace may not be set when a resource name is provided")
		}
	}
	return namespace, nil
}
