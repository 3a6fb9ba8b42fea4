package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/threelaws/threelaws/fakeapi"
)

// scheme knows the Go types of the built-in kinds; deleteScheme knows
// DeleteOptions in every group and version, for old clients.
var (
	scheme = makeScheme(corev1.AddToScheme, appsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, eventsv1.AddToScheme, policyv1.AddToScheme, batchv1.AddToScheme,
		coordinationv1.AddToScheme, discoveryv1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme)
	deleteScheme = makeDeleteScheme()
	codecs       = serializer.NewCodecFactory(scheme)
	deleteCodecs = serializer.NewCodecFactory(deleteScheme)
	parameters   = runtime.NewParameterCodec(scheme)
	coreV1       = schema.GroupVersion{Version: "v1"}
)

func makeScheme(add ...func(*runtime.Scheme) error) *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, coreV1)
	for _, f := range add {
		if err := f(s); err != nil {
			panic("httpapi: the scheme does not take a group: " + err.Error())
		}
	}
	return s
}

func makeDeleteScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, gv := range scheme.PrioritizedVersionsAllGroups() {
		metav1.AddToGroupVersion(s, gv)
	}
	metav1.AddToGroupVersion(s, metav1.SchemeGroupVersion)
	return s
}

// readBody reads at most [maxBody] bytes.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return body, nil
}

func contentType(r *http.Request) string {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// decoderFor finds the serializer for a request's content type.
func decoderFor(factory serializer.CodecFactory, r *http.Request) (runtime.Decoder, error) {
	media := contentType(r)
	if r.Header.Get("Content-Type") == "" {
		media = "application/json"
	}
	info, ok := runtime.SerializerInfoForMediaType(factory.SupportedMediaTypes(), media)
	if !ok {
		return nil, errUnknownFormat()
	}
	return info.Serializer, nil
}

// decodeObject reads the object of a create or update. Unknown and duplicate
// fields are warned of or refused as validation says.
func decodeObject(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	if isCustom(k) {
		return decodeCustom(r, k, body, validation)
	}
	media := contentType(r)
	if r.Header.Get("Content-Type") == "" {
		media = "application/json"
	}
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	if !ok {
		return nil, nil, errUnknownFormat()
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
			return nil, nil, errDecode(err, k.GVK.Kind, gvk, body)
		}
		for _, e := range found.Errors() {
			warnings = append(warnings, e.Error())
		}
	}
	if want := k.New(); reflect.TypeOf(obj) != reflect.TypeOf(want) {
		return nil, nil, errDecode(errors.New(unknownConversion(obj, want, gvk.Group, k)), k.GVK.Kind, gvk, body)
	}
	if gvk.GroupVersion() != k.GVK.GroupVersion() {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the API version in the data (%s) does not match the expected API version (%s)", gvk.GroupVersion(), k.GVK.GroupVersion()))
	}
	return obj, warnings, nil
}

// unknownConversion is what the real server says when it is asked to turn one
// kind into the internal form of another.
func unknownConversion(have, want runtime.Object, _ string, k *fakeapi.Kind) string {
	internal := k.GVK.Group
	if internal == "" {
		internal = "core"
	}
	internal, _, _ = strings.Cut(internal, ".")
	return fmt.Sprintf("converting (%s) to (%s.%s): unknown conversion", strings.TrimPrefix(reflect.TypeOf(have).String(), "*"), internal, k.GVK.Kind)
}

// decodeDeleteOptions reads the body of a delete, or, without a body, the query.
func decodeDeleteOptions(r *http.Request, body []byte) (opts metav1.DeleteOptions, err error) {
	if len(body) == 0 {
		if err := metascheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &opts); err != nil {
			return opts, apierrors.NewBadRequest(err.Error())
		}
		return opts, nil
	}
	decoder, err := decoderFor(deleteCodecs, r)
	if err != nil {
		return opts, err
	}
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions") // what a body without a version is
	obj, _, err := decoder.Decode(body, &want, nil)
	if err != nil {
		return opts, apierrors.NewBadRequest(err.Error())
	}
	read, ok := obj.(*metav1.DeleteOptions)
	if !ok {
		return opts, apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return *read, nil
}
