package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

func newHandler() *Handler {
	return New(fakeapi.New(fakeapi.Options{}), func() time.Time { return time.Now().UTC() })
}

// encodedPod returns a pod in protobuf.
func encodedPod(tb testing.TB, name string) []byte {
	raw, err := codec.Proto(&corev1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func revisionOf(h *Handler) (v uint64) {
	h.With(func(s *fakeapi.Server) { v = s.Version() })
	return v
}

// Invalid requests get the right code and a Status, and store nothing.
func TestBadInput(t *testing.T) {
	const cms = "/api/v1/namespaces/default/configmaps"
	json1, yaml1 := map[string]string{"Content-Type": media.JSON}, map[string]string{"Content-Type": media.YAML}
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for _, c := range []struct {
		name, method, path, query string
		headers                   map[string]string
		body                      string
		want                      int
	}{
		{"not JSON", "POST", cms, "", json1, "{", 400},
		{"empty", "POST", cms, "", json1, "", 400},
		{"another kind", "POST", cms, "", json1, `{"apiVersion":"v1","kind":"Pod"}`, 400},
		{"an unknown type of content", "POST", cms, "", map[string]string{"Content-Type": "text/plain"}, "{}", 415},
		{"an unknown type of patch", "PATCH", cms + "/a", "", json1, "{}", 415},
		{"nothing acceptable", "GET", cms, "", map[string]string{"Accept": "image/png"}, "", 406},
		{"a transformation that is none", "GET", cms, "",
			map[string]string{"Accept": "application/json;as=Chart;g=meta.k8s.io;v=v1"}, "", 406},
		{"a list's form of one object", "GET", "/api/v1/namespaces/default", "",
			map[string]string{"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}, "", 406},
		{"a watch in YAML", "GET", cms, "watch=1", map[string]string{"Accept": media.YAML}, "", 406},
		{"too much", "POST", cms, "", json1, `{"data":"` + strings.Repeat("x", codec.MaxBody) + `"}`, 413},
		{"too deep", "POST", cms, "", json1, deep, 400},
		{"a patch that is too deep", "PATCH", cms + "/kube-root-ca.crt", "",
			map[string]string{"Content-Type": "application/merge-patch+json"}, deep, 404},
		{"YAML that refers to itself", "POST", cms, "", yaml1, "a: &a [*a]", 400},
		{"YAML that multiplies", "POST", cms, "", yaml1, laughs(), 400},
		{"a bad label selector", "GET", cms, "labelSelector=a%20in%20(", nil, "", 400},
		{"a bad field selector", "GET", cms, "fieldSelector=spec.x=1", nil, "", 400},
		{"a bad limit", "GET", cms, "limit=x", nil, "", 400},
		{"an unknown method", "BREW", cms, "", nil, "", 405},
		{"an unknown resource", "GET", "/api/v1/namespaces/default/teapots", "", nil, "", 404},
		{"an unknown subresource", "GET", cms + "/a/b", "", nil, "", 404},
		{"protobuf that is none", "POST", cms, "", map[string]string{"Content-Type": media.Proto},
			"k8s\x00\xff\xff\xff", 400},
		{"a verb that a resource has not", "POST", "/api/v1/componentstatuses", "", json1, "{}", 405},
		{"a subresource that is not modelled", "GET", "/api/v1/namespaces/default/pods/a/attach", "", nil, "", 501},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHandler()
			before := revisionOf(h)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, newRequest(c.method, c.path, c.query, c.headers, c.body))
			var s metav1.Status
			if w.Code != c.want || yaml.Unmarshal(w.Body.Bytes(), &s) != nil || s.Kind != "Status" ||
				int(s.Code) != c.want {
				t.Errorf("%d %.300s, want a Status of %d", w.Code, w.Body, c.want)
			}
			if after := revisionOf(h); after != before {
				t.Errorf("the revision changed from %d to %d", before, after)
			}
		})
	}
}

// laughs returns a short YAML text that expands to a billion nodes.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return b.String()
}

func TestPathTricks(t *testing.T) {
	for _, path := range []string{"", "//", "/api/v1/namespaces//configmaps", "/api//v1/pods", "/../api/v1/pods",
		"/api/v1/../v1/pods",
		"/api/v1/./pods", "/API/v1/pods", "/api/v1/namespaces/default/pods/a/b/c/d", "/apis/", "/apis//v1/pods",
		"/apis/apps/v1/namespaces", "/index"} {
		h := newHandler()
		w := httptest.NewRecorder()
		r := newRequest("GET", "/", "", nil, "")
		r.URL.Path = path
		h.ServeHTTP(w, r)
		if w.Code != 404 && path != "/apis/" {
			t.Errorf("GET %q: %d %.200s", path, w.Code, w.Body)
		}
	}
}

func TestEncodings(t *testing.T) {
	h := newHandler()
	bodies := map[string]string{
		media.JSON: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1"},` +
			`"spec":{"containers":[{"name":"c","image":"i"}]}}`,
		media.YAML:  "apiVersion: v1\nkind: Pod\nmetadata: {name: web-2}\nspec: {containers: [{name: c, image: i}]}\n",
		media.Proto: string(encodedPod(t, "web-3")),
	}
	starts := map[string]string{
		media.JSON: `{"kind":"Pod"`, media.YAML: "apiVersion: v1\nkind: Pod\n", media.Proto: "k8s\x00",
	}
	for sent, body := range bodies {
		for asked, start := range starts {
			w := httptest.NewRecorder()
			headers := map[string]string{"Content-Type": sent, "Accept": asked}
			h.ServeHTTP(w, newRequest("POST", "/api/v1/namespaces/default/pods", "dryRun=All", headers, body))
			text, contentType := w.Body.String(), w.Header().Get("Content-Type")
			begins := asked == media.YAML || strings.Contains(text[:min(len(text), 60)], start)
			if w.Code != 201 || !begins || contentType != asked {
				t.Errorf("%s to %s: %d %s %.300s", sent, asked, w.Code, contentType, text)
			}
		}
	}
}

// Large responses are compressed if the client accepts that, over a real connection.
func TestGzip(t *testing.T) {
	h := newHandler()
	big := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"x":"` +
		strings.Repeat("x", gzipFrom) + `"}}`
	const maps = "/api/v1/namespaces/default/configmaps"
	if code, text := send(h, "POST", maps, "", map[string]string{"Content-Type": media.JSON}, big); code != 201 {
		t.Fatal(code, text)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest("GET", maps, "", map[string]string{"Accept-Encoding": "gzip"}, ""))
	z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
	if err != nil || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal(w.Header(), err)
	}
	if text, err := io.ReadAll(z); err != nil || !json.Valid(text) {
		t.Error(err)
	}
}

// A watch ends when its client disconnects.
func TestServer(t *testing.T) {
	h := newHandler()
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := http.Get(server.URL + "/api/v1/namespaces?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	var e tick
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || e.Type != "ADDED" ||
		e.Object.Metadata.Name != "default" {
		t.Errorf("%+v %v", e, err)
	}
	resp.Body.Close()
}

// Over WebSocket, each event of a watch is a message. The watch ends when its client closes the connection.
func TestWatchOverWebSocket(t *testing.T) {
	server := httptest.NewServer(newHandler())
	defer server.Close() // waits for the end of the watches
	at := strings.Replace(server.URL, "http", "ws", 1) + "/api/v1/namespaces?watch=1"
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		config, err := websocket.NewConfig(at, server.URL)
		if err != nil {
			t.Fatal(err)
		}
		config.Header.Set("Accept", accept)
		c, err := config.DialContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var message []byte
		if err := websocket.Message.Receive(c, &message); err != nil {
			t.Fatal(err)
		}
		if accept == "application/json" {
			var e tick
			if json.Unmarshal(message, &e) != nil || e.Type != "ADDED" || e.Object.Metadata.Name != "default" {
				t.Errorf("%s", message)
			}
		} else if e := new(metav1.WatchEvent); e.Unmarshal(message) != nil || e.Type != "ADDED" {
			t.Errorf("%q", message)
		}
		c.Close()
	}
}
