package httpapi

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Every request for a kind on its way out is warned of, with what its body holds.
func TestWarningsOfKindAndBody(t *testing.T) {
	const kind = `299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"`
	const field = `299 - "unknown field \"oops\""`
	h := newHandler()
	for _, c := range []struct {
		method, path, body string
		want               []string
	}{
		{"POST", "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"a"},"oops":1}`, []string{kind, field}},
		{"PUT", "/api/v1/namespaces/default/endpoints/a", `{"metadata":{"name":"a"}}`, []string{kind}},
		{"GET", "/api/v1/namespaces/default/endpoints/a", "", []string{kind}},
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"},"oops":1}`, []string{field}},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path+"?fieldValidation=Warn", strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Result().Header["Warning"]; w.Code > 201 || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %d, warnings %q, want %q", c.method, c.path, w.Code, got, c.want)
		}
	}
}
