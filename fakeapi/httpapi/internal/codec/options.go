package codec

import (
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// ListOptions reads the query of a list, a watch or a get.
func ListOptions(r *http.Request, into *metav1.ListOptions) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	if err := parameters.DecodeParameters(r.URL.Query(), corev1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// Export refuses an option of a get that there is no more.
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

// WriteOptions reads the query of a create, an update or a patch. What is wrong with the
// options of a create or an update is said before the body is looked at.
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

// DeleteOptions reads the body of a delete, or, without a body, the query.
func DeleteOptions(r *http.Request, body []byte) (opts metav1.DeleteOptions, err error) {
	if len(body) == 0 {
		return opts, WriteOptions(r, &opts)
	}
	info, ok := runtime.SerializerInfoForMediaType(metascheme.Codecs.SupportedMediaTypes(), media.ContentType(r))
	if !ok {
		return opts, refusal.UnknownFormat()
	}
	// That scheme takes DeleteOptions of any group and version: clients send those of their own kind's.
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions") // what a body without a version is
	obj, _, err := metascheme.Codecs.DecoderToVersion(info.Serializer, want.GroupVersion()).Decode(body, &want, &opts)
	if err != nil {
		return opts, apierrors.NewBadRequest(err.Error())
	}
	if obj != &opts {
		return opts, apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return opts, nil
}
