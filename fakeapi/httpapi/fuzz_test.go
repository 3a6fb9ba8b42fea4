package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/internal/vectors"
)

// FuzzWire sends recorded requests and mutations of them. Every request gets a response. Reads and refused requests
// store nothing, and a refusal is a Status.
func FuzzWire(f *testing.F) {
	f.Add("GET", "/api/v1/pods", "watch=1&sendInitialEvents=true", media.Proto, "", "")
	f.Add("POST", "/api/v1/namespaces/default/pods", "", media.Proto, media.Proto, string(encodedPod(f, "a")))
	f.Add("PATCH", "/apis/apps/v1/namespaces/default/replicasets/a", "fieldManager=f&force=true",
		media.YAML, "application/apply-patch+yaml", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\n")
	for i, c := range readVectors(f) {
		if i%7 == 0 { // a part of the recordings is enough
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
			t.Fatalf("%s %s?%s has the response %d, and the revision changed from %d to %d", method, path, query, code,
				before, after)
		}
	})
}

func seedFrom(f *testing.F, c *vectors.Recording) {
	b := vectors.NewBinding()
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

// answered returns the status of a response. For a watch, it reads the available events.
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
		t.Fatalf("%d %q is not a Status with that code", a.code, body)
	}
	return a.code
}

// FuzzWebhookAnswers sends arbitrary responses of a webhook, in which UID is replaced by the UID of the review. The
// server does not panic or hang, and does not store a refused object.
func FuzzWebhookAnswers(f *testing.F) {
	const review = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":`
	const patch = `true,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEiLCJ2YWx1ZSI6eyJrIjoidiJ9fV0="}}`
	const converted = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"UID",` +
		`"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"example.com/v2","kind":"Lamp",` +
		`"metadata":{"name":"a","namespace":"default"},"spec":{"hue":"red"}}]}}`
	f.Add(uint8(0), uint16(200), []byte(review+patch))
	f.Add(uint8(1), uint16(200), []byte(review+`true,"warnings":["w"]}}`))
	f.Add(uint8(1), uint16(200), []byte(review+`false,"status":{"code":403,"message":"no"}}}`))
	f.Add(uint8(2), uint16(200), []byte(converted))
	f.Add(uint8(0), uint16(500), []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"}`))
	var body atomic.Pointer[func(asked string) (int, []byte)]
	s := hook(f, func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Request struct{ UID string } }
		text, _ := io.ReadAll(r.Body)
		json.Unmarshal(text, &asked)
		code, answer := (*body.Load())(asked.Request.UID)
		w.WriteHeader(code)
		w.Write(answer)
	})
	client := `{"url":"` + s.URL + `","caBundle":` + bundle(s) + `}`
	f.Fuzz(func(t *testing.T, sort uint8, status uint16, answer []byte) {
		say := func(uid string) (int, []byte) {
			return 200 + int(status)%400, bytes.ReplaceAll(answer, []byte("UID"), []byte(uid))
		}
		body.Store(&say)
		h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now)
		h.CallWebhooks()
		defer h.Close()
		path, made := configMaps, `{"metadata":{"name":"a"}}`
		switch sort % 3 {
		case 0:
			must(t, h, "POST", mutating, configuration("h", client, ""))
		case 1:
			must(t, h, "POST", validating, configuration("h", client, ""))
		case 2:
			must(t, h, "POST", definitions, lamps(client))
			must(t, h, "POST", lampsV1, lamp("v1", "a", "colour", "blue"))
			path, made = lampsV2, lamp("v2", "b", "hue", "red")
			for _, method := range []string{"GET", "PATCH", "DELETE"} {
				if code, text := ask(h, method, path+"/a", `{"spec":{"hue":"red"}}`); code < 200 || text == "" {
					t.Errorf("%s: %d %s", method, code, text)
				}
			}

		}
		before := must(t, h, "GET", stored(path), "")
		code, text := ask(h, "POST", path, made)
		if code < 200 || code > 999 || !json.Valid([]byte(text)) {
			t.Errorf("POST: %d %s", code, text)
		}
		if after := must(t, h, "GET", stored(path), ""); code >= 300 && after != before {
			t.Errorf("refused with %d %s, but stored: %s", code, text, after)
		}
	})
}

// stored returns the path that lists the objects of a path in the storage version.
func stored(path string) string {
	if path == lampsV2 {
		return lampsV1
	}
	return path
}
