package fakeapi

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// SetCaller sets the caller of webhooks that have no function in [Options]. See CallWebhooks in package httpapi.
func (s *Server) SetCaller(c *webhook.Caller) { s.caller = c }

func (s *Server) endpoint(client *registration.WebhookClientConfig, timeout time.Duration) *webhook.Endpoint {
	to := &webhook.Endpoint{CABundle: client.CABundle, Timeout: timeout}
	if client.URL != nil {
		to.URL = *client.URL
		return to
	}
	service, port := client.Service, ptr.Deref(client.Service.Port, 443)
	host := net.JoinHostPort(service.Name+"."+service.Namespace+".svc", strconv.Itoa(int(port)))
	to.URL, to.Service = "https://"+host+cmp.Or(ptr.Deref(service.Path, ""), "/"), true
	to.Address, to.Unresolved = s.resolve(service.Namespace, service.Name, port)
	return to
}

// resolve returns an address of a service: its first ready endpoint in name order, or its external name. It never
// returns a cluster IP, because nothing listens there.
func (s *Server) resolve(namespace, name string, port int32) (string, error) {
	obj := s.Lookup(serviceKind, namespace, name)
	if obj == nil {
		return "", apierrors.NewNotFound(schema.GroupResource{Resource: "service"}, name)
	}
	svc := obj.(*corev1.Service)
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return net.JoinHostPort(svc.Spec.ExternalName, strconv.Itoa(int(port))), nil
	}
	for i := range svc.Spec.Ports {
		if svc.Spec.Ports[i].Port != port {
			continue
		}
		if address := s.readyAddress(svc, svc.Spec.Ports[i].Name); address != "" {
			return address, nil
		}
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", port, name))
}

// readyAddress returns the first ready address for a service's port in its EndpointSlices; "" if there is none.
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

// call calls a webhook. The server may handle other requests during the call, so look up objects again afterwards.
func (s *Server) call(to *webhook.Endpoint, review, response runtime.Object) error {
	s.calls++
	if s.caller.Release != nil {
		s.caller.Release()
		defer s.caller.Retake()
	}
	return s.caller.Call(to, review, response)
}

func (s *Server) reviewUID() types.UID {
	s.reviews++
	return uid(definitionKind, "review", s.reviews)
}
