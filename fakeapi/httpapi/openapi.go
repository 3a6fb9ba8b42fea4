package httpapi

import (
	"net/http"

	"github.com/threelaws/threelaws/fakeapi"
)

type documents struct{}

func (h *Handler) answerOpenAPI(r *http.Request, kinds []*fakeapi.Kind) (*answer, bool) {
	return nil, false
}
