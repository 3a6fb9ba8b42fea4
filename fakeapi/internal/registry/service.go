package registry

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var services = goType[corev1.Service, corev1.ServiceList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Service"), Resource: "services", Singular: "service",
	ShortNames: []string{"svc"}, Categories: []string{"all"},
	Namespaced: true, Status: true, ReturnDeleted: true, CreateOnUpdate: true, Default: On(coredefaults.SetObjectDefaults_Service),
	strategy: strategy{
		Prefix:        "services/specs",
		PrepareCreate: On(prepareService),
		Dry:           On(addressDry),
		Canonicalize: On(func(s *corev1.Service) {
			if s.Spec.Type == corev1.ServiceTypeExternalName {
				s.Spec.InternalTrafficPolicy = nil
			}
		}),

		Begin:  validation.ServiceAddresses,
		Create: validation.Service.Create,
		Main: Update{
			Prepare: Over(prepareServiceUpdate), Judge: validation.Service.Update,
		},
		ForStatus: Update{Prepare: Over(func(s, old *corev1.Service) {
			s.Spec = old.Spec
		}), Judge: validation.Service.Status},
		SelectableKeys: []string{"spec.clusterIP", "spec.type"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			s := obj.(*corev1.Service)
			set["spec.clusterIP"], set["spec.type"] = s.Spec.ClusterIP, string(s.Spec.Type)
		},
	},
})

// prepareService assigns addresses and ports. They are functions of the uid, because nothing here routes to them.
func prepareService(s *corev1.Service) {
	s.Status = corev1.ServiceStatus{}
	giveAddress(s)
	givePorts(s)
}

func giveAddress(s *corev1.Service) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if s.Spec.ClusterIP == "" && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIP = addressOf(s)
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

// addressOf returns the address of a Service that names none.
func addressOf(s *corev1.Service) string {
	h := hashOf(s)
	return fmt.Sprintf("10.%d.%d.%d", 96+h>>16&15, h>>8&255, 1+h&253)
}

func addressDry(s *corev1.Service) {
	if s.Spec.ClusterIP == addressOf(s) {
		s.Spec.ClusterIP, s.Spec.ClusterIPs = "10.0.0.0", []string{"10.0.0.0"}
	}
}

func reachable(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer || s.Spec.Type == corev1.ServiceTypeNodePort ||
		s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0
}

// probedByPort reports whether a load balancer probes each node for endpoints.
func probedByPort(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

func hasNodePorts(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		(s.Spec.AllocateLoadBalancerNodePorts == nil || *s.Spec.AllocateLoadBalancerNodePorts)
}

// givePorts assigns the node ports that a Service needs and does not name.
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
	if probedByPort(s) && s.Spec.HealthCheckNodePort == 0 {
		s.Spec.HealthCheckNodePort = free()
	}
}

// prepareServiceUpdate keeps immutable fields that a client left out, and drops fields of the old type.
func prepareServiceUpdate(s, old *corev1.Service) {
	s.Status = old.Status
	external, was := s.Spec.Type == corev1.ServiceTypeExternalName, old.Spec.Type == corev1.ServiceTypeExternalName
	if !external && !was {
		keepAddress(&s.Spec, &old.Spec)
	}
	if external && s.Spec.ClusterIP != old.Spec.ClusterIP && slices.Equal(s.Spec.ClusterIPs, old.Spec.ClusterIPs) {
		s.Spec.ClusterIPs = nil // who clears or sets the one means the other, too
		if s.Spec.ClusterIP != "" {
			s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
		}
	}
	if hasNodePorts(old) && hasNodePorts(s) {
		keepPorts(&s.Spec, &old.Spec)
	}
	if probedByPort(s) && probedByPort(old) && s.Spec.HealthCheckNodePort == 0 {
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

// keepPorts restores node ports by the names of ports.
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
		if same.Pointer(n.IPFamilyPolicy, o.IPFamilyPolicy) {
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
	if probedByPort(old) && !probedByPort(s) && n.HealthCheckNodePort == o.HealthCheckNodePort {
		n.HealthCheckNodePort = 0
	}
	if n.Type != corev1.ServiceTypeLoadBalancer {
		if o.Type == corev1.ServiceTypeLoadBalancer {
			if same.Pointer(n.AllocateLoadBalancerNodePorts, o.AllocateLoadBalancerNodePorts) {
				n.AllocateLoadBalancerNodePorts = nil
			}
			if same.Pointer(n.LoadBalancerClass, o.LoadBalancerClass) {
				n.LoadBalancerClass = nil
			}
		}
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
	if reachable(old) && !reachable(s) && n.ExternalTrafficPolicy == o.ExternalTrafficPolicy {
		n.ExternalTrafficPolicy = ""
	}
}

// noneAdded reports whether all node ports were used before.
func noneAdded(now, was []corev1.ServicePort) bool {
	for i := range now {
		n := now[i].NodePort
		if n != 0 && !slices.ContainsFunc(was, func(p corev1.ServicePort) bool { return p.NodePort == n }) {
			return false
		}
	}
	return true
}
