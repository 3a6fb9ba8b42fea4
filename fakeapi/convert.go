package fakeapi

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// asker returns the converter of a CRD's objects during a request. It is nil if the strategy is None.
func (s *Server) asker(d *crd.Definition) conversion.Ask {
	if !crd.ByWebhook(d) {
		return nil
	}
	if by := s.opts.Convert[schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}]; by != nil {
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
		ask, err := s.remote(d)
		if err != nil {
			return nil, err
		}
		return ask(s.call)(obj, to)
	}
}

// farFrom reports whether a network call converts the objects of a CRD.
func (s *Server) farFrom(d *crd.Definition) func() bool {
	gk := schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
	return func() bool { return s.caller != nil && s.opts.Convert[gk] == nil }
}

// calling calls a webhook, either with the server locked or not.
type calling func(to *webhook.Endpoint, review, response runtime.Object) error

// remote returns the webhook that a CRD names now. It is called without the server's lock.
func (s *Server) remote(d *crd.Definition) (func(calling) conversion.Ask, error) {
	if s.caller == nil {
		return nil, fmt.Errorf("nobody converts %s here: Options.Convert has no function for %s.%s, and webhooks are "+
			"called by threelaws serve alone", d.Name, d.Spec.Names.Kind, d.Spec.Group)
	}
	w := d.Spec.Conversion.Webhook
	known := false
	for _, v := range w.ConversionReviewVersions {
		known = known || v == apiextensionsv1.SchemeGroupVersion.Version
	}
	if !known {
		return nil, errors.New("the webhook takes no ConversionReview of version v1: others are not modelled")
	}
	var service *serviceRef
	if r := w.ClientConfig.Service; r != nil {
		service = &serviceRef{r.Namespace, r.Name, "", *r.Port}
		if r.Path != nil {
			service.path = *r.Path
		}
	}
	to := s.endpoint(w.ClientConfig.URL, service, w.ClientConfig.CABundle, 0)
	uid := s.reviewUID()
	return func(call calling) conversion.Ask {
		return func(obj *unstructured.Unstructured, gv schema.GroupVersion) ([]runtime.RawExtension, error) {
			response := &apiextensionsv1.ConversionReview{}
			if err := call(to, conversion.Review(uid, obj, gv), response); err != nil {
				return nil, err
			}
			return conversion.Answer(uid, response)
		}
	}, nil
}
