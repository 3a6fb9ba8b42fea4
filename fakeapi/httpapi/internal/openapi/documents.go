// Package openapi returns OpenAPI documents of versions 2 and 3. They describe built-in kinds by the schemas that
// Kubernetes generates, and custom kinds by the schemas of their CRDs.
package openapi

import (
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/internal/kubernetes"
)

// Documents creates OpenAPI documents when they are requested. It creates them again when the kinds have changed. The
// zero value is ready for use. It is safe for concurrent use.
type Documents struct {
	mu    sync.Mutex
	kinds []*fakeapi.Kind
	made  *documents
}

// documents holds the documents for one list of kinds. Each document is created at its first request.
type documents struct {
	v3      func() map[string][]byte // the documents, by path below /openapi/v3/
	v2      func() []byte
	v2proto func() ([]byte, error)
	v3proto sync.Map // the documents of version 3 in protobuf, by path
}

func (d *Documents) of(kinds []*fakeapi.Kind) *documents {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made == nil || !slices.Equal(d.kinds, kinds) {
		own := slices.Clone(kinds)
		v2 := sync.OnceValue(func() []byte { return version2(own) })
		d.kinds, d.made = own, &documents{v2: v2,
			v3:      sync.OnceValue(func() map[string][]byte { return version3(own) }),
			v2proto: sync.OnceValues(func() ([]byte, error) { return inProto(v2()) })}
	}
	return d.made
}

func info() object { return object{"title": "Kubernetes", "version": kubernetes.Version} }

// Version3 returns the document at a path below /openapi/v3/, such as "apis/apps/v1"; nil for any other path.
func (d *Documents) Version3(kinds []*fakeapi.Kind, path string) []byte {
	return d.of(kinds).v3()[path]
}

// Version3Proto is like Version3, but returns protobuf.
func (d *Documents) Version3Proto(kinds []*fakeapi.Kind, path string) ([]byte, error) {
	made := d.of(kinds)
	if binary, known := made.v3proto.Load(path); known {
		return binary.([]byte), nil
	}
	text := made.v3()[path]
	if text == nil {
		return nil, nil
	}
	document, err := openapiv3.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	binary, err := proto.Marshal(document)
	if err == nil {
		made.v3proto.Store(path, binary)
	}
	return binary, err
}

// Index returns the document at /openapi/v3, which lists the other documents of version 3.
func (d *Documents) Index(kinds []*fakeapi.Kind) any {
	index := map[string]object{}
	for path, text := range d.of(kinds).v3() {
		sum := sha512.Sum512(text)
		hash := strings.ToUpper(hex.EncodeToString(sum[:]))
		index[path] = object{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + hash}
	}
	return object{"paths": index}
}

// Version2 returns the document of version 2, for all kinds.
func (d *Documents) Version2(kinds []*fakeapi.Kind) []byte { return d.of(kinds).v2() }

// Version2Proto returns version 2 in protobuf. It returns an error if version 2 cannot express a custom kind's
// schema.
func (d *Documents) Version2Proto(kinds []*fakeapi.Kind) ([]byte, error) {
	return d.of(kinds).v2proto()
}

func version3(kinds []*fakeapi.Kind) map[string][]byte {
	all, byVersion := map[string][]byte{}, map[schema.GroupVersion][]*fakeapi.Kind{}
	for _, k := range kinds {
		gv := k.GVK.GroupVersion()
		byVersion[gv] = append(byVersion[gv], k)
	}
	for gv, own := range byVersion {
		path := "apis/" + gv.String()
		if gv.Group == "" {
			path = "api/" + gv.Version
		}
		s, paths := describe(own, kinds, true)
		all[path] = encode(object{"openapi": "3.0.0", "info": info(), "paths": paths,
			"components": object{"schemas": s.named}})
	}
	return all
}

func version2(kinds []*fakeapi.Kind) []byte {
	s, paths := describe(kinds, kinds, false)
	return encode(object{"swagger": "2.0", "info": info(), "paths": paths, "definitions": s.named})
}

func inProto(text []byte) ([]byte, error) {
	doc, err := openapiv2.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(doc)
}

func describe(kinds, all []*fakeapi.Kind, v3 bool) (s *schemas, paths object) {
	s, paths = newSchemas(all, v3), object{}
	for _, k := range kinds {
		s.add(k)
		s.paths(k, paths)
	}
	return s, paths
}

func encode(doc object) []byte {
	text, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("httpapi: our own OpenAPI document does not encode: %v", err))
	}
	return text
}

// paths adds the URL paths of a kind, with the operations (get, post and so on) of each path.
func (s *schemas) paths(k *fakeapi.Kind, into object) {
	root := "/api/" + k.GVK.Version
	if k.GVK.Group != "" {
		root = "/apis/" + k.GVK.Group + "/" + k.GVK.Version
	}
	status := s.of(metav1.Status{})
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
			"patch":      s.operation(k, "patch", "", s.kind(k), s.of(metav1.Patch{})),
		}
	}
	into[base+"/{name}"] = one()
	into[base+"/{name}"].(object)["delete"] = s.operation(k, "delete", "", status, nil)
	if k.Serves("status") {
		into[base+"/{name}/status"] = one()
	}
}

// queries holds, for each operation, the query parameters that clients need to find in the document.
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
