package media

import (
	"mime"
	"net/http"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Forms says which forms of an answer a path offers.
type Forms func(c *clause) bool

// Custom are the forms of custom resources: they have no protobuf form.
func Custom(c *clause) bool {
	return Objects(c) && (c.media != Proto || c.params["as"] != "")
}

// Objects are the forms of objects and lists. Tables have no protobuf form.
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

// Discovery are the forms of /api and /apis.
func Discovery(c *clause) bool {
	if c.params["as"] == "" {
		return true
	}
	v := c.params["v"]
	return c.media == JSON && c.params["as"] == asGroups &&
		c.params["g"] == "apidiscovery.k8s.io" && (v == "v2" || v == "v2beta1")
}

// Negotiate reads the Accept header. ok is false when nothing fits; the format
// then has a media type if only the form does not.
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

// wantsPretty says whether the answer is indented: when the query says so, and
// for programs that people look over the shoulder of.
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
