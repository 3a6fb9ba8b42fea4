package codec

import (
	"bytes"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// Encode encodes an object in the format's media type.
func Encode(obj runtime.Object, f media.Format) ([]byte, error) {
	if f.Type == media.Proto {
		return Proto(obj)
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return Text(raw, f)
}

// Text makes the text of a format from JSON: indented, or YAML.
func Text(raw []byte, f media.Format) ([]byte, error) {
	switch {
	case f.Type == media.YAML:
		return yaml.JSONToYAML(raw)
	case f.Pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return nil, err
		}
		raw = b.Bytes()
	}
	return append(raw[:len(raw):len(raw)], '\n'), nil
}

// Proto encodes an object in protobuf, as Kubernetes frames it.
func Proto(obj runtime.Object) ([]byte, error) {
	var b bytes.Buffer
	err := protobufSerializer.Encode(obj, &b)
	return b.Bytes(), err
}

var protobufSerializer runtime.Encoder = protobuf.NewSerializer(scheme, scheme)
