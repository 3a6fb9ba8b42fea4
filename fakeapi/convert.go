package fakeapi

import (
	"errors"
	"fmt"
	"slices"

	registration "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// asker returns the function that converts a kind's objects during a request; nil if only the apiVersion changes.
func (s *Server) asker(k *Kind) conversion.Ask {
	if !k.hooked {
		return nil
	}
	d := k.custom.Definition
	if by := s.opts.Convert[k.GVK.GroupKind()]; by != nil {
		return func(obj *unstructured.Unstructured, to schema.GroupVersion) ([]runtime.RawExtension, error) {
			out, err := by(obj, to)
			if err != nil {
				return nil, err
			}
			if out == nil {
				return nil, fmt.Errorf("Options.Convert made nothing of a %s", obj.GetKind())
			}
			return []runtime.RawExtension{{Object: out}}, nil
		}
	}
	return func(obj *unstructured.Unstructured, to schema.GroupVersion) ([]runtime.RawExtension, error) {
		ask, err := s.remote(d, s.call)
		if err != nil {
			return nil, err
		}
		return ask(obj, to)
	}
}

// far reports whether converting an object of a kind needs a network call.
func (s *Server) far(k *Kind) bool {
	return k.hooked && s.caller != nil && s.opts.Convert[k.GVK.GroupKind()] == nil
}

// remote returns a function that converts objects with a CRD's webhook. The function call sends the reviews.
func (s *Server) remote(d *crd.Definition,
	call func(to *webhook.Endpoint, review, response runtime.Object) error) (conversion.Ask, error) {
	if s.caller == nil && s.opts.WebhooksLater {
		return nil, fmt.Errorf("nobody converts %s yet, because no program of this world has started: write it in the version that is stored",
			d.Name)
	}
	if s.caller == nil {
		return nil, fmt.Errorf("nobody converts %s here: Options.Convert has no function for %s.%s, and webhooks are "+
			"called by threelaws serve alone", d.Name, d.Spec.Names.Kind, d.Spec.Group)
	}
	w := d.Spec.Conversion.Webhook
	if !slices.Contains(w.ConversionReviewVersions, apiextensionsv1.SchemeGroupVersion.Version) {
		return nil, errors.New("the webhook takes no ConversionReview of version v1: others are not modelled")
	}
	client := &registration.WebhookClientConfig{URL: w.ClientConfig.URL, CABundle: w.ClientConfig.CABundle}
	if r := w.ClientConfig.Service; r != nil {
		client.Service = (*registration.ServiceReference)(r)
	}
	to := s.endpoint(client, 0)
	uid := s.reviewUID()
	return func(obj *unstructured.Unstructured, gv schema.GroupVersion) ([]runtime.RawExtension, error) {
		response := &apiextensionsv1.ConversionReview{}
		if err := call(to, conversion.Review(uid, obj, gv), response); err != nil {
			return nil, err
		}
		return conversion.Answer(uid, response)
	}, nil
}

// convert converts a stored object to version k. If keep is set, it converts an object of version k to the storage
// version instead. It may call a webhook.
func (s *Server) convert(k *Kind, obj runtime.Object, keep bool) (runtime.Object, error) {
	return k.convertBy(s.asker(k), obj, keep)
}

func (k *Kind) convertBy(ask conversion.Ask, obj runtime.Object, keep bool) (runtime.Object, error) {
	to, finish := k.GVK, k.row.View.Show
	if keep {
		to, finish = k.stored.GVK, k.row.View.Keep
	}
	if ask == nil {
		return finish(obj), nil
	}
	out, err := conversion.To(obj.(*unstructured.Unstructured), to.GroupVersion(), ask)
	if err != nil {
		return nil, err
	}
	return finish(out), nil
}

// asks reports whether a webhook, or a function in Options.Convert, converts objects of this version.
func (k *Kind) asks() bool { return k.stored != nil && k.hooked }

// Show returns a stored object in version k. If the conversion needs a network call, the result has only the metadata.
// It returns an error if the conversion fails.
func (s *Server) Show(k *Kind, obj runtime.Object) (runtime.Object, error) {
	switch {
	case !k.otherVersion(obj):
		return obj, nil
	case s.far(k):
		return k.bareOf(obj), nil
	}
	return s.convert(k, obj, false)
}

// otherVersion reports whether an object is in another version of the kind than k.
func (k *Kind) otherVersion(obj runtime.Object) bool {
	if k.stored == nil || obj == nil {
		return false
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	return gvk != k.GVK && gvk.GroupKind() == k.stored.GVK.GroupKind()
}

// shown does the same as Show, but panics if the conversion fails.
func (s *Server) shown(k *Kind, obj runtime.Object) runtime.Object {
	out, err := s.Show(k, obj)
	if err != nil {
		panic("fakeapi: " + err.Error())
	}
	return out
}

// bareOf returns an object in version k with only its metadata, which is the same in every version.
func (k *Kind) bareOf(obj runtime.Object) runtime.Object {
	u := obj.(*unstructured.Unstructured)
	out := &unstructured.Unstructured{Object: map[string]any{"metadata": u.Object["metadata"]}}
	out.SetGroupVersionKind(k.GVK)
	return out
}

// settle converts objects that were stored before their CRD changed. If the request names an object, it converts only
// this object.
func (c *call) settle() error {
	if c.req.Verb == Create && c.req.Name == "" {
		return nil
	}
	k, key := c.k.Stored(), ""
	if c.req.Name != "" {
		key = k.key(c.req.Namespace, c.req.Name)
	}
	err := c.s.settle(k, key)
	if err != nil && key == "" {
		return errUnlisted(c.req.Kind, err)
	}
	return err
}

// settle converts the stored objects of a kind that need a webhook call: only the object at key, or all if key is "".
// It stops at the first error.
func (s *Server) settle(k *Kind, key string) error {
	var away []*entry
	s.tables[k.ordinal].each("", func(e *entry) bool {
		if e.away() && (key == "" || e.key == key) {
			away = append(away, e)
		}
		return true
	})
	for _, e := range away {
		now, err := s.read(s.tables[k.ordinal], e, true)
		if err != nil {
			return err
		}
		t := s.writable(k)
		if s.find(t, e.key) == e { // another request may have changed the store during the webhook call
			t.objects.ReplaceOrInsert(now)
			t.foreign = true
		}
	}
	if key == "" {
		s.writable(k).away = false
	}
	return nil
}

// way returns the function show, which converts stored objects to version k and does not need the server's lock. show
// returns objects of version k, and objects of other kinds, unchanged.
func (s *Server) way(k *Kind) (show func(runtime.Object) (runtime.Object, error), err error) {
	ask := s.asker(k)
	if s.far(k) {
		if ask, err = s.remote(k.custom.Definition, s.caller.Call); err != nil {
			return nil, err
		}
	}
	return func(obj runtime.Object) (runtime.Object, error) {
		if !k.otherVersion(obj) {
			return obj, nil
		}
		return k.convertBy(ask, obj, false)
	}, nil
}

// present converts the objects of a response to version k. If this needs a network call, r.Finish converts them later.
func (c *call) present(k *Kind, r Response) Response {
	if c.draft.kept != nil && r.Object != nil && r.Object.GetObjectKind().GroupVersionKind() == k.GVK {
		r.Object = c.draft.kept
	}
	each := func(f func(runtime.Object) runtime.Object) {
		r.Object = f(r.Object)
		for i := range r.Items {
			r.Items[i] = f(r.Items[i])
		}
	}
	if t := c.s.tables[k.ordinal]; t.foreign {
		each(func(obj runtime.Object) runtime.Object { return c.s.source(t, obj) })
	}
	if !k.asks() {
		each(func(obj runtime.Object) runtime.Object { return c.s.shown(k, obj) })
		return r
	}
	if r.Object == nil && len(r.Items) == 0 {
		return r
	}
	show, err := c.s.way(k)
	r.later = func(r *Response) {
		if err == nil {
			err = r.convert(show)
		}
		if err != nil {
			if c.req.Verb == List {
				err = errUnlisted(k, err)
			}
			no := refuse(err)
			no.Warnings, *r = r.Warnings, no
		}
	}
	if err != nil || !c.s.far(k) || c.s.caller.Release == nil {
		r.Finish()
	}
	return r
}

// source returns a stored object in the version in which a client wrote it. Conversions begin with this version.
func (s *Server) source(t *table, obj runtime.Object) runtime.Object {
	if m, ok := obj.(*unstructured.Unstructured); ok {
		if e := s.lookup(t, m.GetNamespace(), m.GetName()); e != nil && e.obj == obj {
			return e.source()
		}
	}
	return obj
}

func (r *Response) convert(show func(runtime.Object) (runtime.Object, error)) (err error) {
	if r.Object, err = show(r.Object); err != nil || len(r.Items) == 0 {
		return err
	}
	items := make([]runtime.Object, len(r.Items))
	for i := range items {
		if items[i], err = show(r.Items[i]); err != nil {
			return err
		}
	}
	r.Items = items
	return nil
}
