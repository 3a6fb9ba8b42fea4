package httpapi

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// fail answers with an error. What is no API status is a 500 with its text.
func fail(f format, err error) *answer {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		status = &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Reason: metav1.StatusReasonUnknown, Message: err.Error(),
		}}
	}
	s := status.ErrStatus
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &answer{code: int(s.Code), object: &s, format: f.plain()}
}

func errNotFound() error {
	return generic(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
}

func errMethod() error {
	return generic(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
}

// generic is a refusal before anything is known of the object: its details are empty.
func generic(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message, Details: &metav1.StatusDetails{},
	}}
}

var mediaTypes = []string{jsonMedia, yamlMedia, protoMedia}

func errUnknownFormat() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(mediaTypes, ", "),
	}}
}

func errPatchFormat() error {
	return generic(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
}

func errNotAcceptable() error {
	return generic(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(mediaTypes, ", "))
}

// errNegotiation is the answer when the media type is one of ours, but what it
// should show is not.
func errNegotiation() error {
	return notAcceptable("only the following media types are accepted: " + strings.Join(mediaTypes, ", "))
}

// errStreamFormat is the answer to a watch in a form that has no frames.
func errStreamFormat() error {
	return notAcceptable("only the following media types are accepted: " + jsonMedia + ", " + protoMedia)
}

func notAcceptable(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable, Message: message,
	}}
}

// errNotList is the answer to a request for a list's form of an object, or the
// other way round.
func errNotList(as string, k *fakeapi.Kind, list bool) error {
	if as == "PartialObjectMetadata" && list {
		return notAcceptable(fmt.Sprintf("you requested PartialObjectMetadata, but the requested object is a list (%s)", internalType(k)+"List"))
	}
	return notAcceptable(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", internalType(k)))
}

// internalType is the Go type by which the real server knows a kind.
func internalType(k *fakeapi.Kind) string {
	group, _, _ := strings.Cut(k.GVK.Group, ".")
	if group == "" {
		group = "core"
	}
	return "*" + group + "." + k.GVK.Kind
}

func errInclude(policy metav1.IncludeObjectPolicy) error {
	return apierrors.NewBadRequest(fmt.Sprintf(
		"Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", policy))
}

// errNotModelled names what the real server has and this one has not.
func errNotModelled(what string) error {
	return generic(http.StatusNotImplemented, "NotImplemented", what+" is not modelled by this server")
}

// errDecode is the answer to a body that is not the object it should be.
func errDecode(err error, want string, gvk *schema.GroupVersionKind, body []byte) error {
	if gvk != nil && gvk.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, want, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want, err, summary(body)))
}

func summary(body []byte) string {
	const most = 30
	text := string(body)
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] != '{':
		if len(body) > most {
			return hex.EncodeToString(body[:most]) + " ..."
		}
		return hex.EncodeToString(body)
	case len(body) > most:
		return text[:most] + " ..."
	}
	return text
}

// warningHeader is one warning as the header has it.
func warningHeader(text string) string {
	var b strings.Builder
	b.WriteString(`299 - "`)
	for _, r := range text {
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
		}
		if r == '\n' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
