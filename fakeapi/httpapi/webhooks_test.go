package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	mutating   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	validating = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
)

// configuration returns a configuration with a webhook for the ConfigMaps in some namespaces.
func configuration(name, client, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[{"name":"%s.example.com","sideEffects":"None",
		"admissionReviewVersions":["v1"],"clientConfig":%s,"rules":[{"operations":["CREATE","UPDATE","DELETE"],
		"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]%s}]}`, name, name, client, more)
}

// reviewing returns a webhook that answers admission reviews with f.
func reviewing(f func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := f(review.Request)
		answer.UID = review.Request.UID
		review.Request, review.Response = nil, answer
		json.NewEncoder(w).Encode(&review)
	}
}

// The mutating webhook receives reviews of version v1beta1. In this version, a response needs no UID and no patch type.
func TestAdmissionWebhooks(t *testing.T) {
	h := calling(t)
	s := hook(t, func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if json.NewDecoder(r.Body).Decode(&review); review.APIVersion != "admission.k8s.io/v1beta1" {
			t.Errorf("a review of %s", review.APIVersion)
		}
		review.Response = &admissionv1.AdmissionResponse{Allowed: true}
		if review.Request.Operation != admissionv1.Delete {
			review.Response.Patch = []byte(`[{"op":"add","path":"/metadata/labels","value":{"by":"hook"}}]`)
		}
		json.NewEncoder(w).Encode(&review)
	})
	v := hook(t, reviewing(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if r.Operation == admissionv1.Delete {
			return &admissionv1.AdmissionResponse{}
		}
		return &admissionv1.AdmissionResponse{Allowed: strings.Contains(string(r.Object.Raw), `"by":"hook"`)}
	}))
	client := func(url, bundle string) string { return `{"url":"` + url + `/x","caBundle":` + bundle + `}` }
	must(t, h, "POST", mutating, strings.Replace(configuration("m", client(s.URL, bundle(s)), ""), `"v1"`, `"v1beta1","v1"`, 1))
	must(t, h, "POST", validating, configuration("v", client(v.URL, bundle(v)), ""))
	if got := must(t, h, "POST", configMaps, `{"metadata":{"name":"a"}}`); !strings.Contains(got, `"by":"hook"`) {
		t.Errorf("created %s", got)
	}
	must(t, h, "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	if code, text := ask(h, "DELETE", configMaps+"/a", ""); code != 400 || !strings.Contains(text,
		`"message":"admission webhook \"v.example.com\" denied the request without explanation"`) {
		t.Errorf("%d %s", code, text)
	}
}

// The errors of calls have the real server's texts. By default, a failed call refuses the request.
func TestAdmissionWebhooksThatFail(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	const head = `Internal error occurred: failed calling webhook \"h.example.com\": failed to call webhook: `
	for _, c := range []struct {
		what, want, more string
		f                http.HandlerFunc
	}{
		{"hangs", `?timeout=1s\": context deadline exceeded`, `,"timeoutSeconds":1`,
			func(_ http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				select {
				case <-stop:
				case <-r.Context().Done():
				}
			}},
		{"refuses", head + `the server could not find the requested resource`, "",
			func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }},
		{"breaks", head + `an error on the server (\"oops\") has prevented the request from succeeding`, "",
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", 500) }},
		{"has a status", head + `not this one`, "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(409)
			io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not this one"}`)
		}},
		{"has a status of 200", head + `nor this`, "", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"nor this"}`)
		}},
		{"breaks in JSON", head + `an error on the server (\"unknown\") has prevented the request from succeeding`, "",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(500)
				io.WriteString(w, `{"a":"b"}`)
			}},
		{"talks", head + `couldn't get version/kind; json parse error: invalid character 'h'`, "",
			func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }},
		{"says nothing", `received invalid webhook response: webhook response was absent`, "",
			func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"kind":"x","apiVersion":"v1"}`) }},
		{"closes", `: EOF`, "", func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			c.Close()
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			h := calling(t)
			s := hook(t, c.f)
			client := `{"url":"` + s.URL + `/x","caBundle":` + bundle(s) + `}`
			must(t, h, "POST", validating, configuration("h", client, c.more))
			code, text := ask(h, "POST", configMaps, `{"metadata":{"name":"a"}}`)
			if code != 500 || !strings.Contains(text, c.want) {
				t.Errorf("%d %s, want %s", code, text, c.want)
			}
			if code, _ := ask(h, "GET", configMaps+"/a", ""); code != 404 {
				t.Errorf("the object exists: %d", code)
			}
			must(t, h, "DELETE", validating+"/h", "")
			must(t, h, "POST", mutating, configuration("h", client, `,"failurePolicy":"Ignore"`+c.more))
			must(t, h, "POST", configMaps, `{"metadata":{"name":"a"}}`)
		})
	}
}

// The server sanitizes and cuts the warnings of webhooks like the real server.
func TestWarningsOfWebhooks(t *testing.T) {
	h := calling(t)
	many := []string{"a\r\nX-Evil: 1", "\x00", "", "as it is"}
	s := hook(t, reviewing(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: many}
	}))
	must(t, h, "POST", validating, configuration("h", `{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`, ""))
	warnings := func(name string) []string {
		r := httptest.NewRequest("POST", "http://localhost"+configMaps, strings.NewReader(`{"metadata":{"name":"`+name+
			`"}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result().Header["Warning"]
	}
	if got := warnings("a"); len(got) != 1 || got[0] != `299 - "as it is"` {
		t.Errorf("%q", got)
	}
	many = []string{strings.Repeat("a", 300), strings.Repeat("é", 5000), strings.Repeat("c", 300)}
	if got := warnings("b"); len(got) != 3 || got[0] != `299 - "`+strings.Repeat("a", 256)+`"` ||
		got[1] != `299 - "`+strings.Repeat("é", 256)+`"` || got[2] != `299 - "`+strings.Repeat("c", 256)+`"` {
		t.Errorf("%q", got)
	}
}

// If a webhook denies a request with an invalid status code, the client still gets a valid response.
func TestDenialWithoutACode(t *testing.T) {
	h := calling(t)
	s := hook(t, reviewing(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Code: 99999, Message: "no"}}
	}))
	must(t, h, "POST", validating, configuration("h", `{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`, ""))
	if code, text := ask(h, "POST", configMaps, `{"metadata":{"name":"a"}}`); code != 500 || !strings.Contains(text,
		`denied the request: no`) {
		t.Errorf("%d %s", code, text)
	}
}

// During a call of a webhook, the server answers other requests, including requests of the webhook.
func TestAdmissionWebhookCallsBack(t *testing.T) {
	h := calling(t)
	s := hook(t, reviewing(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		must(t, h, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"generateName":"s-"}}`)
		must(t, h, "GET", configMaps, "")
		return &admissionv1.AdmissionResponse{Allowed: true}
	}))
	must(t, h, "POST", validating, configuration("h", `{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`, ""))
	must(t, h, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	if got := must(t, h, "GET", "/api/v1/namespaces/default/secrets", ""); !strings.Contains(got, `"s-1"`) {
		t.Errorf("secrets: %s", got)
	}
}

// If an object changes during a webhook call, it is admitted again. A request with a resourceVersion is refused then.
func TestAdmissionIsRepeated(t *testing.T) {
	h := calling(t)
	var calls atomic.Int32
	s := hook(t, reviewing(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if calls.Add(1) == 1 {
			must(t, h, "PATCH", configMaps+"/a", `{"data":{"other":"1"}}`)
		}
		return &admissionv1.AdmissionResponse{Allowed: true, PatchType: new(admissionv1.PatchTypeJSONPatch),
			Patch: fmt.Appendf(nil, `[{"op":"add","path":"/data/seen","value":"%d"}]`, calls.Load())}
	}))
	must(t, h, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"x":"y"}}`)
	client := `{"url":"` + s.URL + `","caBundle":` + bundle(s) + `}`
	must(t, h, "POST", mutating, configuration("h", client, ""))
	got := must(t, h, "PATCH", configMaps+"/a", `{"data":{"mine":"1"}}`)
	if !strings.Contains(got, `"other":"1"`) || !strings.Contains(got, `"mine":"1"`) || calls.Load() != 3 {
		t.Errorf("after %d calls: %s", calls.Load(), got)
	}
	calls.Store(0)
	var a struct {
		Metadata struct{ ResourceVersion string }
	}
	json.Unmarshal([]byte(got), &a)
	code, text := ask(h, "PUT", configMaps+"/a", `{"metadata":{"name":"a","resourceVersion":"`+
		a.Metadata.ResourceVersion+`"},"data":{"x":"y"}}`)
	if code != 409 {
		t.Errorf("%d %s", code, text)
	}
}

func TestAdmissionIsNotRepeatedForEver(t *testing.T) {
	h := calling(t)
	var depth, calls atomic.Int32
	s := hook(t, reviewing(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if n := calls.Add(1); depth.Add(1) == 1 {
			must(t, h, "PATCH", configMaps+"/a", fmt.Sprintf(`{"data":{"n":"%d"}}`, n))
		}
		depth.Add(-1)
		return &admissionv1.AdmissionResponse{Allowed: true}
	}))
	must(t, h, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	must(t, h, "POST", validating, configuration("h", `{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`, ""))
	if code, text := ask(h, "PATCH", configMaps+"/a", `{"data":{"mine":"1"}}`); code != 504 {
		t.Errorf("%d %s", code, text)
	}
	if code, text := ask(h, "DELETE", configMaps+"/a", ""); code != 504 {
		t.Errorf("%d %s", code, text)
	}
}

func TestCloseEndsCalls(t *testing.T) {
	h := calling(t)
	asked, stop := make(chan struct{}), make(chan struct{})
	s := hook(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(asked)
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	defer close(stop)
	must(t, h, "POST", validating, configuration("h", `{"url":"`+s.URL+`","caBundle":`+bundle(s)+`}`,
		`,"timeoutSeconds":30`))
	go func() {
		<-asked
		h.Close()
	}()
	began := time.Now()
	if code, text := ask(h, "POST", configMaps, `{"metadata":{"name":"a"}}`); code != 500 ||
		!strings.Contains(text, "context canceled") || time.Since(began) > 20*time.Second {
		t.Errorf("%d %s", code, text)
	}
}
