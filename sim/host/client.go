package host

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// client is a process's Client. A call parks the running worker.
type client struct{ process *Process }

// Do sends a request and gives up the processor until its response is
// delivered. A kind the server does not have is answered with 404, as a client
// without discovery sees it.
func (c *client) Do(_ context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	w := c.process.workerHere()
	if w == nil {
		panic(fmt.Sprintf("host: %s made an API call outside a sync (%s): from a goroutine that its Sync started, or from a handler or a factory. "+
			"Calls come from Sync itself, one after another: the schedule decides about each of them. "+
			"What is to run side by side goes into a loop here, or into the syncs of several Workers", c.process.Name, req.Verb))
	}
	if req.Kind == nil { // the server's answer says why; no request can be sent
		resp, _ := c.process.cluster.server.Do(c.process.cluster.world.Clock.Now(), req)
		return resp, resp.Err
	}
	if req.UserAgent == "" {
		req.UserAgent = c.process.Name
	}
	resp := w.call(req)
	if resp.Err != nil {
		return resp, resp.Err
	}
	return resp, nil
}

func (c *client) kind(gvk schema.GroupVersionKind) (*fakeapi.Kind, error) {
	if k := c.process.cluster.server.Kind(gvk); k != nil {
		return k, nil
	}
	return nil, notServed(gvk)
}

func notServed(gvk schema.GroupVersionKind) error {
	err := apierrors.NewGenericServerResponse(404, "get", gvk.GroupVersion().WithResource(gvk.Kind).GroupResource(), "", "the server could not find the requested resource", 0, false)
	return err
}

func (c *client) object(obj runtime.Object) (*fakeapi.Kind, metav1.Object, error) {
	k := c.process.cluster.server.KindOf(obj)
	if k == nil {
		return nil, nil, notServed(obj.GetObjectKind().GroupVersionKind())
	}
	return k, obj.(metav1.Object), nil
}

func (c *client) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	k, err := c.kind(gvk)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Get, Kind: k, Namespace: namespace, Name: name})
	return r.Object, err
}

func (c *client) List(ctx context.Context, gvk schema.GroupVersionKind, namespace string, opts metav1.ListOptions) ([]runtime.Object, error) {
	k, err := c.kind(gvk)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.List, Kind: k, Namespace: namespace, List: opts})
	return r.Items, err
}

func (c *client) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	k, m, err := c.object(obj)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj})
	return r.Object, err
}

func (c *client) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return c.update(ctx, obj, "")
}

func (c *client) UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return c.update(ctx, obj, "status")
}

func (c *client) update(ctx context.Context, obj runtime.Object, subresource string) (runtime.Object, error) {
	k, m, err := c.object(obj)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Update, Kind: k, Subresource: subresource, Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj})
	return r.Object, err
}

func (c *client) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, p Patch) (runtime.Object, error) {
	k, err := c.kind(gvk)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Subresource: p.Subresource, Namespace: namespace, Name: name, PatchType: p.Type, Patch: p.Data})
	return r.Object, err
}

func (c *client) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, opts metav1.DeleteOptions) error {
	k, err := c.kind(gvk)
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Delete, Kind: k, Namespace: namespace, Name: name, Delete: opts})
	return err
}
