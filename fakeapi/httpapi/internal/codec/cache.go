package codec

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// Cache keeps the encoded form of recently sent versions, which never change, so that all watchers share it. The zero
// Cache is empty. It is safe for concurrent use.
type Cache struct {
	mu    sync.RWMutex
	young map[cacheKey][]byte
	old   map[cacheKey][]byte
	size  int // bytes in young
}

type cacheKey struct {
	obj   runtime.Object // a pointer: the version itself
	media string
}

const cacheSize = 16 << 20

// Encode returns the encoding of a stored version in JSON, with a line feed at
// its end, or protobuf. The bytes are shared: nobody writes to them.
func (c *Cache) Encode(obj runtime.Object, mediaType string) ([]byte, error) {
	key := cacheKey{obj, mediaType}
	c.mu.RLock()
	text, ok := c.young[key]
	if !ok {
		text, ok = c.old[key]
	}
	c.mu.RUnlock()
	if ok {
		return text, nil
	}
	var err error
	if mediaType == media.Proto {
		text, err = Proto(obj)
	} else if text, err = json.Marshal(obj); err == nil {
		text = append(text, '\n')
	}
	if err != nil {
		return nil, err
	}
	c.keep(key, text)
	return text, nil
}

func (c *Cache) keep(key cacheKey, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || c.size+len(text) > cacheSize {
		c.old, c.young, c.size = c.young, map[cacheKey][]byte{}, 0
	}
	c.young[key] = text
	c.size += len(text)
}

// customDecoder decodes objects without a Go type.
func customDecoder(mediaType string, strict bool) (runtime.Decoder, bool) {
	if mediaType != media.JSON && mediaType != media.YAML {
		return nil, false
	}
	options := kjson.SerializerOptions{Yaml: mediaType == media.YAML, Strict: strict}
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(),
		unstructuredscheme.NewUnstructuredObjectTyper(), options), true
}

// decodeCustom reads the object of a create or update of a custom kind. The field validation decides whether
// duplicate and unknown fields are warnings or errors.
func decodeCustom(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	decoder, ok := customDecoder(media.ContentType(r), validation != metav1.FieldValidationIgnore)
	if !ok {
		return nil, nil, refusal.UnknownFormat()
	}
	u := &unstructured.Unstructured{}
	obj, gvk, err := decoder.Decode(body, &k.GVK, u)
	var found []error
	if err != nil {
		twice, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict || obj == nil {
			return nil, nil, refusal.Undecodable(err, k.GVK.Kind, gvk, body)
		}
		found = twice.Errors()
	}
	if gvk.GroupKind() == k.GVK.GroupKind() {
		unknown, err := k.Prune(u)
		if err != nil {
			return nil, nil, refusal.Undecodable(err, k.GVK.Kind, gvk, body)
		}
		for _, path := range unknown {
			found = append(found, fmt.Errorf("unknown field %q", path))
		}
	}
	var warnings []string
	switch {
	case len(found) == 0 || validation == metav1.FieldValidationIgnore:
	case validation == metav1.FieldValidationStrict:
		return nil, nil, refusal.Undecodable(runtime.NewStrictDecodingError(found), k.GVK.Kind, gvk, body)
	default:
		warnings = texts(found)
	}
	if gvk.GroupVersion() != k.GVK.GroupVersion() {
		return nil, nil, refusal.OtherVersion(gvk.GroupVersion(), k.GVK.GroupVersion())
	}
	if gvk.Kind != k.GVK.Kind {
		return nil, nil, apierrors.NewInvalid(gvk.GroupKind(), u.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("kind"), gvk.Kind, "must be "+k.GVK.Kind)})
	}
	return u, warnings, nil
}
