// Package codec decodes the bodies and queries of requests, and encodes objects for responses.
package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// scheme contains the Go types of the built-in kinds.
var (
	scheme = makeScheme(corev1.AddToScheme, appsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme,
		eventsv1.AddToScheme, policyv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme,
		discoveryv1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme, admissionv1.AddToScheme,
		certificatesv1.AddToScheme, flowcontrolv1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme,
		resourcev1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme, apiregistrationv1.AddToScheme,
		authenticationv1.AddToScheme, authorizationv1.AddToScheme)
	// oldEviction (v1beta1) has the same fields as v1, so it is decoded to the same Go type.
	oldEviction = schema.GroupVersionKind{Group: policyv1.GroupName, Version: "v1beta1", Kind: "Eviction"}

	codecs     = serializer.NewCodecFactory(scheme)
	parameters = runtime.NewParameterCodec(scheme)
)

func makeScheme(add ...func(*runtime.Scheme) error) *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	for _, f := range add {
		if err := f(s); err != nil {
			panic("httpapi: the scheme does not take a group: " + err.Error())
		}
	}
	s.AddKnownTypeWithName(oldEviction, &policyv1.Eviction{})
	return s
}

// ListOptions decodes the options of a list or a watch from the query of a request.
func ListOptions(r *http.Request, into *metav1.ListOptions) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	if err := parameters.DecodeParameters(r.URL.Query(), corev1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// Export returns an error if the query of a get contains export=true, an option that no longer exists.
func Export(r *http.Request) error {
	asked, yes := r.URL.Query()["export"], false
	if len(asked) == 0 {
		return nil
	}
	if err := runtime.Convert_Slice_string_To_bool(&asked, &yes, nil); err != nil {
		return apierrors.NewBadRequest("the export parameter cannot be parsed: " + err.Error())
	}
	if yes {
		return apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	return nil
}

// WriteOptions reads the options of a create, update, patch or delete from the query. It returns an error if the
// options of a create or update are invalid.
func WriteOptions(r *http.Request, into runtime.Object) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	if err := metascheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	var errs field.ErrorList
	switch o := into.(type) {
	case *metav1.CreateOptions:
		errs = metav1validation.ValidateCreateOptions(o)
	case *metav1.UpdateOptions:
		errs = metav1validation.ValidateUpdateOptions(o)
	}
	if len(errs) == 0 {
		return nil
	}
	kind := reflect.TypeOf(into).Elem().Name()
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// DeleteOptions reads the options of a delete from its body, or from the query if the body is empty.
func DeleteOptions(r *http.Request, body []byte) (opts metav1.DeleteOptions, err error) {
	if len(body) == 0 {
		return opts, WriteOptions(r, &opts)
	}
	info, ok := runtime.SerializerInfoForMediaType(metascheme.Codecs.SupportedMediaTypes(), media.ContentType(r))
	if !ok {
		return opts, refusal.UnknownFormat()
	}
	// metascheme accepts DeleteOptions of any group and version. Clients send the version of the object to delete.
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions") // the kind of a body without a version
	obj, _, err := metascheme.Codecs.DecoderToVersion(info.Serializer, want.GroupVersion()).Decode(body, &want, &opts)
	if err != nil {
		return opts, apierrors.NewBadRequest(err.Error())
	}
	if obj != &opts {
		return opts, apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	opts.IgnoreStoreReadErrorWithClusterBreakingPotential = nil // its feature gate is off in v1.36
	return opts, nil
}

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

// texts converts decoding errors to warnings. A YAML error becomes one warning for each of its lines.
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

// unknownConversion returns the real server's error text for a body (have) that is not of the kind k.
func unknownConversion(have runtime.Object, k *fakeapi.Kind) string {
	internal, _, _ := strings.Cut(cmp.Or(k.GVK.Group, "core"), ".")
	return fmt.Sprintf("converting (%s) to (%s.%s): unknown conversion",
		strings.TrimPrefix(reflect.TypeOf(have).String(), "*"), internal, k.GVK.Kind)
}

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 3 << 20

// Body reads the body of a request. It returns an error if the body exceeds [MaxBody].
func Body(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > MaxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", MaxBody))
	}
	return body, nil
}

// Decode decodes the object of a create or update. validation is the option fieldValidation: Decode returns unknown and
// duplicate fields as warnings, as an error, or not at all.
func Decode(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	if definition, _ := k.Definition(); definition != nil {
		return decodeCustom(r, k, body, validation)
	}
	return decodeTyped(r, k, body, validation)
}

// Encode encodes an object as JSON, YAML or protobuf, as the format requires.
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

// Text converts JSON to the text of a format: YAML, or JSON with a line feed at its end, indented if f.Pretty is set.
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

// Proto encodes an object in protobuf, with the prefix that Kubernetes adds.
func Proto(obj runtime.Object) ([]byte, error) {
	var b bytes.Buffer
	err := protobufSerializer.Encode(obj, &b)
	return b.Bytes(), err
}

var protobufSerializer runtime.Encoder = protobuf.NewSerializer(scheme, scheme)

// Cache holds the encodings of stored objects that were sent recently, so that all watchers share them. The zero Cache
// is empty. It is safe for concurrent use.
type Cache struct {
	mu    sync.RWMutex
	young map[cacheKey][]byte
	old   map[cacheKey][]byte
	size  int // the number of bytes in young; before it exceeds cacheSize, young becomes old
}

type cacheKey struct {
	obj   runtime.Object // the pointer identifies the object, because a stored object never changes
	media string
}

const cacheSize = 16 << 20

// Encode returns the encoding of a stored object: protobuf, or JSON with a line feed at its end. The bytes are shared
// and must not be changed.
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

func decodeCustom(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	mediaType := media.ContentType(r)
	if mediaType != media.JSON && mediaType != media.YAML {
		return nil, nil, refusal.UnknownFormat()
	}
	decoder := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(),
		unstructuredscheme.NewUnstructuredObjectTyper(), kjson.SerializerOptions{Yaml: mediaType == media.YAML,
			Strict: validation != metav1.FieldValidationIgnore})
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
