package refusal

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const extraHeader = "Impersonate-Extra-"

// Extras are what the client says of whom it acts for besides name, groups and uid.
func Extras(h http.Header) map[string][]string {
	var all map[string][]string
	for name, values := range h {
		key, ok := strings.CutPrefix(name, extraHeader)
		if !ok {
			continue
		}
		if all == nil {
			all = map[string][]string{}
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		all[key] = values
	}
	return all
}

// NobodyToBe refuses groups, a uid or more of somebody without a name; nil when there are none.
func NobodyToBe(h http.Header) error {
	groups, uid, extra := h.Values("Impersonate-Group"), h.Get("Impersonate-Uid"), Extras(h)
	if len(groups) == 0 && uid == "" && len(extra) == 0 {
		return nil
	}
	return bare(http.StatusBadRequest, "BadRequest", fmt.Sprintf(
		"requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name",
		"", uid, groups, extra))
}
