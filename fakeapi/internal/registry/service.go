package registry

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	serviceutil "k8s.io/kubernetes/pkg/api/v1/service"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/utils/ptr"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var services = kind[corev1.Service, corev1.ServiceList](corev1.SchemeGroupVersion, validation.Service, &Row{
	ReturnDeleted: true, CreateOnUpdate: true, Default: On(coredefaults.SetObjectDefaults_Service),
	Prefix: "services/specs",
	// addresses and ports are computed from the uid, and may conflict, because nothing routes to them
	PrepareCreate: On(func(s *corev1.Service) {
		giveAddress(s)
		givePorts(s)
	}),
	Dry: On(addressDry),
	Canonicalize: On(func(s *corev1.Service) {
		if s.Spec.Type == corev1.ServiceTypeExternalName {
			s.Spec.InternalTrafficPolicy = nil
		}
	}),
	Begin:          validation.ServiceAddresses,
	Main:           Update{Prepare: Over(prepareServiceUpdate)},
	SelectableKeys: []string{"spec.clusterIP", "spec.type"},
	Selectable: selects(func(s *corev1.Service, set fields.Set) {
		set["spec.clusterIP"], set["spec.type"] = s.Spec.ClusterIP, string(s.Spec.Type)
	}),
})

func giveAddress(s *corev1.Service) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if s.Spec.ClusterIP == "" && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIP = AddressOf(s)
	}
	if len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	both := s.Spec.ClusterIP == corev1.ClusterIPNone && len(s.Spec.Selector) == 0
	if s.Spec.IPFamilyPolicy == nil {
		policy := corev1.IPFamilyPolicySingleStack
		if both {
			policy = corev1.IPFamilyPolicyRequireDualStack
		}
		s.Spec.IPFamilyPolicy = &policy
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if both && len(s.Spec.IPFamilies) == 1 && *s.Spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
		other := corev1.IPv6Protocol
		if s.Spec.IPFamilies[0] == other {
			other = corev1.IPv4Protocol
		}
		s.Spec.IPFamilies = []corev1.IPFamily{s.Spec.IPFamilies[0], other}
	}
}

func hashOf(s *corev1.Service) (h uint32) {
	for i := range len(s.UID) {
		h = h*31 + uint32(s.UID[i])
	}
	return h
}

// AddressOf returns the cluster IP that a Service gets if its spec sets none.
func AddressOf(s *corev1.Service) string {
	h := hashOf(s)
	return fmt.Sprintf("10.%d.%d.%d", 96+h>>16&15, h>>8&255, 1+h&253)
}

func addressDry(s *corev1.Service) {
	if s.Spec.ClusterIP == AddressOf(s) {
		s.Spec.ClusterIP, s.Spec.ClusterIPs = "10.0.0.0", []string{"10.0.0.0"}
	}
}

func hasNodePorts(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		(s.Spec.AllocateLoadBalancerNodePorts == nil || *s.Spec.AllocateLoadBalancerNodePorts)
}

// givePorts assigns the node ports that a Service needs and that its spec does not set.
func givePorts(s *corev1.Service) {
	next := 30000 + int32(hashOf(s)%2700)
	free := func() int32 {
		for slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.NodePort == next }) ||
			s.Spec.HealthCheckNodePort == next {
			next++
		}
		return next
	}
	if hasNodePorts(s) {
		for i := range s.Spec.Ports {
			if p := &s.Spec.Ports[i]; p.NodePort == 0 {
				p.NodePort = free()
			}
		}
	}
	if serviceutil.NeedsHealthCheck(s) && s.Spec.HealthCheckNodePort == 0 {
		s.Spec.HealthCheckNodePort = free()
	}
}

// prepareServiceUpdate restores omitted immutable fields, and clears fields that the new Service type does not have.
func prepareServiceUpdate(s, old *corev1.Service) {
	external, was := s.Spec.Type == corev1.ServiceTypeExternalName, old.Spec.Type == corev1.ServiceTypeExternalName
	if !external && !was {
		keepAddress(&s.Spec, &old.Spec)
	}
	if external && s.Spec.ClusterIP == old.Spec.ClusterIP && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = old.Spec.ClusterIPs // a client that does not know clusterIPs
	}
	if external && s.Spec.ClusterIP != old.Spec.ClusterIP && slices.Equal(s.Spec.ClusterIPs, old.Spec.ClusterIPs) {
		s.Spec.ClusterIPs = nil // a client that changes only clusterIP wants to change clusterIPs too
		if s.Spec.ClusterIP != "" {
			s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
		}
	}
	if hasNodePorts(old) && hasNodePorts(s) {
		keepPorts(&s.Spec, &old.Spec)
	}
	if serviceutil.NeedsHealthCheck(s) && serviceutil.NeedsHealthCheck(old) && s.Spec.HealthCheckNodePort == 0 {
		s.Spec.HealthCheckNodePort = old.Spec.HealthCheckNodePort
	}
	dropOfType(s, old)
	giveAddress(s)
	givePorts(s)
}

func keepAddress(s, old *corev1.ServiceSpec) {
	if s.ClusterIP == "" {
		s.ClusterIP = old.ClusterIP
	}
	if len(s.ClusterIPs) == 0 {
		s.ClusterIPs = old.ClusterIPs
	}
	if s.ClusterIP != old.ClusterIP && slices.Equal(s.ClusterIPs, old.ClusterIPs) {
		s.ClusterIPs = []string{s.ClusterIP}
	}
	if s.IPFamilyPolicy == nil {
		s.IPFamilyPolicy = old.IPFamilyPolicy
	}
}

// keepPorts gives a port without a node port the node port of the old port with the same name.
func keepPorts(s, old *corev1.ServiceSpec) {
	used := func(n int32) bool {
		return slices.ContainsFunc(s.Ports, func(p corev1.ServicePort) bool { return p.NodePort == n })
	}
	for i := range s.Ports {
		if s.Ports[i].NodePort != 0 {
			continue
		}
		for _, p := range old.Ports {
			if p.Name == s.Ports[i].Name && !used(p.NodePort) {
				s.Ports[i].NodePort = p.NodePort
			}
		}
	}
}

func dropOfType(s, old *corev1.Service) {
	n, o := &s.Spec, &old.Spec
	if n.Type == corev1.ServiceTypeExternalName && o.Type != n.Type {
		if n.ClusterIP == o.ClusterIP && slices.Equal(n.ClusterIPs, o.ClusterIPs) {
			n.ClusterIP, n.ClusterIPs = "", nil
		}
		if slices.Equal(n.IPFamilies, o.IPFamilies) {
			n.IPFamilies = nil
		}
		if ptr.Equal(n.IPFamilyPolicy, o.IPFamilyPolicy) {
			n.IPFamilyPolicy = nil
		}
	}
	onNodes := func(s *corev1.ServiceSpec) bool {
		return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer
	}
	if onNodes(o) && !onNodes(n) && noneAdded(n.Ports, o.Ports) {
		for i := range n.Ports {
			n.Ports[i].NodePort = 0
		}
	}
	if serviceutil.NeedsHealthCheck(old) && !serviceutil.NeedsHealthCheck(s) &&
		n.HealthCheckNodePort == o.HealthCheckNodePort {
		n.HealthCheckNodePort = 0
	}
	if n.Type != corev1.ServiceTypeLoadBalancer {
		if o.Type == corev1.ServiceTypeLoadBalancer {
			if ptr.Equal(n.AllocateLoadBalancerNodePorts, o.AllocateLoadBalancerNodePorts) {
				n.AllocateLoadBalancerNodePorts = nil
			}
			if ptr.Equal(n.LoadBalancerClass, o.LoadBalancerClass) {
				n.LoadBalancerClass = nil
			}
		}
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
	if serviceutil.ExternallyAccessible(old) && !serviceutil.ExternallyAccessible(s) &&
		n.ExternalTrafficPolicy == o.ExternalTrafficPolicy {
		n.ExternalTrafficPolicy = ""
	}
}

// noneAdded reports whether an update adds no node port: all node ports in now are also in was.
func noneAdded(now, was []corev1.ServicePort) bool {
	for i := range now {
		n := now[i].NodePort
		if n != 0 && !slices.ContainsFunc(was, func(p corev1.ServicePort) bool { return p.NodePort == n }) {
			return false
		}
	}
	return true
}
