package httpapi

import "github.com/threelaws/threelaws/internal/recorded"

// pending are the cases that do not pass yet, each with the reason; an area
// alone stands for all its cases. A case that passes may not be named here.
var pending = map[string]string{
	"discovery/openapi-v3-index": "the index names documents by a digest of the real server's own text",
}

// expected says why a case is not expected to pass; "" when it is.
func expected(v *recorded.Case) string {
	if why, ok := pending[v.Name()]; ok {
		return why
	}
	return pending[v.Area]
}

// needsControllers says that a case was recorded with controllers running:
// the server alone cannot replay it.
func needsControllers(v *recorded.Case) bool { return len(v.Controllers) > 0 }
