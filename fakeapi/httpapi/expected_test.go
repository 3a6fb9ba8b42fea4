package httpapi

// pending are the cases that do not pass yet, each with the reason; an area
// alone stands for all its cases. A case that passes may not be named here.
var pending = map[string]string{
	"crd":                     "CustomResourceDefinitions and custom resources are not served yet",
	"discovery":               "discovery, OpenAPI, /version and the health paths are not served yet",
	"listwatch/accept-table":  "Table and PartialObjectMetadata are not served yet",
	"discovery/unknown":       "",
	"discovery/unknown-group": "",
}

// expected says why a case is not expected to pass; "" when it is.
func expected(v *vector) string {
	if why, ok := pending[v.name()]; ok {
		return why
	}
	return pending[v.Area]
}

// needsControllers says that a case was recorded with controllers running:
// the server alone cannot replay it.
func needsControllers(v *vector) bool { return len(v.Controllers) > 0 }
