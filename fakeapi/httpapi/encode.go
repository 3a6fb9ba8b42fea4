package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
)

// answer is what one HTTP request is answered with: an object, or a list, or
// text, or raw JSON, or a watch.
type answer struct {
	code        int
	warnings    []string
	object      runtime.Object
	list        *fakeapi.Response // with kind: a list
	kind        *fakeapi.Kind
	text        string
	raw         []byte // JSON
	binary      []byte // of contentType
	contentType string // when it is not the format's
	format      format
	watch       *fakeapi.Watch
	silent      bool          // a watch on a kind of which nothing can happen but
	first       []watch.Event // these
	bookmarks   bool          // the watch asked for them
	timeout     time.Duration // of a watch; 0 is the server's default
}

// streams says that the answer goes on for as long as the client listens.
func (a *answer) streams() bool { return a.watch != nil || a.silent }

// encode returns the answer's body and its content type. The bytes may be
// shared: nobody writes to them.
func (h *Handler) encode(a *answer) ([]byte, string, error) {
	switch {
	case a.binary != nil:
		return a.binary, a.contentType, nil
	case a.raw != nil:
		body, err := textForm(a.raw, a.format)
		if a.contentType != "" {
			return body, a.contentType, err
		}
		return body, a.format.media, err
	case a.object == nil && a.list == nil:
		return []byte(a.text), "text/plain; charset=utf-8", nil
	}
	obj, stored, err := h.transform(a)
	if err != nil {
		return nil, "", err
	}
	if stored && !a.format.pretty && a.format.media != yamlMedia {
		body, err := h.encoded.of(obj, a.format.media)
		return body, a.format.media, err
	}
	body, err := encodeObject(obj, a.format)
	return body, a.format.media, err
}

// transform makes the object that is sent. stored says that it is a version of
// an object as the server keeps it.
func (h *Handler) transform(a *answer) (obj runtime.Object, stored bool, err error) {
	f := a.format
	switch {
	case a.list != nil && f.as == "Table":
		return tableOf(a.kind, a.list, f, h.now()), false, nil
	case a.list != nil && f.as == "PartialObjectMetadataList":
		return partialList(a.list, f), false, nil
	case a.list != nil && f.as == "":
		return a.kind.MakeList(*a.list), false, nil
	case a.list != nil:
		return nil, false, errNotList(f.as, a.kind, true)
	}
	if f.as == "" || isStatus(a.object) {
		return a.object, a.code == http.StatusOK || a.code == http.StatusCreated, nil
	}
	obj, err = transformObject(a.kind, a.object, f, h.now(), true)
	return obj, false, err
}

// encodeObject encodes in the format's media type.
func encodeObject(obj runtime.Object, f format) ([]byte, error) {
	if f.media == protoMedia {
		return encodeProto(obj)
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return textForm(raw, f)
}

// textForm makes the text of a format from JSON: indented, or YAML.
func textForm(raw []byte, f format) ([]byte, error) {
	switch {
	case f.media == yamlMedia:
		return yaml.JSONToYAML(raw)
	case f.pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return nil, err
		}
		raw = b.Bytes()
	}
	return append(raw[:len(raw):len(raw)], '\n'), nil
}

func encodeProto(obj runtime.Object) ([]byte, error) {
	var b bytes.Buffer
	err := protobufSerializer.Encode(obj, &b)
	return b.Bytes(), err
}

var protobufSerializer runtime.Encoder = protobuf.NewSerializer(scheme, scheme)
