package codec

import (
	"fmt"
	"net/http"

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

// customDecoder reads objects that no Go type describes.
func customDecoder(mediaType string, strict bool) (runtime.Decoder, bool) {
	if mediaType != media.JSON && mediaType != media.YAML {
		return nil, false
	}
	options := kjson.SerializerOptions{Yaml: mediaType == media.YAML, Strict: strict}
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(),
		unstructuredscheme.NewUnstructuredObjectTyper(), options), true
}

// decodeCustom reads the object of a create or update of a custom kind. Fields
// that are in the text twice and fields that the kind's schema does not know
// are warned of or refused as validation says.
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
