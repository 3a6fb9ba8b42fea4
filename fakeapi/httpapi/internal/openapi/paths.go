package openapi

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// paths describes the operations on a kind.
func (s *schemas) paths(k *fakeapi.Kind, into object) {
	root := "/api/" + k.GVK.Version
	if k.GVK.Group != "" {
		root = "/apis/" + k.GVK.Group + "/" + k.GVK.Version
	}
	status := s.of(reflect.TypeFor[metav1.Status]())
	all, base := root+"/"+k.Resource, root+"/"+k.Resource
	var where []object
	if k.Namespaced {
		into[all] = object{"get": s.operation(k, "list", "List", s.list(k), nil)}
		base = root + "/namespaces/{namespace}/" + k.Resource
		where = append(where, s.parameter("namespace", "path"))
	}
	into[base] = object{
		"parameters": where,
		"get":        s.operation(k, "list", "List", s.list(k), nil),
		"post":       s.operation(k, "post", "", s.kind(k), s.kind(k)),
		"delete":     s.operation(k, "deletecollection", "Collection", status, nil),
	}
	where = append(where[:len(where):len(where)], s.parameter("name", "path"))
	one := func() object {
		return object{
			"parameters": where,
			"get":        s.operation(k, "get", "", s.kind(k), nil),
			"put":        s.operation(k, "put", "", s.kind(k), s.kind(k)),
			"patch":      s.operation(k, "patch", "", s.kind(k), s.of(reflect.TypeFor[metav1.Patch]())),
		}
	}
	into[base+"/{name}"] = one()
	into[base+"/{name}"].(object)["delete"] = s.operation(k, "delete", "", status, nil)
	if k.Serves("status") {
		into[base+"/{name}/status"] = one()
	}
}

// queries are the query parameters of an operation that clients look for.
var queries = map[string][]string{
	"list": {"continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "timeoutSeconds",
		"watch"},
	"deletecollection": {"dryRun", "fieldSelector", "labelSelector"},
	"post":             {"dryRun", "fieldManager", "fieldValidation"},
	"put":              {"dryRun", "fieldManager", "fieldValidation"},
	"patch":            {"dryRun", "fieldManager", "fieldValidation", "force"},
	"delete":           {"dryRun", "gracePeriodSeconds", "propagationPolicy"},
}

func (s *schemas) operation(k *fakeapi.Kind, action, suffix string, answer, body object) object {
	o := object{
		"operationId":         action + strings.ReplaceAll(k.GVK.Group, ".", "") + k.GVK.Version + k.GVK.Kind + suffix,
		"x-kubernetes-action": action,
		gvkExtension:          metav1.GroupVersionKind{Group: k.GVK.Group, Version: k.GVK.Version, Kind: k.GVK.Kind},
	}
	var parameters []object
	for _, name := range queries[action] {
		parameters = append(parameters, s.parameter(name, "query"))
	}
	switch {
	case s.v3:
		content := object{media.JSON: object{"schema": answer}}
		o["responses"] = object{"200": object{"description": "OK", "content": content}}
		if body != nil {
			o["requestBody"] = object{"required": true, "content": object{"*/*": object{"schema": body}}}
		}
	default:
		o["responses"] = object{"200": object{"description": "OK", "schema": answer}}
		if body != nil {
			parameters = append(parameters, object{"name": "body", "in": "body", "required": true, "schema": body})
		}
	}
	if len(parameters) > 0 {
		o["parameters"] = parameters
	}
	return o
}

func (s *schemas) parameter(name, in string) object {
	o := object{"name": name, "in": in}
	if in == "path" {
		o["required"] = true
	}
	if s.v3 {
		o["schema"] = object{"type": "string", "uniqueItems": true}
	} else {
		o["type"], o["uniqueItems"] = "string", true
	}
	return o
}
