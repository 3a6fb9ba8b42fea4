package httpapi

import (
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// The media types of OpenAPI documents; kubectl asks for version 2 in protobuf.
const (
	v2Proto   = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	v2ProtoAt = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

// documents are the OpenAPI documents. They are made when they are asked for,
// and again after the table of kinds has changed.
type documents struct {
	mu      sync.Mutex
	kinds   []*fakeapi.Kind
	v3      map[string][]byte // by path below /openapi/v3/
	v2      []byte
	v2proto []byte
}

// fresh forgets the documents when they are those of another table. The caller
// has the lock.
func (d *documents) fresh(kinds []*fakeapi.Kind) {
	if !slices.Equal(d.kinds, kinds) {
		d.kinds, d.v3, d.v2, d.v2proto = slices.Clone(kinds), nil, nil, nil
	}
}

// answerOpenAPI answers the paths of OpenAPI; ok is false for any other.
func (h *Handler) answerOpenAPI(r *http.Request, kinds []*fakeapi.Kind) (a *answer, ok bool) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	below, v3 := strings.CutPrefix(path, "/openapi/v3")
	if path != "/openapi/v2" && (!v3 || below != "" && below[0] != '/') {
		return nil, false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return fail(format{media: jsonMedia}, errMethod()), true
	}
	h.docs.mu.Lock()
	defer h.docs.mu.Unlock()
	h.docs.fresh(kinds)
	f := format{media: jsonMedia}
	if !v3 {
		return h.docs.version2(r.Header.Get("Accept")), true
	}
	all := h.docs.version3()
	if below == "" {
		index := map[string]object{}
		for name, text := range all {
			sum := sha512.Sum512(text)
			index[name] = object{"serverRelativeURL": "/openapi/v3/" + name + "?hash=" + strings.ToUpper(hex.EncodeToString(sum[:]))}
		}
		return raw(f, object{"paths": index}), true
	}
	if text, ok := all[below[1:]]; ok {
		return &answer{code: http.StatusOK, raw: text, format: f}, true
	}
	return notFoundText(), true
}

func info() object { return object{"title": "Kubernetes", "version": "v1.36.3"} }

// version3 makes one document for each group and version.
func (d *documents) version3() map[string][]byte {
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
		s := &schemas{v3: true, named: object{}}
		paths := object{}
		for _, k := range kinds {
			s.add(k)
			s.paths(k, paths)
		}
		name := "apis/" + gv.String()
		if gv.Group == "" {
			name = "api/" + gv.Version
		}
		d.v3[name] = encodeDocument(object{"openapi": "3.0.0", "info": info(), "paths": paths, "components": object{"schemas": s.named}})
	}
	return d.v3
}

// version2 answers with the one document of all kinds.
func (d *documents) version2(accept string) *answer {
	if d.v2 == nil {
		s := &schemas{named: object{}}
		paths := object{}
		for _, k := range d.kinds {
			s.add(k)
			s.paths(k, paths)
		}
		d.v2 = encodeDocument(object{"swagger": "2.0", "info": info(), "paths": paths, "definitions": s.named})
	}
	if !strings.Contains(accept, v2Proto) && !strings.Contains(accept, v2ProtoAt) {
		return &answer{code: http.StatusOK, raw: d.v2, format: format{media: jsonMedia}}
	}
	if d.v2proto == nil {
		doc, err := openapiv2.ParseDocument(d.v2)
		if err == nil {
			d.v2proto, err = proto.Marshal(doc)
		}
		if err != nil { // a custom kind's schema says what version 2 cannot
			return fail(format{media: jsonMedia}, err)
		}
	}
	return &answer{code: http.StatusOK, binary: d.v2proto, contentType: v2Proto}
}

func encodeDocument(doc object) []byte {
	text, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("httpapi: our own OpenAPI document does not encode: %v", err))
	}
	return text
}
