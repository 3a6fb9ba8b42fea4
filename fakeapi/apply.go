package fakeapi

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apply is server-side apply.
func (c *call) apply(ed *edit) Response {
	return refuse(apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", schema.GroupResource{}, "",
		"server-side apply needs a server that keeps managedFields", 0, true))
}
