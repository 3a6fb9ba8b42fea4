package httpapi

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/table"
)

// respondUnmodelled answers for what the real server has and this one does not
// model: subresources that need a kubelet are refused by name. Of component
// statuses, which nobody can make, there are none.
func (h *Handler) respondUnmodelled(
	r *http.Request, t *route.Target, f media.Format, known *discovery.Resource,
) *answer {
	switch {
	case t.Subresource != "":
		what := t.Resource
		if t.Group != "" {
			what += "." + t.Group
		}
		return fail(f, refusal.NotModelled(what+"/"+t.Subresource))
	case r.Method != http.MethodGet || t.Watches(r):
		return fail(f, refusal.Method())
	case t.Name != "":
		return fail(f, apierrors.NewNotFound(t.GroupResource(), t.Name))
	}
	return h.emptyList(f, known)
}

// emptyList is a list of a kind that has no objects.
func (h *Handler) emptyList(f media.Format, known *discovery.Resource) *answer {
	none := &fakeapi.Response{Version: h.revision()}
	switch f.As {
	case media.AsTable:
		return &answer{code: http.StatusOK, object: table.Empty(none, f), format: f.Plain()}
	case media.AsPartial:
		return fail(f, refusal.NotList(f.As, schema.GroupVersionKind{}, true))
	case media.AsPartialList:
		return &answer{code: http.StatusOK, object: table.PartialList(none, f), format: f.Plain()}
	}
	// An empty list looks the same whatever it is a list of.
	list := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{}}
	list.SetGroupVersionKind(known.Kind.GroupVersion().WithKind(known.Kind.Kind + "List"))
	list.ResourceVersion = strconv.FormatUint(none.Version, 10)
	return &answer{code: http.StatusOK, object: list, format: f}
}
