package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/vectors"
)

// rival is a server or a fake. It answers calls with an object's metadata or an error.
type rival struct {
	name    string
	givesID bool // it sets the UIDs of created objects
	answer  func() (ask, error)
}

type ask = func(*call) (metav1.Object, error)

var rivals = []rival{
	{"threelaws", true, ours},
	{"controller-runtime's fake client", false, controllerRuntimeFake},
	{"client-go's fake clientset", false, clientGoFake},
}

// ours is this module's server, through its HTTP API.
func ours() (ask, error) {
	server := fakeapi.New(fakeapi.Options{ManagedFields: true})
	h := httpapi.New(server, func() time.Time { return today })
	send := func(method, path string, media string, body []byte) (metav1.Object, error) {
		r, w := httptest.NewRequest(method, path, bytes.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Content-Type", media)
		h.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			status := &metav1.Status{}
			if err := json.Unmarshal(w.Body.Bytes(), status); err != nil {
				return nil, err
			}
			return nil, &apierrors.StatusError{ErrStatus: *status}
		}
		o := &metav1.PartialObjectMetadata{}
		return o, json.Unmarshal(w.Body.Bytes(), o)
	}
	namespace := []byte(`{"metadata":{"name":"ns-1"}}`)
	if _, err := send(http.MethodPost, "/api/v1/namespaces", "application/json", namespace); err != nil {
		return nil, err
	}
	return func(c *call) (metav1.Object, error) {
		media := "application/json"
		if c.patch != "" {
			media = string(c.patch)
		}
		return send(c.method, c.path+"?"+c.query.Encode(), media, c.body)
	}, nil
}

func controllerRuntimeFake() (ask, error) {
	cl, ctx := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), context.Background()
	return func(c *call) (metav1.Object, error) {
		o := c.object
		if o == nil {
			o = newObject(c)
		}
		switch c.method {
		case http.MethodPost:
			return o, cl.Create(ctx, o)
		case http.MethodGet:
			return o, cl.Get(ctx, client.ObjectKeyFromObject(o), o)
		case http.MethodPut:
			if c.sub == "status" {
				return o, cl.Status().Update(ctx, o)
			}
			return o, cl.Update(ctx, o)
		case http.MethodPatch:
			patch := client.RawPatch(c.patch, c.body)
			options := client.PatchOptions{FieldManager: c.manager, Force: c.force}
			if c.sub == "status" {
				return o, cl.Status().Patch(ctx, o, patch, &client.SubResourcePatchOptions{PatchOptions: options})
			}
			return o, cl.Patch(ctx, o, patch, &options)
		}
		d := c.options
		return nil, cl.Delete(ctx, o, &client.DeleteOptions{GracePeriodSeconds: d.GracePeriodSeconds,
			Preconditions: d.Preconditions, PropagationPolicy: d.PropagationPolicy, DryRun: d.DryRun, Raw: &d})
	}, nil
}

func newObject(c *call) client.Object {
	o, err := scheme.Scheme.New(c.kind)
	if err != nil {
		panic(err) // the mapper has only kinds of the scheme
	}
	named := o.(client.Object)
	named.SetNamespace(c.namespace)
	named.SetName(c.name)
	return named
}

// clientGoFake is client-go's fake clientset. It gets the same actions as from typed clients.
func clientGoFake() (ask, error) {
	cs := kubefake.NewClientset()
	return func(c *call) (metav1.Object, error) {
		res, ns := c.resource, c.namespace
		var a clienttesting.Action
		switch c.method {
		case http.MethodPost:
			a = clienttesting.NewCreateActionWithOptions(res, ns, c.object, metav1.CreateOptions{})
		case http.MethodGet:
			a = clienttesting.NewGetActionWithOptions(res, ns, c.name, metav1.GetOptions{})
		case http.MethodPut:
			a = clienttesting.NewUpdateSubresourceActionWithOptions(res, c.sub, ns, c.object, metav1.UpdateOptions{})
		case http.MethodPatch:
			var subs []string
			if c.sub != "" {
				subs = []string{c.sub}
			}
			options := metav1.PatchOptions{FieldManager: c.manager, Force: c.force}
			a = clienttesting.NewPatchSubresourceActionWithOptions(res, ns, c.name, c.patch, c.body, options, subs...)
		default:
			a = clienttesting.NewDeleteActionWithOptions(res, ns, c.name, c.options)
		}
		o, err := cs.Invokes(a, newObject(c))
		if err != nil || o == nil || c.method == http.MethodDelete {
			return nil, err
		}
		return meta.Accessor(o)
	}, nil
}

func code(err error) int {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &status):
		return outcome(int(status.Status().Code))
	}
	return 0
}

// call is one request to one object, as Go clients make it.
type call struct {
	method               string
	resource             schema.GroupVersionResource
	kind                 schema.GroupVersionKind
	namespace, name, sub string

	object  client.Object // the decoded body of a POST or PUT
	patch   types.PatchType
	body    []byte
	manager string // the field manager
	force   *bool
	options metav1.DeleteOptions

	path  string // the URL path of the request
	query url.Values
}

// say returns the call of a recorded exchange, or an error if Go clients cannot make the call.
func say(mapper meta.RESTMapper, b *vectors.Binding, ex *vectors.Exchange) (*call, error) {
	if ex.Method == "" || ex.RawBody != nil || ex.Watch != nil || ex.ConcurrentGroup != 0 {
		return nil, fmt.Errorf("it is no single request with a JSON body")
	}
	c := &call{method: ex.Method, path: b.Fill(ex.Path), body: []byte(b.Fill(string(ex.Body))), query: url.Values{}}
	if err := c.parse(mapper); err != nil {
		return nil, err
	}
	for k, v := range ex.Query {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("the parameter %s", k)
		}
		c.query.Set(k, text)
		switch policy := metav1.DeletionPropagation(text); {
		case k == "fieldManager":
			c.manager = text
		case k == "force":
			yes := text == "true"
			c.force = &yes
		case k == "propagationPolicy" && ex.Method == http.MethodDelete:
			c.options.PropagationPolicy = &policy
		default:
			return nil, fmt.Errorf("the parameter %s", k)
		}
	}
	switch ex.Method {
	case http.MethodPost, http.MethodPut:
		return c, c.decode()
	case http.MethodPatch:
		c.patch = types.PatchType(ex.Headers["content-type"])
	case http.MethodDelete:
		if len(ex.Body) > 0 {
			return c, json.Unmarshal(c.body, &c.options)
		}
	}
	return c, nil
}

func (c *call) parse(mapper meta.RESTMapper) error {
	parts := strings.Split(strings.TrimPrefix(c.path, "/"), "/")
	gv := schema.GroupVersion{Version: parts[1]}
	parts, groups := parts[2:], parts[0] == "apis"
	if groups {
		gv, parts = schema.GroupVersion{Group: gv.Version, Version: parts[0]}, parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		c.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	c.resource, c.name, c.sub = gv.WithResource(parts[0]), parts[1], parts[2]
	if (c.name == "") != (c.method == http.MethodPost) || c.sub != "" && c.sub != "status" {
		return fmt.Errorf("%s %s is not about one object", c.method, c.path)
	}
	kind, err := mapper.KindFor(c.resource)
	c.kind = kind
	return err
}

func (c *call) decode() error {
	o, kind, err := scheme.Codecs.UniversalDeserializer().Decode(c.body, nil, nil)
	if err != nil {
		return err
	}
	if *kind != c.kind {
		return fmt.Errorf("a %s is sent to %s", kind.Kind, c.resource.Resource)
	}
	c.object = o.(client.Object)
	if c.name != "" && c.object.GetName() != c.name {
		return fmt.Errorf("%s is sent to %s", c.object.GetName(), c.name)
	}
	if c.name = c.object.GetName(); c.object.GetNamespace() == "" {
		c.object.SetNamespace(c.namespace)
	}
	return nil
}
