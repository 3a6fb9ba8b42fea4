package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
	"github.com/threelaws/threelaws/fakeapi/internal/resources"
)

// respond executes one request and returns the response before encoding. It takes the lock once to read the kinds, and
// once to execute the request. It reads the body without the lock, because a client may send the body slowly. If a CRD
// changes meanwhile, the request is executed with the changed kind.
func (h *Handler) respond(r *http.Request) *answer {
	kinds := h.served()
	t, ok := route.Parse(kinds, r.URL.Path)
	if !ok || t.Resource == "" {
		return h.respondAbout(r, kinds, ok && t.GroupKnown)
	}
	f, refused := agree(r, &t)
	switch {
	case refused != nil:
		return refused
	case t.Kind != nil && t.Kind.Serves(t.Subresource):
		return h.respondObjects(r, &t, f)
	}
	if a := h.podLog(r, &t, f); a != nil {
		return a
	}
	if a := h.respondReview(r, &t, f); a != nil {
		return a
	}
	if known := resources.Find(t.GroupVersionResource, t.Subresource); known != nil {
		return h.respondUnmodelled(r, &t, f, known)
	}
	if t.GroupKnown {
		return fail(f, refusal.NotFound())
	}
	return notFoundText()
}

// respondAbout responds to requests that name no object, such as discovery. groupKnown is set if the group exists.
func (h *Handler) respondAbout(r *http.Request, kinds []*fakeapi.Kind, groupKnown bool) *answer {
	for _, about := range [...]func(*http.Request, []*fakeapi.Kind) *answer{h.aboutServer, aboutPaths, h.aboutSchemas,
		h.aboutResources} {
		if a := about(r, kinds); a != nil {
			return a
		}
	}
	if groupKnown {
		return failJSON(refusal.NotFound())
	}
	if root, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); root != "api" && root != "apis" {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.server.NoteUnserved(r.URL.Path)
	}
	return notFoundText()
}

// agree checks the path and the Accept header. It returns the format of the response, or an error response (refused).
func agree(r *http.Request, t *route.Target) (f media.Format, refused *answer) {
	custom, offered := t.Custom(), media.Forms(media.Objects)
	if custom {
		offered = media.Custom
	}
	f, ok := media.Negotiate(r, offered)
	switch {
	case t.Kind != nil && !t.Reachable(r.Method):
		if custom {
			return f, notFoundText()
		}
		return f, fail(f, refusal.NotFound())
	case custom && !t.Kind.Serves(t.Subresource):
		return f, fail(f, apierrors.NewNotFound(t.Kind.GVR().GroupResource(), t.Name))
	case ok:
		return f, nil
	case custom:
		return f, failJSON(refusal.Negotiation())
	case f.Type == "":
		return f, failJSON(refusal.NotAcceptable())
	}
	return f, fail(f, refusal.Negotiation())
}

func (h *Handler) respondObjects(r *http.Request, t *route.Target, f media.Format) *answer {
	if f.As != "" {
		if err := f.ReadTableOptions(r.URL.Query()); err != nil {
			return fail(f, err)
		}
	}
	verb, err := t.Verb(r)
	if err != nil {
		return fail(f, err)
	}
	user, err := h.user(r)
	if err != nil {
		return fail(f, err)
	}
	req, warnings, err := readRequest(r, t, verb)
	if err == nil {
		req.User = user
	}
	var a *answer
	switch {
	case err != nil:
		a = fail(f, err)
	case verb == fakeapi.List && t.Watches(r):
		a = h.watch(r.Context(), req, f)
	default:
		a = h.execute(r.Context(), req, f)
	}
	if len(warnings) > 0 {
		a.warnings = append(warnings, a.warnings...)
	}
	return a
}

func (h *Handler) execute(ctx context.Context, req *fakeapi.Request, f media.Format) *answer {
	var resp fakeapi.Response
	if g := gated(ctx); g != nil {
		var err error
		if resp, err = g.Do(ctx, req); err != nil {
			return &answer{lost: err}
		}
	} else {
		s, err := h.strike(ctx, req, false)
		if err != nil {
			return &answer{lost: err}
		}
		resp = h.doUnder(s, req)
		if s != nil && s.Err != nil && resp.Err == s.Err {
			return struck(f, s)
		}
	}
	if resp.Err != nil {
		a := fail(f, resp.Err)
		a.warnings = resp.Warnings
		return a
	}
	a := &answer{code: resp.Code, kind: req.Kind, format: f, warnings: resp.Warnings}
	switch req.Verb {
	case fakeapi.List, fakeapi.DeleteCollection:
		list := resp
		a.list = &list
	default:
		a.object = resp.Object
	}
	if h.Created != nil && req.Verb == fakeapi.Create && req.Subresource == "" {
		h.warnCreated(req, resp.Object, a)
	}
	return a
}

// warnCreated adds the warning of h.Created about a created object to the response. It does nothing in a dry run.
func (h *Handler) warnCreated(req *fakeapi.Request, obj runtime.Object, a *answer) {
	m, ok := obj.(metav1.Object)
	if !ok || len(req.Create.DryRun) > 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if warning := h.Created(req, m); warning != "" {
		a.warnings = append(a.warnings, warning)
	}
}

func (h *Handler) openWatch(req *fakeapi.Request) (log *fakeapi.Watch, first []watch.Event, err error) {
	h.mu.Lock()
	log, err = h.server.Watch(req.Kind, req.Namespace, req.Name, req.List)
	if err != nil {
		h.mu.Unlock()
		return nil, nil, err
	}
	show := log.Pull()
	h.mu.Unlock()
	first, err = show()
	return log, first, err
}

func (h *Handler) watch(ctx context.Context, req *fakeapi.Request, f media.Format) *answer {
	if f.Type == media.YAML {
		return fail(f, refusal.StreamFormat())
	}
	if gated(ctx) != nil {
		return &answer{code: http.StatusOK, kind: req.Kind, format: f, watch: &watching{gated: req}}
	}
	s, err := h.strike(ctx, req, true)
	switch {
	case err != nil:
		return &answer{lost: err}
	case s != nil && s.Err != nil:
		return struck(f, s)
	}
	log, first, err := h.openWatch(req)
	if err != nil {
		return fail(f, err)
	}
	w := &watching{log: log, first: first, request: req, bookmarks: req.List.AllowWatchBookmarks}
	if s := req.List.TimeoutSeconds; s != nil {
		w.setTimeout(*s)
	}
	return &answer{code: http.StatusOK, kind: req.Kind, format: f, watch: w}
}

// answer is the response to one HTTP request: an object, a list, text, JSON, other bytes, or a watch.
type answer struct {
	code        int
	warnings    []string
	object      runtime.Object
	list        *fakeapi.Response // set for a list; its items have the kind in the field kind
	kind        *fakeapi.Kind
	text        string
	raw         []byte // encoded JSON
	binary      []byte // the body if contentType is set
	contentType string // if "", the content type follows from the field format
	format      media.Format
	watch       *watching // the response is a watch
	retryAfter  string    // value of the header Retry-After, in seconds
	lost        error     // the client gets this transport error and no response
}

type watching struct {
	gated     *fakeapi.Request // set if a [Gate] provides the events: the request for the gate
	log       *fakeapi.Watch   // the source of the events after first; nil if no events follow
	first     []watch.Event    // the events to send first
	request   *fakeapi.Request // the request that opened the watch; nil if no events are possible
	bookmarks bool             // the client requested bookmarks
	timeout   time.Duration    // 0 or less stands for 30 minutes (defaultTimeout)
}

const maxTimeout = 1 << 30

func (w *watching) setTimeout(seconds int64) {
	w.timeout = time.Duration(min(seconds, maxTimeout)) * time.Second
}

func fail(f media.Format, err error) *answer {
	s := fakeapi.StatusOf(err).ErrStatus
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	a := &answer{code: int(s.Code), object: &s, format: f.Plain()}
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		a.retryAfter = strconv.Itoa(int(s.Details.RetryAfterSeconds))
	}
	return a
}

func failJSON(err error) *answer { return fail(media.Format{Type: media.JSON}, err) }

// document returns a response with JSON that is not an API object.
func document(f media.Format, v any) *answer {
	text, err := json.Marshal(v)
	if err != nil {
		panic("httpapi: a document of our own does not encode: " + err.Error())
	}
	if f.Type != media.YAML {
		f.Type = media.JSON
	}
	return &answer{code: http.StatusOK, raw: text, format: f.Plain()}
}

func notFoundText() *answer {
	return &answer{code: http.StatusNotFound, text: "404 page not found\n"}
}
