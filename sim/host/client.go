package host

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// client implements [Client]. In the client of a process, each request makes the calling reconcile wait for the answer.
type client struct {
	server *fakeapi.Server
	send   func(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error)
}

// Server returns the server that the requests go to.
func (c *client) Server() *fakeapi.Server { return c.server }

// Do sends a request. If the server does not serve the kind, the answer is 404.
func (c *client) Do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	resp, err := c.send(ctx, req)
	if err != nil {
		return fakeapi.Response{}, err
	}
	if resp.Err != nil {
		return resp, resp.Err
	}
	return resp, nil
}

// Client returns a client for a user or a third party, not for a process. Each call is executed at once, within the
// current step.
func (c *Cluster) Client(who string) Client {
	return &client{server: c.server, send: func(_ context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
		return c.Request(who, req), nil
	}}
}

// send makes the running reconcile wait until the response to a request is delivered.
func (p *Process) send(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	var w *worker
	var k *concurrentSync
	if p.concurrent() {
		k = p.here(ctx)
	} else {
		w = p.workerHere()
	}
	if w == nil && k == nil {
		panic(p.outsideSync(req))
	}
	if req.Kind == nil { // the server refuses a request without a Kind
		resp, _ := p.cluster.server.Do(p.cluster.world.Clock.Now(), req)
		return resp, nil
	}
	if req.UserAgent == "" {
		req.UserAgent = p.Name
	}
	if k != nil {
		return k.askFor(ctx, req)
	}
	return w.call(req), nil
}

// outsideSync returns the panic text for a request that is sent outside a Sync, for example from a handler.
func (p *Process) outsideSync(req *fakeapi.Request) string {
	called := fmt.Sprintf("host: %s made an API call outside a sync (%s): ", p.Name, req.Verb)
	if p.concurrent() {
		return called + "from a handler or a factory. Calls come from Sync, and from goroutines that it started"
	}
	return called + "from a goroutine that its Sync started, or from a handler or a factory. " +
		"Calls come from Sync itself, one after another: the schedule decides about each of them. " +
		"A Sync that starts goroutines is declared so: bubble.Concurrent of its host.Controller, or " +
		"controllerruntime.Options.Goroutines"
}

func (c *client) kind(gvk schema.GroupVersionKind) (*fakeapi.Kind, error) {
	if k := c.server.Kind(gvk); k != nil {
		return k, nil
	}
	return nil, notServed(gvk)
}

func notServed(gvk schema.GroupVersionKind) error {
	err := apierrors.NewGenericServerResponse(404, "get", gvk.GroupVersion().WithResource(gvk.Kind).GroupResource(), "",
		"the server could not find the requested resource", 0, false)
	return err
}

// object returns the kind and the metadata of obj, and the object to send. It converts an unstructured object of a
// built-in kind to its Go type, because the server stores a built-in kind only as its Go type. If the conversion fails,
// the error has code 400, as for a request body that the server cannot decode.
func (c *client) object(obj runtime.Object) (*fakeapi.Kind, metav1.Object, runtime.Object, error) {
	k := c.server.KindOf(obj)
	if k == nil {
		gvk := schema.GroupVersionKind{}
		if obj != nil {
			gvk = obj.GetObjectKind().GroupVersionKind()
		}
		if gvk.Empty() {
			gvk.Kind = fmt.Sprintf("%T", obj) // without a kind, the error names the Go type
		}
		return nil, nil, nil, notServed(gvk)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		typed := k.New()
		if _, same := typed.(*unstructured.Unstructured); !same {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
				return nil, nil, nil,
					apierrors.NewBadRequest(
						fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.GVK.Kind, k.GVK.Version,
							k.GVK.Kind, err))
			}
			obj = typed
		}
	}
	return k, obj.(metav1.Object), obj, nil
}

func (c *client) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	k, err := c.kind(gvk)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Get, Kind: k, Namespace: namespace, Name: name})
	return r.Object, err
}

func (c *client) List(ctx context.Context, gvk schema.GroupVersionKind, namespace string,
	opts metav1.ListOptions) ([]runtime.Object, error) {
	k, err := c.kind(gvk)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.List, Kind: k, Namespace: namespace, List: opts})
	return r.Items, err
}

func (c *client) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	k, m, obj, err := c.object(obj)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx,
		&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj})
	return r.Object, err
}

func (c *client) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return c.update(ctx, obj, "")
}

func (c *client) UpdateStatus(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return c.update(ctx, obj, "status")
}

func (c *client) update(ctx context.Context, obj runtime.Object, subresource string) (runtime.Object, error) {
	k, m, obj, err := c.object(obj)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx,
		&fakeapi.Request{Verb: fakeapi.Update, Kind: k, Subresource: subresource, Namespace: m.GetNamespace(),
			Name: m.GetName(), Object: obj})
	return r.Object, err
}

func (c *client) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p Patch) (runtime.Object, error) {
	k, err := c.kind(gvk)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(ctx,
		&fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Subresource: p.Subresource, Namespace: namespace, Name: name,
			PatchType: p.Type, Patch: p.Data})
	return r.Object, err
}

func (c *client) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	opts metav1.DeleteOptions) error {
	k, err := c.kind(gvk)
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, &fakeapi.Request{Verb: fakeapi.Delete, Kind: k, Namespace: namespace, Name: name, Delete: opts})
	return err
}
