package httpapi

import (
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
)

// pretend makes a user whom the client says that it acts for: with the groups, the uid and
// whatever else it says, and nothing that the server would know of a user of that name. It is
// the impersonation filter of k8s.io/apiserver.
func pretend(r *http.Request, u *authenticationv1.UserInfo) {
	name := r.Header.Get("Impersonate-User")
	if name == "" {
		return
	}
	u.UID = r.Header.Get("Impersonate-Uid")
	groups := r.Header.Values("Impersonate-Group")
	switch {
	case name == "system:anonymous":
		if u.Groups = slices.Clone(groups); !slices.Contains(groups, "system:unauthenticated") {
			u.Groups = append(u.Groups, "system:unauthenticated")
		}
	case len(groups) > 0:
		if u.Groups = slices.Clone(groups); !slices.Contains(groups, "system:authenticated") &&
			!slices.Contains(groups, "system:unauthenticated") {
			u.Groups = append(u.Groups, "system:authenticated")
		}
	case name == "admin": // of whom the server knows more by his credentials alone
		u.Groups = []string{"system:authenticated"}
	}
	for key, values := range refusal.Extras(r.Header) {
		if u.Extra == nil {
			u.Extra = map[string]authenticationv1.ExtraValue{}
		}
		u.Extra[key] = values
	}
}
