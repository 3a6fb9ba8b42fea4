package httpapi

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"
)

// format is how an answer is to be encoded.
type format struct {
	media   string // "application/json", ...
	as      string // "", "Table", "PartialObjectMetadata", "PartialObjectMetadataList", ...
	group   string
	version string
	pretty  bool
	include string // what a Table's rows carry: "Metadata", "Object", "None"
}

// plain is the format without a transformation: errors are never transformed.
func (f format) plain() format { return format{media: f.media, pretty: f.pretty} }

// negotiate reads the Accept header. ok is false when nothing fits.
func negotiate(r *http.Request) (format, bool) {
	f := format{media: mediaTypes[0]}
	f.pretty, _ = strconv.ParseBool(r.URL.Query().Get("pretty"))
	f.include = r.URL.Query().Get("includeObject")
	header := r.Header.Get("Accept")
	if header == "" {
		return f, true
	}
	for _, c := range clauses(header) {
		switch media, params := c.media, c.params; media {
		case "*/*", "application/*":
			return f, true
		case "application/json", "application/yaml", "application/vnd.kubernetes.protobuf":
			f.media, f.as, f.group, f.version = media, params["as"], params["g"], params["v"]
			return f, true
		}
	}
	return f, false
}

type clause struct {
	media  string
	params map[string]string
	q      float64
}

// clauses splits an Accept header, the best first.
func clauses(header string) []clause {
	var all []clause
	for _, text := range strings.Split(header, ",") {
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

// encode returns the answer's body and its content type.
func (a *answer) encode() ([]byte, string, error) {
	if a.object == nil && a.raw == nil {
		return []byte(a.text), "text/plain; charset=utf-8", nil
	}
	if a.object != nil && a.format.media == "application/vnd.kubernetes.protobuf" {
		var b bytes.Buffer
		err := protobufSerializer.Encode(a.object, &b)
		return b.Bytes(), a.format.media, err
	}
	raw := a.raw
	if raw == nil {
		var err error
		if raw, err = json.Marshal(a.object); err != nil {
			return nil, "", err
		}
	}
	if a.format.media == "application/yaml" {
		text, err := yaml.JSONToYAML(raw)
		return text, a.format.media, err
	}
	if a.format.pretty {
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return nil, "", err
		}
		raw = b.Bytes()
	}
	return append(raw, '\n'), "application/json", nil
}

var protobufSerializer runtime.Encoder = protobuf.NewSerializer(scheme, scheme)
