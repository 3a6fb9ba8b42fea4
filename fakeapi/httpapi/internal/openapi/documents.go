// Package openapi describes the served kinds in the two versions of OpenAPI
// that Kubernetes clients read: the built-in ones by their Go types, custom
// ones by the schemas of their definitions.
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
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// Documents are the OpenAPI documents. They are made when they are asked for,
// and again after the table of kinds has changed. The zero Documents are ready;
// they may be used by several goroutines.
type Documents struct {
	mu      sync.Mutex
	kinds   []*fakeapi.Kind
	v3      map[string][]byte // by path below /openapi/v3/
	v2      []byte
	v2proto []byte
}

// fresh forgets the documents when they are those of another table. The caller
// has the lock.
func (d *Documents) fresh(kinds []*fakeapi.Kind) {
	if !slices.Equal(d.kinds, kinds) {
		d.kinds, d.v3, d.v2, d.v2proto = slices.Clone(kinds), nil, nil, nil
	}
}

func info() object { return object{"title": "Kubernetes", "version": "v1.36.3"} }

// Version3 is the document at a path below /openapi/v3/: there is one for each
// group and version. It is nil where there is none.
func (d *Documents) Version3(kinds []*fakeapi.Kind, path string) []byte {
	return d.version3(kinds)[path]
}

// Index says where the documents of version 3 are.
func (d *Documents) Index(kinds []*fakeapi.Kind) any {
	index := map[string]object{}
	for path, text := range d.version3(kinds) {
		sum := sha512.Sum512(text)
		hash := strings.ToUpper(hex.EncodeToString(sum[:]))
		index[path] = object{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + hash}
	}
	return object{"paths": index}
}

// version3 makes all documents of version 3. Nobody writes to the map.
func (d *Documents) version3(kinds []*fakeapi.Kind) map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh(kinds)
	if d.v3 != nil {
		return d.v3
	}
	d.v3 = map[string][]byte{}
	byVersion := map[schema.GroupVersion][]*fakeapi.Kind{}
	for _, k := range d.kinds {
		gv := k.GVK.GroupVersion()
		byVersion[gv] = append(byVersion[gv], k)
	}
	for gv, kinds := range byVersion {
		path := "apis/" + gv.String()
		if gv.Group == "" {
			path = "api/" + gv.Version
		}
		s, paths := describe(kinds, true)
		d.v3[path] = encode(object{"openapi": "3.0.0", "info": info(), "paths": paths,
			"components": object{"schemas": s.named}})
	}
	return d.v3
}

// Version2 is the one document of all kinds.
func (d *Documents) Version2(kinds []*fakeapi.Kind) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh(kinds)
	return d.version2()
}

func (d *Documents) version2() []byte {
	if d.v2 == nil {
		s, paths := describe(d.kinds, false)
		d.v2 = encode(object{"swagger": "2.0", "info": info(), "paths": paths, "definitions": s.named})
	}
	return d.v2
}

// Version2Proto is the document of version 2 in protobuf. The schema of a
// custom kind may say what version 2 cannot: then it is an error.
func (d *Documents) Version2Proto(kinds []*fakeapi.Kind) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh(kinds)
	if d.v2proto == nil {
		doc, err := openapiv2.ParseDocument(d.version2())
		if err == nil {
			d.v2proto, err = proto.Marshal(doc)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.v2proto, nil
}

// describe makes the schemas and paths of kinds.
func describe(kinds []*fakeapi.Kind, v3 bool) (s *schemas, paths object) {
	s, paths = &schemas{v3: v3, named: object{}}, object{}
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
