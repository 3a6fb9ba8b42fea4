package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/internal/recorded"
)

// call is one request to one object, as Go clients make it.
type call struct {
	method               string
	resource             schema.GroupVersionResource
	kind                 schema.GroupVersionKind
	namespace, name, sub string

	object  client.Object // what POST and PUT send
	patch   types.PatchType
	body    []byte
	manager string // the field manager
	force   *bool
	options metav1.DeleteOptions

	path  string // the same on the wire
	query url.Values
}

// say makes a call of a recorded exchange.
func say(mapper meta.RESTMapper, b *recorded.Binding, ex *recorded.Exchange) (*call, error) {
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

// parse reads what a path is about.
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

// decode makes the object that a POST or PUT sends.
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
