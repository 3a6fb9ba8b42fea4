package httpapi

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

func calling(t *testing.T) *Handler {
	t.Helper()
	h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now)
	h.CallWebhooks()
	t.Cleanup(h.Close)
	return h
}

func hook(t testing.TB, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(f)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // hides failed handshakes, which the test causes
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// bundle returns the certificate of a webhook in PEM, for the field caBundle.
func bundle(s *httptest.Server) string {
	raw, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func ask(h http.Handler, method, path, body string) (int, string) {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func must(t testing.TB, h http.Handler, method, path, body string) string {
	t.Helper()
	code, text := ask(h, method, path, body)
	if code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return text
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// lamps returns a CRD with two versions. v1 has a colour where v2 has a hue.
func lamps(client string) string {
	version := func(name, field string, storage bool) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object",
			"properties":{"spec":{"type":"object","properties":{%q:{"type":"string"}}}}}}}`, name, storage, field)
	}
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"lamps.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"lamps","kind":"Lamp"},"conversion":{"strategy":"Webhook","webhook":{
		"conversionReviewVersions":["v1"],"clientConfig":` + client + `}},"versions":[` +
		version("v1", "colour", true) + `,` + version("v2", "hue", false) + `]}}`
}

func lamp(version, name, field, value string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Lamp","metadata":{"name":%q},"spec":{%q:%q}}`, version,
		name, field, value)
}

func convertLamps(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := &apiextensionsv1.ConversionResponse{UID: review.Request.UID}
	out.Result.Status = "Success"
	for _, raw := range review.Request.Objects {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		from, to := "colour", "hue"
		if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
			from, to = to, from
		}
		if spec, ok := u.Object["spec"].(map[string]any); ok {
			spec[to] = spec[from]
			delete(spec, from)
		}
		u.SetAPIVersion(review.Request.DesiredAPIVersion)
		out.ConvertedObjects = append(out.ConvertedObjects, runtime.RawExtension{Object: u})
	}
	review.Request, review.Response = nil, out
	json.NewEncoder(w).Encode(&review)
}

const lampsV1 = "/apis/example.com/v1/namespaces/default/lamps"
const lampsV2 = "/apis/example.com/v2/namespaces/default/lamps"

// Objects that a webhook converts can be created, read, listed, patched and watched in two versions.
func TestConversionWebhook(t *testing.T) {
	h := calling(t)
	s := hook(t, convertLamps)
	must(t, h, "POST", definitions, lamps(`{"url":"`+s.URL+`/convert","caBundle":`+bundle(s)+`}`))
	if got := must(t, h, "POST", lampsV2, lamp("v2", "a", "hue", "red")); !strings.Contains(got, `"hue":"red"`) {
		t.Errorf("created: %s", got)
	}
	if got := must(t, h, "GET", lampsV1+"/a", ""); !strings.Contains(got, `"colour":"red"`) {
		t.Errorf("read: %s", got)
	}
	must(t, h, "POST", lampsV1, lamp("v1", "b", "colour", "blue"))
	got := must(t, h, "GET", lampsV2, "")
	if !strings.Contains(got, `"hue":"red"`) || !strings.Contains(got, `"hue":"blue"`) ||
		strings.Contains(got, `"example.com/v1","kind":"Lamp"`) {
		t.Errorf("listed: %s", got)
	}
	if got := must(t, h, "PATCH", lampsV2+"/b", `{"spec":{"hue":"green"}}`); !strings.Contains(got, `"hue":"green"`) {
		t.Errorf("patched: %s", got)
	}
	got = must(t, h, "GET", lampsV2+"?watch=1&timeoutSeconds=1", "")
	if !strings.Contains(got, `"hue":"red"`) || !strings.Contains(got, `"hue":"green"`) {
		t.Errorf("watched: %s", got)
	}
}

// A Service is reached at its endpoints or its external name. The certificate must contain the Service's name.
func TestConversionWebhookOfService(t *testing.T) {
	h := calling(t)
	s := hook(t, convertLamps)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	must(t, h, "POST", definitions, lamps(`{"service":{"namespace":"default","name":"conv","port":`+port+
		`,"path":"/convert"},"caBundle":`+bundle(s)+`}`))
	must(t, h, "POST", lampsV1, lamp("v1", "a", "colour", "blue"))
	refused := func(code int, want string) {
		t.Helper()
		if got, text := ask(h, "GET", lampsV2+"/a", ""); got != code || !strings.Contains(text, want) {
			t.Errorf("got %d %s, want %d %s", got, text, code, want)
		}
	}
	const post = `conversion webhook for example.com/v1, Kind=Lamp failed: Post \"https://conv.default.svc:`
	refused(500, post+port+`/convert?timeout=30s\": service \"conv\" not found`)
	must(t, h, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"conv"},"spec":{"ports":[{"port":`+
		port+`}]}}`)
	refused(500, `no endpoints available for service \"conv\"`)
	must(t, h, "DELETE", "/api/v1/namespaces/default/services/conv", "")
	must(t, h, "POST", "/api/v1/namespaces/default/services",
		`{"metadata":{"name":"conv"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	refused(500, "x509: certificate is valid for example.com, *.example.com, not conv.default.svc")
}

// If a webhook hangs, exits or sends an invalid response, the error says so.
func TestConversionWebhookThatFails(t *testing.T) {
	for _, c := range []struct {
		what, want string
		f          http.HandlerFunc
	}{
		{"an error", `an error on the server (\"out of order\") has prevented the request from succeeding`,
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "out of order", 500) }},
		{"no JSON", `couldn't get version/kind; json parse error`,
			func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }},
		{"another kind", "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, " +
			"got admission.k8s.io/v1, Kind=AdmissionReview", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`)
		}},
		{"no response", "no response provided", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}`)
		}},
		{"another uid", `expected response.uid=\"`, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"x"}}`)
		}},
		{"a refusal", "failed: not today", func(w http.ResponseWriter, r *http.Request) {
			var review apiextensionsv1.ConversionReview
			json.NewDecoder(r.Body).Decode(&review)
			fmt.Fprintf(w, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":%q,`+
				`"result":{"status":"Failure","message":"not today"}}}`, review.Request.UID)
		}},
		{"no objects", "Kind=Lamp returned 0 objects, expected 1", func(w http.ResponseWriter, r *http.Request) {
			var review apiextensionsv1.ConversionReview
			json.NewDecoder(r.Body).Decode(&review)
			fmt.Fprintf(w, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":%q,`+
				`"result":{"status":"Success"}}}`, review.Request.UID)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			h := calling(t)
			s := hook(t, c.f)
			must(t, h, "POST", definitions, lamps(`{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`))
			must(t, h, "POST", lampsV1, lamp("v1", "a", "colour", "blue"))
			for _, try := range []struct {
				code               int
				method, path, body string
			}{{500, "GET", lampsV2 + "/a", ""}, {429, "GET", lampsV2, ""}, {429, "GET", lampsV2 + "?watch=1", ""},
				{500, "POST", lampsV2, lamp("v2", "b", "hue", "red")},
				{500, "PATCH", lampsV2 + "/a", `{"spec":{"hue":"red"}}`}} {
				if code, text := ask(h, try.method, try.path, try.body); code != try.code ||
					!strings.Contains(text, c.want) {
					t.Errorf("%s %s: %d %s, want %d %s", try.method, try.path, code, text, try.code, c.want)
				}
			}
			if got := must(t, h, "GET", lampsV1, ""); strings.Contains(got, "red") || !strings.Contains(got, "blue") {
				t.Errorf("the stored object is %s", got)
			}
		})
	}
}

// A webhook may send requests to the server during its call, even a write of the object under review.
func TestConversionWebhookCallsBack(t *testing.T) {
	h := calling(t)
	meddled := false
	s := hook(t, func(w http.ResponseWriter, r *http.Request) {
		if !meddled {
			meddled = true
			if code, text := ask(h, "PATCH", lampsV1+"/a", `{"metadata":{"labels":{"seen":"yes"}}}`); code != 200 {
				t.Errorf("calling back: %d %s", code, text)
			}
		}
		convertLamps(w, r)
	})
	must(t, h, "POST", definitions, lamps(`{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`))
	must(t, h, "POST", lampsV1, lamp("v1", "a", "colour", "blue"))
	got := must(t, h, "PATCH", lampsV2+"/a", `{"spec":{"hue":"red"}}`)
	if !meddled || !strings.Contains(got, `"seen":"yes"`) || !strings.Contains(got, `"hue":"red"`) {
		t.Errorf("one of the two changes is missing: %s", got)
	}
}
