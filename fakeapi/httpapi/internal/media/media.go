// Package media determines, from the Accept header, the media type of a response and its form, such as a Table.
package media

import (
	"mime"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"

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

// The forms in which an object or a list may be sent, such as a Table. The default form is the object or list itself.
const (
	AsTable       = "Table"
	AsPartial     = "PartialObjectMetadata"
	AsPartialList = "PartialObjectMetadataList"
	asGroups      = "APIGroupDiscoveryList"
)

// Format is the media type of a response (such as JSON) and its form (such as a Table).
type Format struct {
	Type    string // [JSON], [YAML] or [Proto]
	As      string // [AsTable], [AsPartial], ...; "" for the object itself
	Group   string // API group of the form, such as meta.k8s.io
	Version string
	Pretty  bool
	Include metav1.IncludeObjectPolicy // what the rows of a Table contain: the metadata, the object or nothing
}

// Plain returns f without the form (such as a Table). Error responses have this format.
func (f Format) Plain() Format { return Format{Type: f.Type, Pretty: f.Pretty} }

// ReadTableOptions reads includeObject from the query. For a Table, an invalid value is an error.
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

// ContentType returns the media type of a request's body. It is JSON without a header, and "" for an invalid header.
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

// Forms reports whether a path supports the media type and form in one clause of an Accept header.
type Forms func(c *clause) bool

// Custom implements Forms for custom resources. Only their partial metadata has a protobuf encoding.
func Custom(c *clause) bool {
	return Objects(c) && (c.media != Proto || c.params["as"] != "")
}

// Objects implements Forms for objects and lists of built-in kinds. Tables have no protobuf encoding.
func Objects(c *clause) bool {
	if c.params["as"] == "" {
		return true
	}
	if c.params["g"] != metav1.GroupName || c.params["v"] != "v1" && c.params["v"] != "v1beta1" {
		return false
	}
	switch c.params["as"] {
	case AsPartial, AsPartialList:
		return true
	case AsTable:
		return c.media != Proto
	}
	return false
}

// Discovery implements Forms for the paths /api and /apis.
func Discovery(c *clause) bool {
	if c.params["as"] == "" {
		return true
	}
	v := c.params["v"]
	return c.media == JSON && c.params["as"] == asGroups &&
		c.params["g"] == "apidiscovery.k8s.io" && (v == "v2" || v == "v2beta1")
}

// Negotiate returns the format that the Accept header selects. ok is false if the server supports none. f.Type is then
// "" for an unsupported media type. Otherwise the form, such as a Table, is unsupported.
func Negotiate(r *http.Request, offered Forms) (f Format, ok bool) {
	f.Type = JSON
	f.Pretty = wantsPretty(r)
	header := r.Header.Get("Accept")
	switch {
	case header == "" || header == JSON:
		return f, true
	case header == Proto && offered(&clause{media: Proto}):
		f.Type = Proto
		return f, true
	}
	all := clauses(header)
	known := false
	for i := range all {
		c := &all[i]
		switch c.media {
		case "*/*", "application/*":
			c.media = JSON
		case JSON, YAML, Proto:
		default:
			continue
		}
		known = true
		if !offered(c) {
			continue
		}
		f.Type, f.As, f.Group, f.Version = c.media, c.params["as"], c.params["g"], c.params["v"]
		return f, true
	}
	if !known {
		f.Type = ""
	}
	return f, false
}

// wantsPretty returns the query parameter pretty. Its default is true for curl, wget and browsers, otherwise false.
func wantsPretty(r *http.Request) bool {
	if r.URL.RawQuery != "" {
		if v, ok := r.URL.Query()["pretty"]; ok && v[0] != "" {
			pretty, _ := strconv.ParseBool(v[0])
			return pretty
		}
	}
	for _, program := range []string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(r.UserAgent(), program) {
			return true
		}
	}
	return false
}

type clause struct {
	media  string
	params map[string]string
	q      float64
}

func clauses(header string) []clause {
	var all []clause
	for text := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(text))
		if err != nil {
			continue
		}
		c := clause{media, params, 1}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			c.q = q
		}
		all = append(all, c)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].q > all[j].q })
	return all
}
