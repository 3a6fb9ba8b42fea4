package httpapi

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The encodings of objects.
const (
	jsonMedia  = "application/json"
	yamlMedia  = "application/yaml"
	protoMedia = "application/vnd.kubernetes.protobuf"
)

// format is how an answer is to be encoded.
type format struct {
	media   string // [jsonMedia], ...
	as      string // "", "Table", "PartialObjectMetadata", "PartialObjectMetadataList", ...
	group   string
	version string
	pretty  bool
	include metav1.IncludeObjectPolicy // what a Table's rows carry
}

// plain is the format without a transformation: errors are never transformed.
func (f format) plain() format { return format{media: f.media, pretty: f.pretty} }

// forms says which forms of an answer a path offers.
type forms func(c *clause) bool

// asCustom are the forms of custom resources: they have no protobuf form.
func asCustom(c *clause) bool {
	return asObjects(c) && (c.media != protoMedia || c.params["as"] != "")
}

// asObjects are the forms of objects and lists. Tables have no protobuf form.
func asObjects(c *clause) bool {
	if c.params["as"] == "" {
		return true
	}
	if c.params["g"] != metav1.GroupName || c.params["v"] != "v1" && c.params["v"] != "v1beta1" {
		return false
	}
	switch c.params["as"] {
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return true
	case "Table":
		return c.media != protoMedia
	}
	return false
}

// asDiscovery are the forms of /api and /apis.
func asDiscovery(c *clause) bool {
	if c.params["as"] == "" {
		return true
	}
	v := c.params["v"]
	return c.params["g"] == "apidiscovery.k8s.io" && c.params["as"] == "APIGroupDiscoveryList" && (v == "v2" || v == "v2beta1") && c.media == jsonMedia
}

// negotiate reads the Accept header. ok is false when nothing fits; the format
// then has a media type if only the form does not.
func negotiate(r *http.Request, offered forms) (f format, ok bool) {
	f.media = jsonMedia
	f.pretty = wantsPretty(r)
	header := r.Header.Get("Accept")
	switch {
	case header == "" || header == jsonMedia:
		return f, true
	case header == protoMedia && offered(&clause{media: protoMedia}):
		f.media = protoMedia
		return f, true
	}
	all := clauses(header)
	known := false
	for i := range all {
		c := &all[i]
		switch c.media {
		case "*/*", "application/*":
			c.media = jsonMedia
		case jsonMedia, yamlMedia, protoMedia:
		default:
			continue
		}
		known = true
		if !offered(c) {
			continue
		}
		f.media, f.as, f.group, f.version = c.media, c.params["as"], c.params["g"], c.params["v"]
		return f, true
	}
	if !known {
		f.media = ""
	}
	return f, false
}

// wantsPretty says whether the answer is indented: when the query says so, and
// for programs that people look over the shoulder of.
func wantsPretty(r *http.Request) bool {
	if r.URL.RawQuery != "" {
		if v, ok := r.URL.Query()["pretty"]; ok && v[0] != "" {
			pretty, _ := strconv.ParseBool(v[0])
			return pretty
		}
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// tableOptions reads what the rows of a Table are to carry.
func (f *format) tableOptions(q url.Values) error {
	f.include = metav1.IncludeObjectPolicy(q.Get("includeObject"))
	if f.as == "Table" && !slices.Contains([]metav1.IncludeObjectPolicy{"", metav1.IncludeMetadata, metav1.IncludeObject, metav1.IncludeNone}, f.include) {
		return errInclude(f.include)
	}
	return nil
}

// clause is one alternative of an Accept header.
type clause struct {
	media  string
	params map[string]string
	q      float64
}

// clauses splits an Accept header, the best first.
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
