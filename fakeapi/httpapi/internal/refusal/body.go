package refusal

import (
	"encoding/hex"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Undecodable is the answer to a body that is not the object it should be: one
// of the kind want. gvk is what the body says that it is, if it says anything.
func Undecodable(err error, want string, gvk *schema.GroupVersionKind, body []byte) error {
	if gvk != nil && gvk.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, want, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the object provided is unrecognized (must be of type %s): %v (%s)", want, err, summary(body)))
}

// OtherVersion is the answer to an object of another version than its path's.
func OtherVersion(have, want schema.GroupVersion) error {
	return apierrors.NewBadRequest(fmt.Sprintf(
		"the API version in the data (%s) does not match the expected API version (%s)", have, want))
}

// summary is the beginning of a body, in hexadecimal unless it looks like JSON.
func summary(body []byte) string {
	const most = 30
	text := string(body)
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] != '{':
		if len(body) > most {
			return hex.EncodeToString(body[:most]) + " ..."
		}
		return hex.EncodeToString(body)
	case len(body) > most:
		return text[:most] + " ..."
	}
	return text
}
