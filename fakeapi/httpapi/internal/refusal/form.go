package refusal

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What the wire reads and writes, and what of it has frames.
const (
	mediaTypes  = runtime.ContentTypeJSON + ", " + runtime.ContentTypeYAML + ", " + runtime.ContentTypeProtobuf
	streamTypes = runtime.ContentTypeJSON + ", " + runtime.ContentTypeProtobuf
)

// UnknownFormat is the answer to a body of a type that is not read.
func UnknownFormat() error {
	return bare(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+mediaTypes)
}

// PatchFormat is the answer to a patch of a type that is not known.
func PatchFormat() error {
	return generic(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"415: Unsupported Media Type")
}

// NotAcceptable is the answer when none of the media types asked for is ours.
func NotAcceptable() error {
	return generic(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+mediaTypes)
}

// Negotiation is the answer when the media type is one of ours, but what it
// should show is not.
func Negotiation() error {
	return notAcceptable("only the following media types are accepted: " + mediaTypes)
}

// StreamFormat is the answer to a watch in a form that has no frames.
func StreamFormat() error {
	return notAcceptable("only the following media types are accepted: " + streamTypes)
}

// NotList is the answer to a request for the form as, which is one of lists, of
// an object; or the other way round, of a list. Of a kind that is not modelled
// only its emptiness is known: its gvk is empty.
func NotList(as string, gvk schema.GroupVersionKind, list bool) error {
	if as == "PartialObjectMetadata" && list {
		what := "you requested PartialObjectMetadata, but the requested object is a list"
		if !gvk.Empty() {
			what += fmt.Sprintf(" (%sList)", internalType(gvk))
		}
		return notAcceptable(what)
	}
	return notAcceptable(fmt.Sprintf(
		"you requested PartialObjectMetadataList, but the requested object is not a list (%s)", internalType(gvk)))
}

func notAcceptable(message string) error {
	return bare(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, message)
}

// internalType is the Go type by which the real server knows a kind.
func internalType(gvk schema.GroupVersionKind) string {
	group, _, _ := strings.Cut(gvk.Group, ".")
	if group == "" {
		group = "core"
	}
	return "*" + group + "." + gvk.Kind
}

// Include is the answer to a Table whose rows are to carry what they cannot.
func Include(policy metav1.IncludeObjectPolicy) error {
	return apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: "+
		"Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", policy))
}
