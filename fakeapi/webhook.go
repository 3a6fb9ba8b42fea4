package fakeapi

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"reflect"
	"strconv"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// mutation is one pass of an object through the mutating webhooks. A second round calls those again that ask for it,
// if later ones changed the object.
type mutation struct {
	a      *webhook.Attributes
	hooks  []webhook.Hook
	again  bool            // there is to be a second round
	second bool            // this is it
	asked  map[string]bool // of those that may be asked again
	due    map[string]bool // those that are
}

// require marks the earlier webhooks for a second call.
func (m *mutation) require() {
	maps.Copy(m.due, m.asked)
	clear(m.asked)
}

// mutated calls the mutating webhooks, which change obj. plugins are the server's own mutating plugins, which run
// again if a webhook changes the object.
func (c *call) mutated(op admissionv1.Operation, obj, old runtime.Object, dryRun bool, plugins func() error) error {
	m := &mutation{a: c.attributes(op, obj, old, dryRun), hooks: c.hooks(mutatingHooks), asked: map[string]bool{},
		due: map[string]bool{}}
	if err := c.round(m); err != nil {
		return err
	}
	if m.again {
		before := m.a.Object.DeepCopyObject()
		if err := plugins(); err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(before, m.a.Object) {
			m.require()
		}
		m.second = true
		if err := c.round(m); err != nil {
			return err
		}
		c.mutatedIt = true
	}
	if s, ok := m.a.Object.(*autoscalingv1.Scale); ok && obj != nil && m.again && c.req.Subresource == "scale" {
		c.k.row.Scale.Write(obj, s.Spec.Replicas)
	}
	return nil
}

func (c *call) round(m *mutation) error {
	for i := range m.hooks {
		h := &m.hooks[i]
		f, err := c.matched(h, m.a)
		if err != nil {
			return err
		}
		if f == nil || m.second && !m.due[h.ID] {
			continue
		}
		changed, err := false, error(nil)
		if m.a.DryRun && !h.Dry() {
			err = webhook.NoDryRun(h.Name)
		} else {
			changed, err = c.askMutating(h, m.a, f)
		}
		if changed {
			m.require()
			m.again = true
		}
		if h.Again() {
			m.asked[h.ID] = true
		}
		if err = settled(h, err); err != nil {
			return err
		}
	}
	return nil
}

// askMutating calls one webhook and applies its patch.
func (c *call) askMutating(h *webhook.Hook, a *webhook.Attributes, f *forms) (changed bool, err error) {
	answer, err := c.send(h, a, f)
	if err != nil || len(answer.Patch) == 0 {
		return false, err
	}
	patch, err := jsonpatch.DecodePatch(answer.Patch)
	switch {
	case err != nil:
		return false, &webhook.Failure{Webhook: h.Name,
			Reason: fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	case len(patch) == 0:
		return false, nil
	case a.Object == nil:
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, "+
			"which is not supported for this operation", h.Name))
	case *answer.PatchType != admissionv1.PatchTypeJSONPatch:
		return false, &webhook.Failure{Webhook: h.Name,
			Reason: fmt.Errorf("unsupported patch type %q", *answer.PatchType)}
	}
	out, err := c.patchedBy(patch, f)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	f.complete(out)
	changed = !equality.Semantic.DeepEqual(f.obj, out)
	if out, err = c.back(out, a, f); err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if f.as != nil {
		if err := c.decoded(out); err != nil {
			return false, err
		}
	}
	replaceContent(a.Object, out)
	return changed, nil
}

// patchedBy applies a patch to the object in the webhook's version.
func (c *call) patchedBy(patch jsonpatch.Patch, f *forms) (runtime.Object, error) {
	text, err := webhook.JSON(f.obj)
	if err != nil {
		return nil, err
	}
	if text, err = patch.Apply(text); err != nil {
		return nil, err
	}
	if _, custom := f.obj.(*unstructured.Unstructured); custom {
		u := &unstructured.Unstructured{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &u.Object); err != nil {
			return nil, err
		}
		if u.GroupVersionKind() != f.to.Kind {
			return nil, errOtherKind
		}
		return u, nil
	}
	out := reflect.New(reflect.TypeOf(f.obj).Elem()).Interface().(runtime.Object)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, out); err != nil {
		return nil, err
	}
	// A kind that is left out is the one that was sent.
	is := out.GetObjectKind().GroupVersionKind()
	if is.Kind != "" && is.Kind != f.to.Kind.Kind || is.Version != "" && is.GroupVersion() != f.to.Kind.GroupVersion() {
		return nil, errOtherKind
	}
	out.GetObjectKind().SetGroupVersionKind(f.to.Kind)
	return out, nil
}

var errOtherKind = errors.New("the patch makes the object one of another kind")

func replaceContent(obj, from runtime.Object) {
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(from).Elem())
}

// SetCaller makes the server call the webhooks that [Options] have no function for. See Handler.CallWebhooks of
// package httpapi.
func (s *Server) SetCaller(c *webhook.Caller) { s.caller = c }

// endpoint returns the address of a webhook.
func (s *Server) endpoint(url *string, service *serviceRef, bundle []byte, timeout time.Duration) *webhook.Endpoint {
	to := &webhook.Endpoint{CABundle: bundle, Timeout: timeout}
	if url != nil {
		to.URL = *url
		return to
	}
	host := net.JoinHostPort(service.name+"."+service.namespace+".svc", strconv.Itoa(int(service.port)))
	to.URL, to.Service = "https://"+host+service.path, true
	to.Address, to.Unresolved = s.resolve(service)
	return to
}

type serviceRef struct {
	namespace, name, path string
	port                  int32
}

// resolve returns an address of a service: its first ready endpoint by name, or its external name. Nothing listens on
// cluster addresses here.
func (s *Server) resolve(r *serviceRef) (string, error) {
	obj := s.Lookup(serviceKind, r.namespace, r.name)
	if obj == nil {
		return "", apierrors.NewNotFound(serviceKind.groupResource(), r.name)
	}
	svc := obj.(*corev1.Service)
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return net.JoinHostPort(svc.Spec.ExternalName, strconv.Itoa(int(r.port))), nil
	}
	for i := range svc.Spec.Ports {
		if svc.Spec.Ports[i].Port != r.port {
			continue
		}
		if address := s.readyAddress(svc, svc.Spec.Ports[i].Name); address != "" {
			return address, nil
		}
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", r.name))
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", r.port, r.name))
}

// readyAddress returns the first ready address of a service's port in its EndpointSlices; "" if there is none.
func (s *Server) readyAddress(svc *corev1.Service, port string) (address string) {
	s.EachIn(sliceKind, svc.Namespace, func(obj runtime.Object) bool {
		slice := obj.(*discoveryv1.EndpointSlice)
		if slice.Labels[discoveryv1.LabelServiceName] != svc.Name {
			return true
		}
		for _, p := range slice.Ports {
			if p.Name == nil || *p.Name != port || p.Port == nil {
				continue
			}
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready == nil || *e.Conditions.Ready {
					address = net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*p.Port)))
					return false
				}
			}
		}
		return true
	})
	return address
}

// call calls a webhook during a request. Others may use the server meanwhile, so earlier look-ups may be out of date.
func (s *Server) call(to *webhook.Endpoint, review, response runtime.Object) error {
	s.calls++
	s.caller.Release()
	defer s.caller.Retake()
	return s.caller.Call(to, review, response)
}

func (s *Server) reviewUID() types.UID {
	s.reviews++
	return uid(definitionKind, "review", s.reviews)
}
