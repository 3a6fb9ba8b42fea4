package httpapi

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
)

func isCustom(k *fakeapi.Kind) bool {
	d, _ := k.Definition()
	return d != nil
}

// customDecoder reads objects that no Go type describes.
func customDecoder(media string, strict bool) (runtime.Decoder, bool) {
	if media != jsonMedia && media != yamlMedia {
		return nil, false
	}
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper(),
		kjson.SerializerOptions{Yaml: media == yamlMedia, Strict: strict}), true
}

// decodeCustom reads the object of a create or update of a custom kind.
// Fields that are in the text twice and fields that the kind's schema does not
// know are warned of or refused as validation says.
func decodeCustom(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	media := contentType(r)
	if r.Header.Get("Content-Type") == "" {
		media = jsonMedia
	}
	decoder, ok := customDecoder(media, validation != metav1.FieldValidationIgnore)
	if !ok {
		return nil, nil, errUnknownFormat()
	}
	u := &unstructured.Unstructured{}
	obj, gvk, err := decoder.Decode(body, &k.GVK, u)
	var found []error
	if err != nil {
		twice, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict || obj == nil {
			return nil, nil, errDecode(err, k.GVK.Kind, gvk, body)
		}
		found = twice.Errors()
	}
	if gvk.GroupKind() == k.GVK.GroupKind() {
		unknown, err := k.Prune(u)
		if err != nil {
			return nil, nil, errDecode(err, k.GVK.Kind, gvk, body)
		}
		for _, path := range unknown {
			found = append(found, fmt.Errorf("unknown field %q", path))
		}
	}
	var warnings []string
	switch {
	case len(found) == 0 || validation == metav1.FieldValidationIgnore:
	case validation == metav1.FieldValidationStrict:
		return nil, nil, errDecode(runtime.NewStrictDecodingError(found), k.GVK.Kind, gvk, body)
	default:
		for _, e := range found {
			warnings = append(warnings, e.Error())
		}
	}
	if gvk.GroupVersion() != k.GVK.GroupVersion() {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the API version in the data (%s) does not match the expected API version (%s)", gvk.GroupVersion(), k.GVK.GroupVersion()))
	}
	if gvk.Kind != k.GVK.Kind {
		return nil, nil, apierrors.NewInvalid(k.GVK.GroupKind(), u.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("kind"), gvk.Kind, "must be "+k.GVK.Kind)})
	}
	return u, warnings, nil
}

// errCustomSubresource is the answer to a subresource that a definition does not ask for.
func errCustomSubresource(k *fakeapi.Kind, name string) error {
	return apierrors.NewNotFound(k.GVR().GroupResource(), name)
}

// reachable says whether the path fits the scope of a custom kind: a path that
// does not is one that is not there.
func reachable(r *http.Request, t target) bool {
	if !isCustom(t.kind) {
		return true
	}
	if !t.kind.Namespaced {
		return t.namespace == ""
	}
	return t.namespace != "" || r.Method == http.MethodGet && t.name == ""
}
