package route

import (
	"net/http"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// Verb is what the request's method means for the path.
func (t *Target) Verb(r *http.Request) (fakeapi.Verb, error) {
	all := t.Kind.Namespaced && t.Namespace == ""
	posted := t.Subresource == "eviction" || t.Subresource == "binding" // and nothing else
	switch {
	case t.Watch && r.Method == http.MethodGet:
		return fakeapi.List, nil
	case t.Name == "" && r.Method == http.MethodGet:
		return fakeapi.List, nil
	case t.Name == "" && r.Method == http.MethodPost && !all:
		return fakeapi.Create, nil
	case t.Name == "" && r.Method == http.MethodDelete && !all && discovery.Deletes(t.GroupVersionResource):
		return fakeapi.DeleteCollection, nil
	case t.Name == "" || all:
		return "", refusal.Method()
	case posted && r.Method == http.MethodPost:
		return fakeapi.Create, nil
	case posted && t.Kind.Serves(t.Subresource):
		return "", refusal.Method()
	case r.Method == http.MethodGet:
		return fakeapi.Get, nil
	case r.Method == http.MethodPut:
		return fakeapi.Update, nil
	case r.Method == http.MethodPatch:
		return fakeapi.Patch, nil
	case r.Method == http.MethodDelete && t.Subresource == "":
		return fakeapi.Delete, nil
	}
	return "", refusal.Method()
}

// Watches says whether a list is to go on as a watch: on the old paths it does,
// and wherever the query has any value of watch but an explicit no.
func (t *Target) Watches(r *http.Request) bool {
	if t.Watch {
		return true
	}
	values, ok := r.URL.Query()["watch"]
	if !ok || len(values) == 0 {
		return false
	}
	switch values[0] {
	case "false", "0":
		return false
	}
	return true
}
