package httpapi

import (
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

// answer executes one request up to, but not including, the encoding of its
// answer.
func (h *Handler) answer(r *http.Request) *answer {
	h.mu.Lock()
	kinds := h.server.Served()
	h.mu.Unlock()
	t, ok := parsePath(kinds, r.URL.Path)
	if !ok || t.resource == "" {
		return h.answerOther(r, t, kinds, ok)
	}
	custom, offered := t.kind != nil && isCustom(t.kind), forms(asObjects)
	if custom {
		offered = asCustom
	}
	f, ok := negotiate(r, offered)
	if a := errCustomPath(r, t, f); a != nil {
		return a
	}
	switch {
	case !ok && custom:
		return fail(format{media: jsonMedia}, errNegotiation())
	case !ok && f.media == "":
		return fail(format{media: jsonMedia}, errNotAcceptable())
	case !ok:
		return fail(f, errNegotiation())
	case t.kind == nil || !t.kind.Serves(t.subresource):
		if known, ok := unmodelled(t); ok {
			return h.answerUnmodelled(r, t, f, known)
		}
		if t.groupKnown {
			return fail(f, errNotFound())
		}
		return notFoundText()
	}
	if f.as != "" {
		if err := f.tableOptions(r.URL.Query()); err != nil {
			return fail(f, err)
		}
	}
	verb, err := verbOf(r, t)
	if err != nil {
		return fail(f, err)
	}
	c := &exchange{h: h, r: r, t: t, f: f, warnings: deprecation(t.kind), req: fakeapi.Request{
		Verb: verb, Kind: t.kind, Subresource: t.subresource, Namespace: t.namespace, Name: t.name, UserAgent: r.UserAgent(),
	}}
	a, err := c.run()
	if err != nil {
		a = fail(f, err)
	}
	if len(c.warnings) > 0 {
		a.warnings = append(c.warnings, a.warnings...)
	}
	return a
}

// answerOther answers what is not about objects.
func (h *Handler) answerOther(r *http.Request, t target, kinds []*fakeapi.Kind, resource bool) *answer {
	if a, ok := h.answerPlain(r); ok {
		return a
	}
	if a, ok := h.answerOpenAPI(r, kinds); ok {
		return a
	}
	if a, ok := h.discover(r, kinds); ok {
		return a
	}
	if resource && t.groupKnown {
		return fail(format{media: jsonMedia}, errNotFound())
	}
	return notFoundText()
}

func notFoundText() *answer {
	return &answer{code: http.StatusNotFound, text: "404 page not found\n"}
}

// verbOf is what the method means for the path.
func verbOf(r *http.Request, t target) (fakeapi.Verb, error) {
	all := t.kind.Namespaced && t.namespace == ""
	switch {
	case t.watch && r.Method == http.MethodGet:
		return fakeapi.List, nil
	case t.name == "" && r.Method == http.MethodGet:
		return fakeapi.List, nil
	case t.name == "" && r.Method == http.MethodPost && !all:
		return fakeapi.Create, nil
	case t.name == "" && r.Method == http.MethodDelete && !all:
		return fakeapi.DeleteCollection, nil
	case t.name == "" || all:
		return "", errMethod()
	case r.Method == http.MethodGet:
		return fakeapi.Get, nil
	case r.Method == http.MethodPut:
		return fakeapi.Update, nil
	case r.Method == http.MethodPatch:
		return fakeapi.Patch, nil
	case r.Method == http.MethodDelete && t.subresource == "":
		return fakeapi.Delete, nil
	case r.Method == http.MethodPost && (t.subresource == "eviction" || t.subresource == "binding"):
		return fakeapi.Create, nil
	}
	return "", errMethod()
}

// exchange is one request about objects.
type exchange struct {
	h        *Handler
	r        *http.Request
	t        target
	f        format
	req      fakeapi.Request
	warnings []string
}

func (c *exchange) run() (*answer, error) {
	switch c.req.Verb {
	case fakeapi.List:
		return c.list()
	case fakeapi.Get:
		if err := c.listOptions(); err != nil {
			return nil, err
		}
	default:
		if err := c.write(); err != nil {
			return nil, err
		}
	}
	resp := c.h.do(&c.req)
	if resp.Err != nil {
		a := fail(c.f, resp.Err)
		a.warnings = resp.Warnings
		return a, nil
	}
	a := &answer{code: resp.Code, object: resp.Object, kind: c.t.kind, format: c.f, warnings: resp.Warnings}
	if c.req.Verb == fakeapi.DeleteCollection {
		a.object, a.list = nil, &resp
	}
	return a, nil
}

func (c *exchange) query(into runtime.Object) error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	if err := metascheme.ParameterCodec.DecodeParameters(c.r.URL.Query(), metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// listOptions reads the query of a list, a watch or a get.
func (c *exchange) listOptions() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	if err := parameters.DecodeParameters(c.r.URL.Query(), coreV1, &c.req.List); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// write reads the options and the body of a request that changes something.
func (c *exchange) write() error {
	body, err := readBody(c.r)
	if err != nil {
		return err
	}
	switch c.req.Verb {
	case fakeapi.Create:
		if err := c.query(&c.req.Create); err != nil {
			return err
		}
		c.req.Object, c.warnings, err = decodeObject(c.r, c.t.kind.BodyKind(c.t.subresource), body, c.req.Create.FieldValidation)
	case fakeapi.Update:
		if err := c.query(&c.req.Update); err != nil {
			return err
		}
		c.req.Object, c.warnings, err = decodeObject(c.r, c.t.kind.BodyKind(c.t.subresource), body, c.req.Update.FieldValidation)
	case fakeapi.Patch:
		if err := c.query(&c.req.PatchO); err != nil {
			return err
		}
		c.req.Patch = body
		switch media := types.PatchType(contentType(c.r)); media {
		case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType:
			c.req.PatchType = media
		default:
			return errPatchFormat()
		}
	case fakeapi.DeleteCollection:
		if err := c.listOptions(); err != nil {
			return err
		}
		c.req.Delete, err = decodeDeleteOptions(c.r, body)
	case fakeapi.Delete:
		c.req.Delete, err = decodeDeleteOptions(c.r, body)
	}
	return err
}

func (c *exchange) list() (*answer, error) {
	if err := c.listOptions(); err != nil {
		return nil, err
	}
	if c.t.watch || isWatch(c.r.URL.Query()) {
		return c.watch()
	}
	resp := c.h.do(&c.req)
	if resp.Err != nil {
		return fail(c.f, resp.Err), nil
	}
	return &answer{code: resp.Code, list: &resp, kind: c.t.kind, format: c.f, warnings: resp.Warnings}, nil
}

// isWatch: any value but an explicit no asks for a watch.
func isWatch(q url.Values) bool {
	values, ok := q["watch"]
	if !ok || len(values) == 0 {
		return false
	}
	switch values[0] {
	case "false", "0":
		return false
	}
	return true
}

func (c *exchange) watch() (*answer, error) {
	if c.f.media == yamlMedia {
		return nil, errStreamFormat()
	}
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	w, err := c.h.server.Watch(c.t.kind, c.t.namespace, c.t.name, c.req.List)
	if err != nil {
		return nil, err
	}
	a := &answer{code: http.StatusOK, kind: c.t.kind, format: c.f, watch: w, bookmarks: c.req.List.AllowWatchBookmarks}
	if s := c.req.List.TimeoutSeconds; s != nil {
		a.timeout = time.Duration(min(*s, maxTimeout)) * time.Second
	}
	return a, nil
}

// maxTimeout bounds what a client may ask for, in seconds.
const maxTimeout = 1 << 30
