package fakeapi

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

const firstNodePort, lastNodePort = 30000, 32767

// askedPorts returns the node ports that a request adds to a Service of type NodePort or LoadBalancer.
func (c *call) askedPorts(obj, old runtime.Object) (asked []askedPort) {
	s, ok := obj.(*corev1.Service)
	if !ok || s.Spec.Type != corev1.ServiceTypeNodePort && s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	was, _ := old.(*corev1.Service)
	for i, p := range s.Spec.Ports {
		if p.NodePort != 0 && (was == nil || !usesPort(was, p.NodePort)) {
			asked = append(asked, askedPort{i, p.NodePort})
		}
	}
	return asked
}

func usesPort(s *corev1.Service, port int32) bool {
	return s.Spec.HealthCheckNodePort == port ||
		slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.NodePort == port })
}

// allocatePorts returns an error for a node port that is out of range or in use (alloc.go in
// pkg/registry/core/service/storage).
func (c *call) allocatePorts(asked []askedPort, obj runtime.Object) error {
	for _, a := range asked {
		s := obj.(*corev1.Service)
		if a.i >= len(s.Spec.Ports) || s.Spec.Ports[a.i].NodePort != a.port {
			continue // in a status write, obj keeps the stored ports
		}
		why := error(nil)
		if a.port < firstNodePort || a.port > lastNodePort {
			why = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d",
				firstNodePort, lastNodePort)
		}
		c.s.Each(serviceKind, func(other runtime.Object) bool {
			o := other.(*corev1.Service)
			if usesPort(o, a.port) && (c.draft.old == nil || o.Name != s.Name || o.Namespace != s.Namespace) {
				why = errors.New("provided port is already allocated")
			}
			return why == nil
		})
		if why != nil {
			return apierrors.NewInvalid(c.k.GVK.GroupKind(), s.Name, field.ErrorList{field.Invalid(
				field.NewPath("spec", "ports").Index(a.i).Child("nodePort"), a.port, why.Error())})
		}
	}
	return nil
}

// serviceRange contains the addresses of Services. ServiceCIDRs add further ranges.
var serviceRange = netip.MustParsePrefix("10.96.0.0/12")

// inRange returns an error if a Service gets its first cluster IP, and this IP is outside of all ranges or in use
// (alloc.go).
func (c *call) inRange(obj, old runtime.Object) error {
	s, ok := obj.(*corev1.Service)
	was, _ := old.(*corev1.Service)
	if !ok || s.Spec.Type == corev1.ServiceTypeExternalName || was != nil && was.Spec.Type != corev1.ServiceTypeExternalName {
		return nil
	}
	for _, text := range s.Spec.ClusterIPs {
		ip, err := netip.ParseAddr(text)
		why := ""
		switch {
		case err != nil: // "None"
		case !serviceRange.Contains(ip) && !c.s.inCIDR(ip):
			why = "the provided network does not match the current range"
		case !c.draft.dryRun && text != registry.AddressOf(s) && c.s.hasAddress(text):
			why = "provided IP is already allocated"
		}
		if why == "" {
			continue
		}
		return apierrors.NewInvalid(schema.GroupKind{Kind: c.k.GVK.Kind}, s.Name, field.ErrorList{field.Invalid(
			field.NewPath("spec", "clusterIPs"), s.Spec.ClusterIPs,
			fmt.Sprintf("failed to allocate IP %s: %s", text, why))})
	}
	return nil
}

// hasAddress reports whether a Service has a cluster IP.
func (s *Server) hasAddress(ip string) (has bool) {
	s.Each(serviceKind, func(o runtime.Object) bool {
		has = slices.Contains(o.(*corev1.Service).Spec.ClusterIPs, ip)
		return !has
	})
	return has
}

func (s *Server) inCIDR(ip netip.Addr) bool {
	for _, cidr := range held[*networkingv1.ServiceCIDR](s, cidrKind, "") {
		for _, text := range cidr.Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil && p.Contains(ip) {
				return true
			}
		}
	}
	return false
}
