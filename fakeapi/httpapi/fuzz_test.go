package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/internal/recorded"
)

// FuzzWire sends anything at all: what the recorded cases sent, and what the
// fuzzer makes of it. Whatever it is, it is answered; what is refused is
// refused with a Status and stores nothing, and neither does reading.
func FuzzWire(f *testing.F) {
	f.Add("GET", "/api/v1/pods", "watch=1&sendInitialEvents=true", media.Proto, "", "")
	f.Add("POST", "/api/v1/namespaces/default/pods", "", media.Proto, media.Proto, string(encoded(f, benchPod("a"))))
	f.Add("PATCH", "/apis/apps/v1/namespaces/default/replicasets/a", "fieldManager=f&force=true",
		media.YAML, "application/apply-patch+yaml", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\n")
	for i, c := range readVectors(f) {
		if i%7 == 0 { // the fuzzer needs some, not all
			seedFrom(f, c)
		}
	}
	f.Fuzz(func(t *testing.T, method, path, query, accept, media, body string) {
		h := newHandler()
		seedStore(t, h)
		before := revisionOf(h)
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Body: http.NoBody,
			Header: http.Header{}}
		if body != "" {
			r = newRequest("POST", "/", "", nil, body)
			r.Method, r.URL = method, &url.URL{Path: path, RawQuery: query}
		}
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", media)
		code := answered(t, h, r)
		if after := revisionOf(h); after != before && (code >= 400 || method == "GET") {
			t.Fatalf("%s %s?%s is answered with %d, and the store went from %d to %d", method, path, query, code,
				before, after)
		}
	})
}

// seedFrom adds the requests of a recorded case.
func seedFrom(f *testing.F, c *recorded.Case) {
	b := recorded.NewBinding()
	b.Bind("$ns", "default")
	for i := range c.Exchanges {
		ex := &c.Exchanges[i]
		body := b.Fill(string(ex.Body))
		if ex.RawBody != nil {
			body = b.Fill(*ex.RawBody)
		}
		if ex.Method != "" && len(body) < 4096 {
			f.Add(ex.Method, b.Fill(ex.Path), fillQuery(b, ex.Query), ex.Headers["accept"], ex.Headers["content-type"],
				body)
		}
	}
}

// seedStore gives requests something to meet.
func seedStore(t *testing.T, h *Handler) {
	err := h.Load([]byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x: "1"}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}
`))
	if err != nil {
		t.Fatal(err)
	}
}

// answered reads the whole answer, of a watch what there is at once, and
// returns its status.
func answered(t *testing.T, h *Handler, r *http.Request) int {
	a := h.respond(r)
	if a.watch != nil {
		feed := h.newFeed(a)
		for {
			ok, _, _, err := feed.ready()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return a.code
			}
		}
	}
	body, contentType := h.body(a)
	if a.code < 400 || strings.HasPrefix(contentType, "text/plain") {
		return a.code
	}
	var s metav1.Status
	switch contentType {
	case media.Proto:
		if _, _, err := metaCodecs.Decode(body, nil, &s); err != nil {
			t.Fatalf("%d: %v", a.code, err)
		}
	case media.YAML:
		if err := yaml.Unmarshal(body, &s); err != nil {
			t.Fatalf("%d %s: %v", a.code, body, err)
		}
	default:
		if err := json.Unmarshal(body, &s); err != nil {
			t.Fatalf("%d %s: %v", a.code, body, err)
		}
	}
	if s.Status != metav1.StatusFailure || int(s.Code) != a.code {
		t.Fatalf("%d %q is no Status of that code", a.code, body)
	}
	return a.code
}
