package httpapi

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/table"
)

// respondUnmodelled answers for what the real server has and this one does not
// model. There are no such objects and there cannot be any: reads find
// nothing, a watch stays silent, whatever would make or change one is refused
// by name.
func (h *Handler) respondUnmodelled(
	r *http.Request, t *route.Target, f media.Format, known *discovery.Resource,
) *answer {
	what := t.Resource
	if t.Group != "" {
		what += "." + t.Group
	}
	if t.Subresource != "" {
		return fail(f, refusal.NotModelled(what+"/"+t.Subresource))
	}
	if !known.Readable() {
		return fail(f, refusal.NotModelled(what))
	}
	list := t.Name == ""
	switch r.Method {
	case http.MethodGet:
		if list && t.Watches(r) {
			return h.silentWatch(r, f, known)
		}
	case http.MethodDelete:
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		if list == (r.Method == http.MethodPost) {
			return fail(f, refusal.NotModelled(what))
		}
		return fail(f, refusal.Method())
	default:
		return fail(f, refusal.Method())
	}
	if !list {
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

// silentWatch never has anything to tell but, to a client that asked for the
// initial objects, that there are none.
func (h *Handler) silentWatch(r *http.Request, f media.Format, known *discovery.Resource) *answer {
	if f.Type == media.YAML {
		return fail(f, refusal.StreamFormat())
	}
	w := &watching{}
	q := r.URL.Query()
	if n, err := strconv.ParseInt(q.Get("timeoutSeconds"), 10, 64); err == nil && n > 0 {
		w.setTimeout(n)
	}
	if yes, _ := strconv.ParseBool(q.Get("sendInitialEvents")); yes {
		end := &metav1.PartialObjectMetadata{}
		end.SetGroupVersionKind(known.Kind)
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		end.ResourceVersion = strconv.FormatUint(h.revision(), 10)
		w.first = []watch.Event{{Type: watch.Bookmark, Object: end}}
		f = f.Plain()
	}
	return &answer{code: http.StatusOK, format: f, watch: w}
}
