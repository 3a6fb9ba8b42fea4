package httpapi

import (
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
)

// answerUnmodelled answers for what the real server has and this one does not
// model. There are no such objects and there cannot be any: reads find
// nothing, a watch stays silent, whatever would make or change one is refused
// by name.
func (h *Handler) answerUnmodelled(r *http.Request, t target, f format, known *resource) *answer {
	what := t.resource
	if t.gv.Group != "" {
		what += "." + t.gv.Group
	}
	if t.subresource != "" {
		return fail(f, errNotModelled(what+"/"+t.subresource))
	}
	if known.hash == "" { // reviews, bindings: there is nothing to read
		return fail(f, errNotModelled(what))
	}
	list := t.name == ""
	switch r.Method {
	case http.MethodGet:
		if list && (t.watch || isWatch(r.URL.Query())) {
			return h.silentWatch(r, f, known)
		}
	case http.MethodDelete:
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		if list == (r.Method == http.MethodPost) {
			return fail(f, errNotModelled(what))
		}
		return fail(f, errMethod())
	default:
		return fail(f, errMethod())
	}
	if !list {
		return fail(f, apierrors.NewNotFound(t.gv.WithResource(t.resource).GroupResource(), t.name))
	}
	return h.emptyList(f, known)
}

// emptyList is a list of a kind that has no objects.
func (h *Handler) emptyList(f format, known *resource) *answer {
	h.mu.Lock()
	version := h.server.Version()
	h.mu.Unlock()
	switch f.as {
	case "Table":
		t := newTable(f)
		t.ResourceVersion, t.ColumnDefinitions = strconv.FormatUint(version, 10), plainPrinter.columns
		return &answer{code: http.StatusOK, object: t, format: f.plain()}
	case "PartialObjectMetadata":
		return fail(f, notAcceptable("you requested PartialObjectMetadata, but the requested object is a list"))
	case "PartialObjectMetadataList":
		return &answer{code: http.StatusOK, object: partialList(&fakeapi.Response{Version: version}, f), format: f.plain()}
	}
	// An empty list looks the same whatever it is a list of.
	list := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{}}
	list.SetGroupVersionKind(known.kind.GroupVersion().WithKind(known.kind.Kind + "List"))
	list.ResourceVersion = strconv.FormatUint(version, 10)
	return &answer{code: http.StatusOK, object: list, format: f}
}

// silentWatch never has anything to tell but, to a client that asked for the
// initial objects, that there are none.
func (h *Handler) silentWatch(r *http.Request, f format, known *resource) *answer {
	if f.media == yamlMedia {
		return fail(f, errStreamFormat())
	}
	a := &answer{code: http.StatusOK, silent: true, format: f}
	q := r.URL.Query()
	if n, err := strconv.ParseInt(q.Get("timeoutSeconds"), 10, 64); err == nil && n > 0 {
		a.timeout = time.Duration(min(n, maxTimeout)) * time.Second
	}
	if yes, _ := strconv.ParseBool(q.Get("sendInitialEvents")); yes {
		end := &metav1.PartialObjectMetadata{}
		end.SetGroupVersionKind(known.kind)
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		h.With(func(s *fakeapi.Server) { end.ResourceVersion = strconv.FormatUint(s.Version(), 10) })
		a.first = []watch.Event{{Type: watch.Bookmark, Object: end}}
		a.format = f.plain()
	}
	return a
}
