package fakeapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// continueToken contains the revision and the next key of a list. It has the same encoding as on the real server.
type continueToken struct {
	APIVersion string `json:"v"`
	Version    int64  `json:"rv"`
	Start      string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

func (t continueToken) String() string {
	raw, err := json.Marshal(t)
	if err != nil {
		panic("fakeapi: a continue token does not encode: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func parseContinue(text string) (t continueToken, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return t, fmt.Errorf("continue key is not valid: %v", err)
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return t, fmt.Errorf("continue key is not valid: %v", err)
	}
	if t.APIVersion != continueVersion {
		return t, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %s",
			t.APIVersion)
	}
	if t.Version == 0 {
		return t, errors.New("continue key is not valid: incorrect encoded start resourceVersion (version " +
			"meta.k8s.io/v1)")
	}
	if t.Start == "" {
		return t, errors.New("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	key := "/" + strings.TrimPrefix(t.Start, "/")
	if path.Clean(key) != key {
		return t, fmt.Errorf("continue key is not valid: %s", t.Start)
	}
	return t, nil
}

// listSelected lists at the latest revision, at the revision of a continue token, or at an exact revision.
func (c *call) listSelected(sel selectors) Response {
	opts := &c.req.List
	prefix := ""
	if c.k.Namespaced && c.req.Namespace != "" {
		prefix = c.req.Namespace + "/"
	}
	asked, invalid := parseWatchVersion(opts.ResourceVersion)
	at, start := uint64(0), ""
	switch {
	case opts.Continue != "":
		token, err := parseContinue(opts.Continue)
		if err != nil {
			return refuse(apierrors.NewBadRequest("invalid continue token: " + err.Error()))
		}
		if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
			return refuse(apierrors.NewBadRequest("specifying resource version is not allowed when using continue"))
		}
		if token.Version > 0 {
			at = uint64(token.Version)
		}
		start = prefix + strings.TrimPrefix(token.Start, "/")
	case invalid != nil:
		return refuse(apierrors.NewBadRequest("invalid resource version: " + invalid.Error()))
	case opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact,
		opts.ResourceVersionMatch == "" && opts.Limit > 0:
		at = asked
	}
	if max(asked, at) > c.s.version {
		return refuse(errTooLarge(max(asked, at), c.s.version))
	}
	t := c.s.tables[c.k.ordinal]
	var r Response
	switch {
	case at == 0:
		r = c.listNow(t, sel, start)
	case at < t.compacted:
		return refuse(c.errExpired(start, prefix))
	case t.log == nil || t.log.ev[0].Version <= at:
		r = c.listNow(t, sel, start)
		r.Version = at
	default:
		r = c.listAt(t, sel, at, max(start, prefix), prefix)
	}
	if r.Err == nil {
		var err error
		if r.Items, err = sel.pick(r.Items); err != nil {
			return refuse(err)
		}
	}
	return c.page(r, prefix)
}

func (c *call) listAt(t *table, sel selectors, at uint64, start, prefix string) Response {
	r := Response{Code: http.StatusOK, Version: at}
	entries := t.at(at)
	from := sort.Search(len(entries), func(i int) bool { return entries[i].key >= start })
	for _, e := range entries[from:] {
		if !strings.HasPrefix(e.key, prefix) {
			break
		}
		if sel.match(e.obj) {
			r.Items = append(r.Items, e.obj)
		}
	}
	return r
}

// errExpired returns the error for a compacted revision. For a continue token, the error contains a new token, which
// continues the list at the latest revision.
func (c *call) errExpired(start, prefix string) error {
	if start == "" {
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	err := apierrors.NewResourceExpired(
		"The provided continue parameter is too old to display a consistent list result. You can start a new list " +
			"without the continue parameter, or use the continue token in this response to retrieve the remainder of " +
			"the results. Continuing with the provided token results in an inconsistent list - objects that were " +
			"created, modified, or deleted between the time the first chunk was returned and now may show up " +
			"in the list.")
	err.ErrStatus.ListMeta.Continue = continueToken{continueVersion, int64(c.s.version),
		strings.TrimPrefix(start, prefix)}.String()
	return err
}

func (c *call) listNow(t *table, sel selectors, start string) Response {
	r := Response{Code: http.StatusOK, Version: c.s.version}
	take := func(e *entry) bool {
		if e.key >= start && sel.match(e.obj) {
			r.Items = append(r.Items, e.obj)
		}
		return true
	}
	namespace := c.req.Namespace
	if sel.fields != nil {
		if ns, ok := sel.fields.RequiresExactMatch("metadata.namespace"); ok && namespace == "" {
			namespace = ns
		}
		if name, ok := sel.fields.RequiresExactMatch("metadata.name"); ok && (namespace != "" || !c.k.Namespaced) {
			if e := c.s.lookup(t, namespace, name); e != nil {
				take(e)
			}
			return r
		}
	}
	if label, value, ok := sel.pair(); ok {
		c.s.eachMarked(t, namespace, label, value, take)
		return r
	}
	t.each(namespace, take)
	return r
}

// page cuts a list to the request's limit, and sets the continue token. It ignores the limit for resourceVersion "0".
func (c *call) page(r Response, prefix string) Response {
	limit := c.req.List.Limit
	if limit <= 0 || c.req.List.ResourceVersion == "0" || int64(len(r.Items)) <= limit {
		return r
	}
	rest := int64(len(r.Items)) - limit
	r.Items = r.Items[:limit]
	last := metadata.Of(r.Items[limit-1])
	start := "/" + strings.TrimPrefix(c.k.key(last.GetNamespace(), last.GetName()), prefix) + "\x00"
	r.Continue = continueToken{continueVersion, int64(r.Version), start}.String()
	if c.req.List.LabelSelector == "" && c.req.List.FieldSelector == "" {
		r.Left = &rest
	}
	return r
}

// MakeList returns the items of a list response as the API's list type, such as PodList.
func (k *Kind) MakeList(r Response) runtime.Object {
	list := k.NewList()
	if k.custom == nil {
		list.GetObjectKind().SetGroupVersionKind(k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List"))
	}
	m := list.(metav1.ListInterface)
	m.SetResourceVersion(strconv.FormatUint(r.Version, 10))
	m.SetContinue(r.Continue)
	m.SetRemainingItemCount(r.Left)
	setItems(list, r.Items)
	return list
}

// setItems sets the items of a list to shallow copies of the objects.
func setItems(list runtime.Object, items []runtime.Object) {
	if l, ok := list.(*unstructured.UnstructuredList); ok {
		l.Items = make([]unstructured.Unstructured, len(items))
		for i, item := range items {
			l.Items[i] = *item.(*unstructured.Unstructured)
		}
		return
	}
	field := reflect.ValueOf(list).Elem().FieldByName("Items")
	out := reflect.MakeSlice(field.Type(), len(items), len(items))
	for i, item := range items {
		out.Index(i).Set(reflect.ValueOf(item).Elem())
		out.Index(i).FieldByName("TypeMeta").SetZero()
	}
	field.Set(out)
}

func (c *call) get() Response {
	if rv := c.req.List.ResourceVersion; rv != "" {
		if asked, err := parseWatchVersion(rv); err != nil {
			return refuse(err)
		} else if asked > c.s.version {
			return refuse(errTooLarge(asked, c.s.version))
		}
	}
	e := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	return Response{Object: e.obj, Code: http.StatusOK}
}

func (c *call) list() Response {
	if err := validateListOptions(&c.req.List); err != nil {
		return refuse(err)
	}
	sel, err := c.s.selectors(c.req.Kind.selects(), &c.req.List)
	if err != nil {
		return refuse(err)
	}
	return c.listSelected(sel)
}

// setListDefaults sets SendInitialEvents for a watch without a resourceVersion, or with "0". The first events of the
// watch are then the existing objects.
func setListDefaults(opts *metav1.ListOptions) {
	if opts.SendInitialEvents != nil || opts.ResourceVersionMatch != "" {
		return
	}
	if opts.Watch && (opts.ResourceVersion == "" || opts.ResourceVersion == "0") {
		opts.SendInitialEvents = new(true)
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
}

func validateListOptions(opts *metav1.ListOptions) error {
	if !opts.Watch && opts.ResourceVersionMatch == "" && opts.SendInitialEvents == nil {
		return nil
	}
	errs := validation.ValidateListOptions(&internalversion.ListOptions{
		Watch: opts.Watch, ResourceVersion: opts.ResourceVersion, ResourceVersionMatch: opts.ResourceVersionMatch,
		Continue: opts.Continue, SendInitialEvents: opts.SendInitialEvents, Limit: opts.Limit,
	}, true)
	if len(errs) > 0 {
		return errOptions("ListOptions", errs)
	}
	return nil
}

// parseWatchVersion parses the resourceVersion of a watch or a get. The error becomes a 500, as in the real server.
func parseWatchVersion(rv string) (uint64, error) {
	n, err := parseVersion(rv)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %v", rv, err)
	}
	return n, nil
}

// errTooLarge returns the error for a read at a revision that does not exist yet.
func errTooLarge(asked, have uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, have), 1)
	err.ErrStatus.Code = http.StatusGatewayTimeout
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

func parseVersion(rv string) (uint64, error) {
	if rv == "" {
		return 0, nil
	}
	return strconv.ParseUint(rv, 10, 64)
}
