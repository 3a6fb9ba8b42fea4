package httpapi_test

import (
	"net/http/httptest"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
)

func kinds() []*fakeapi.Kind { return fakeapi.New(fakeapi.Options{}).Served() }

func TestParse(t *testing.T) {
	type read struct {
		kind, namespace, name, subresource string
		watch, known                       bool
	}
	for path, want := range map[string]read{
		"/api/v1/pods":                                {"Pod", "", "", "", false, true},
		"/api/v1/namespaces/n/pods/p/status":          {"Pod", "n", "p", "status", false, true},
		"/api/v1/namespaces/n":                        {"Namespace", "", "n", "", false, true},
		"/api/v1/namespaces/n/finalize":               {"Namespace", "", "n", "finalize", false, true},
		"/api/v1/watch/namespaces/n/pods":             {"Pod", "n", "", "", true, true},
		"/apis/apps/v1/namespaces/n/replicasets/r":    {"ReplicaSet", "n", "r", "", false, true},
		"/apis/apps/v1/namespaces/n/teapots/t":        {"", "n", "t", "", false, true},
		"/apis/networking.k8s.io/v1/ingressclasses/i": {"IngressClass", "", "i", "", false, true},
		"/api/v1/componentstatuses/c":                 {"", "", "c", "", false, true},
		"/apis/example.com/v1/widgets":                {"", "", "", "", false, false},
		"/apis/apps/v1":                               {"", "", "", "", false, true},
	} {
		p, ok := route.Parse(kinds(), path)
		got := read{"", p.Namespace, p.Name, p.Subresource, p.Watch, p.GroupKnown}
		if p.Kind != nil {
			got.kind = p.Kind.GVK.Kind
		}
		if !ok || got != want {
			t.Errorf("%s: %+v %t, want %+v", path, got, ok, want)
		}
	}
	for _, path := range []string{"", "/", "/api", "/apis/apps", "/healthz", "/api/v1//pods", "/apis//v1/pods"} {
		if p, ok := route.Parse(kinds(), path); ok {
			t.Errorf("%q was parsed as %+v", path, p)
		}
	}
}

func TestVerb(t *testing.T) {
	const pods = "/api/v1/namespaces/n/pods"
	for _, c := range []struct {
		method, path string
		want         fakeapi.Verb // "" if the method is refused
	}{
		{"GET", "/api/v1/pods", fakeapi.List},
		{"GET", pods, fakeapi.List},
		{"GET", "/api/v1/watch/namespaces/n/pods/p", fakeapi.List},
		{"GET", pods + "/p", fakeapi.Get},
		{"POST", pods, fakeapi.Create},
		{"POST", "/api/v1/pods", ""},
		{"POST", pods + "/p", ""},
		{"POST", pods + "/p/eviction", fakeapi.Create},
		{"GET", pods + "/p/eviction", ""},
		{"PUT", pods + "/p/binding", ""},
		{"PUT", pods + "/p", fakeapi.Update},
		{"PUT", pods, ""},
		{"PATCH", pods + "/p/status", fakeapi.Patch},
		{"DELETE", pods + "/p", fakeapi.Delete},
		{"DELETE", pods + "/p/status", ""},
		{"DELETE", pods, fakeapi.DeleteCollection},
		{"DELETE", "/api/v1/pods", ""},
		{"BREW", pods + "/p", ""},
	} {
		p, _ := route.Parse(kinds(), c.path)
		got, err := p.Verb(httptest.NewRequest(c.method, c.path, nil))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %s: %q %v, want %q", c.method, c.path, got, err, c.want)
		}
	}
}

func TestWatches(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/v1/pods": false, "/api/v1/watch/pods": true, "/api/v1/pods?watch": true, "/api/v1/pods?watch=yes": true,
		"/api/v1/pods?watch=0": false, "/api/v1/pods?watch=false": false,
	} {
		r := httptest.NewRequest("GET", path, nil)
		if p, _ := route.Parse(kinds(), r.URL.Path); p.Watches(r) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}
