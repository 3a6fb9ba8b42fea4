package codec

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// decodeTyped reads an object of a built-in kind.
func decodeTyped(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media.ContentType(r))
	if !ok {
		return nil, nil, refusal.UnknownFormat()
	}
	decoder := runtime.Decoder(info.Serializer)
	strict := validation != metav1.FieldValidationIgnore
	if strict && info.StrictSerializer != nil {
		decoder = info.StrictSerializer
	}
	obj, gvk, err := decoder.Decode(body, &k.GVK, nil)
	var warnings []string
	if err != nil {
		found, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict || validation == metav1.FieldValidationStrict || obj == nil {
			return nil, nil, refusal.Undecodable(err, k.GVK.Kind, gvk, body)
		}
		warnings = texts(found.Errors())
	}
	if reflect.TypeOf(obj) != reflect.TypeOf(k.New()) {
		return nil, nil, refusal.Undecodable(errors.New(unknownConversion(obj, k)), k.GVK.Kind, gvk, body)
	}
	if gvk.GroupVersion() != k.GVK.GroupVersion() && *gvk != oldEviction {
		return nil, nil, refusal.OtherVersion(gvk.GroupVersion(), k.GVK.GroupVersion())
	}
	return obj, warnings, nil
}

// texts are warnings of errors. One of decoding YAML holds several, a line each.
func texts(errs []error) (all []string) {
	for _, err := range errs {
		lines, many := strings.CutPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "),
			"yaml: unmarshal errors:\n")
		if !many {
			all = append(all, err.Error())
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// unknownConversion is what the real server says when it is asked to turn an
// object of one kind into the internal form of another.
func unknownConversion(have runtime.Object, k *fakeapi.Kind) string {
	internal := k.GVK.Group
	if internal == "" {
		internal = "core"
	}
	internal, _, _ = strings.Cut(internal, ".")
	return fmt.Sprintf("converting (%s) to (%s.%s): unknown conversion",
		strings.TrimPrefix(reflect.TypeOf(have).String(), "*"), internal, k.GVK.Kind)
}
