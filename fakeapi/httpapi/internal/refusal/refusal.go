// Package refusal returns the real server's errors for requests that are refused before the [fakeapi.Server] sees
// them.
package refusal

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NotFound returns the error for a path that is not served.
func NotFound() error {
	return generic(http.StatusNotFound, metav1.StatusReasonNotFound,
		"the server could not find the requested resource")
}

// Unauthorized returns the error for invalid credentials.
func Unauthorized() error {
	return bare(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
}

// Method returns the error for a method that the path does not support.
func Method() error {
	return generic(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
}

// NotModelled returns the error for a request that only the real server supports.
func NotModelled(what string) error {
	return generic(http.StatusNotImplemented, "NotImplemented", what+" is not modelled by this server")
}

func generic(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		Details: &metav1.StatusDetails{},
	}}
}

func bare(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}}
}

// Undecodable returns the error for a body that cannot be decoded as the kind want. gvk is the body's kind, or nil.
func Undecodable(err error, want string, gvk *schema.GroupVersionKind, body []byte) error {
	if gvk != nil && gvk.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, want, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the object provided is unrecognized (must be of type %s): %v (%s)", want, err, summary(body)))
}

// OtherVersion returns the error for an object whose version differs from the version in the path.
func OtherVersion(have, want schema.GroupVersion) error {
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the API version in the data (%s) does not match the expected API version (%s)", have, want))
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

// The media types of the HTTP API, and of watches.
const (
	mediaTypes  = runtime.ContentTypeJSON + ", " + runtime.ContentTypeYAML + ", " + runtime.ContentTypeProtobuf
	streamTypes = runtime.ContentTypeJSON + ", " + runtime.ContentTypeProtobuf
)

// UnknownFormat returns the error for a body with an unsupported media type.
func UnknownFormat() error { return unknownFormat(mediaTypes) }

func unknownFormat(accepted string) error {
	return bare(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+accepted)
}

// PatchFormat returns the error for a patch of an unsupported type. For a custom resource it lists the types.
func PatchFormat(custom bool) error {
	if custom {
		return unknownFormat("application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	}
	return generic(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"415: Unsupported Media Type")
}

// NotAcceptable returns the error if the server supports none of the accepted media types.
func NotAcceptable() error {
	return generic(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+mediaTypes)
}

// Negotiation returns the error if the server supports an accepted media type, but not in the requested form.
func Negotiation() error {
	return notAcceptable("only the following media types are accepted: " + mediaTypes)
}

// StreamFormat returns the error for a watch in a media type that a watch cannot have.
func StreamFormat() error {
	return notAcceptable("only the following media types are accepted: " + streamTypes)
}

// NotList returns the error for PartialObjectMetadata of a list, or PartialObjectMetadataList of an object. In the real
// server, objects of CRDs have one Go type, which has the methods of a list.
func NotList(as string, gvk schema.GroupVersionKind, list, custom bool) error {
	switch {
	case as == "PartialObjectMetadata" && list:
		what := "you requested PartialObjectMetadata, but the requested object is a list"
		if custom {
			what += " (*unstructured.UnstructuredList)"
		} else if !gvk.Empty() {
			what += fmt.Sprintf(" (%sList)", internalType(gvk))
		}
		return notAcceptable(what)
	case custom:
		return bare(http.StatusInternalServerError, "", "content is not a list")
	}
	return notAcceptable(fmt.Sprintf(
		"you requested PartialObjectMetadataList, but the requested object is not a list (%s)", internalType(gvk)))
}

func notAcceptable(message string) error {
	return bare(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, message)
}

// internalType returns the name of the real server's internal Go type for a kind, such as "*apps.Deployment".
func internalType(gvk schema.GroupVersionKind) string {
	group, _, _ := strings.Cut(gvk.Group, ".")
	return "*" + cmp.Or(group, "core") + "." + gvk.Kind
}

// Include returns the error for an invalid includeObject in a request for a Table.
func Include(policy metav1.IncludeObjectPolicy) error {
	return apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: "+
		"Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", policy))
}

const extraHeader = "Impersonate-Extra-"

// Extras returns the extra fields of the impersonated user, from the headers Impersonate-Extra-KEY.
func Extras(h http.Header) map[string][]string {
	var all map[string][]string
	for name, values := range h {
		key, ok := strings.CutPrefix(name, extraHeader)
		if !ok {
			continue
		}
		if all == nil {
			all = map[string][]string{}
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		all[key] = values
	}
	return all
}

// NobodyToBe returns an error if a request without the header Impersonate-User impersonates a group, uid or extra
// field.
func NobodyToBe(h http.Header) error {
	groups, uid, extra := h.Values("Impersonate-Group"), h.Get("Impersonate-Uid"), Extras(h)
	if len(groups) == 0 && uid == "" && len(extra) == 0 {
		return nil
	}
	return bare(http.StatusBadRequest, "BadRequest", fmt.Sprintf(
		"requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name",
		"", uid, groups, extra))
}
