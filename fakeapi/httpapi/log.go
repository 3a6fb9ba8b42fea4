package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
)

// Exchange is a request and how it was answered, as the real server's log of requests has
// it.
type Exchange struct {
	Verb      string // LIST, WATCH, PATCH; the method where it is about no objects
	URI       string // the path and the query
	User      string // "" for one that is refused with 401
	UserAgent string
	Code      int
	Took      time.Duration
}

func (h *Handler) log(r *http.Request, a *answer, began time.Time) {
	e := Exchange{Verb: r.Method, URI: r.URL.RequestURI(), UserAgent: r.UserAgent(), Code: a.code,
		Took: time.Since(began)}
	if t, ok := route.Parse(h.served(), r.URL.Path); ok && t.Kind != nil {
		if verb, err := t.Verb(r); err == nil {
			e.Verb = strings.ToUpper(string(verb))
			if verb == fakeapi.List && t.Watches(r) {
				e.Verb = "WATCH"
			}
		}
	}
	if user, err := h.user(r); err == nil {
		e.User = user
		if user == "" {
			e.User = h.userNamed(user).Username
		}
	}
	h.Log(e)
}
