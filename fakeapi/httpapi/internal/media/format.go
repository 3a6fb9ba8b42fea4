// Package media is about the forms in which a client wants an answer: media
// types, and what an object may be shown as instead of itself.
package media

import (
	"mime"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// The encodings of objects.
const (
	JSON  = runtime.ContentTypeJSON
	YAML  = runtime.ContentTypeYAML
	Proto = runtime.ContentTypeProtobuf
)

// What an object or a list may be shown as.
const (
	AsTable       = "Table"
	AsPartial     = "PartialObjectMetadata"
	AsPartialList = "PartialObjectMetadataList"
	asGroups      = "APIGroupDiscoveryList"
)

// Format is how an answer is to be encoded.
type Format struct {
	Type    string // [JSON], [YAML] or [Proto]
	As      string // "" for itself, [AsTable], [AsPartial], ...
	Group   string // of what it is shown as
	Version string
	Pretty  bool
	Include metav1.IncludeObjectPolicy // what a Table's rows carry
}

// Plain is the format without a transformation: errors are never transformed.
func (f Format) Plain() Format { return Format{Type: f.Type, Pretty: f.Pretty} }

// ReadTableOptions reads what the rows of a Table are to carry.
func (f *Format) ReadTableOptions(q url.Values) error {
	f.Include = metav1.IncludeObjectPolicy(q.Get("includeObject"))
	if f.As != AsTable {
		return nil
	}
	switch f.Include {
	case "", metav1.IncludeMetadata, metav1.IncludeObject, metav1.IncludeNone:
		return nil
	}
	return refusal.Include(f.Include)
}

// ContentType is the media type of a request's body: JSON when the request does
// not say, "" when what it says cannot be read.
func ContentType(r *http.Request) string {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return JSON
	}
	media, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return media
}
