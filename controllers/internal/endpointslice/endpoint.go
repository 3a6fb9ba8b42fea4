package endpointslice

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// families returns the address families of a Service, IPv4 before IPv6. The server sets them if there is a selector.
func families(svc *corev1.Service) []discoveryv1.AddressType {
	var out []discoveryv1.AddressType
	for _, f := range [...]corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		if slices.Contains(svc.Spec.IPFamilies, f) {
			out = append(out, discoveryv1.AddressType(f))
		}
	}
	return out
}

// listed reports whether a Pod has an address and has not ended.
func listed(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed &&
		(pod.Status.PodIP != "" || len(pod.Status.PodIPs) > 0)
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func ready(pod *corev1.Pod) bool {
	c := readyCondition(pod)
	return c != nil && c.Status == corev1.ConditionTrue
}

// endpointOf returns a Pod's endpoint. The endpoint of a terminating Pod may be serving, but it is not ready. With
// publishNotReadyAddresses every endpoint is ready.
func endpointOf(pod *corev1.Pod, node *corev1.Node, svc *corev1.Service,
	family discoveryv1.AddressType) discoveryv1.Endpoint {
	serving, terminating := ready(pod), pod.DeletionTimestamp != nil
	takes := svc.Spec.PublishNotReadyAddresses || serving && !terminating
	e := discoveryv1.Endpoint{
		Addresses:  addresses(pod, family),
		Conditions: discoveryv1.EndpointConditions{Ready: &takes, Serving: &serving, Terminating: &terminating},
		TargetRef: &corev1.ObjectReference{
			Kind: podKind.Kind, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		},
	}
	if name := pod.Spec.NodeName; name != "" {
		e.NodeName = &name
	}
	if node != nil && node.Labels[corev1.LabelTopologyZone] != "" {
		zone := node.Labels[corev1.LabelTopologyZone]
		e.Zone = &zone
	}
	if host := pod.Spec.Hostname; host != "" && pod.Spec.Subdomain == svc.Name {
		e.Hostname = &host
	}
	e.Hints = hints(svc, &e)
	return e
}

// hints returns the hints that keep traffic in a zone or on a node. It returns nil if the Service does not ask for such
// hints, or if the endpoint is not ready.
func hints(svc *corev1.Service, e *discoveryv1.Endpoint) *discoveryv1.EndpointHints {
	if svc.Spec.TrafficDistribution == nil || !*e.Conditions.Ready {
		return nil
	}
	var h discoveryv1.EndpointHints
	switch *svc.Spec.TrafficDistribution {
	case corev1.ServiceTrafficDistributionPreferSameNode:
		if e.NodeName != nil {
			h.ForNodes = []discoveryv1.ForNode{{Name: *e.NodeName}}
		}
	case corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone:
	default:
		return nil
	}
	if e.Zone != nil {
		h.ForZones = []discoveryv1.ForZone{{Name: *e.Zone}}
	}
	if h.ForZones == nil && h.ForNodes == nil {
		return nil
	}
	return &h
}

// addresses returns a Pod's addresses of one family. The server allows at most one.
func addresses(pod *corev1.Pod, family discoveryv1.AddressType) (out []string) {
	for _, ip := range pod.Status.PodIPs {
		a, err := netip.ParseAddr(ip.IP)
		if err == nil && a.Is6() == (family == discoveryv1.AddressTypeIPv6) {
			out = append(out, a.String())
		}
	}
	return out
}

// portsOf returns the ports of a Service on a Pod. A named port that the Pod does not have is left out. The ports have
// the same order as in upstream's slices.
func portsOf(svc *corev1.Service, pod *corev1.Pod) (out []discoveryv1.EndpointPort) {
	for i := range svc.Spec.Ports {
		p := svc.Spec.Ports[i]
		n, ok := portOn(pod, &p)
		if !ok {
			continue
		}
		out = append(out, discoveryv1.EndpointPort{Name: &p.Name, Port: &n, Protocol: &p.Protocol,
			AppProtocol: p.AppProtocol})
	}
	slices.SortFunc(out, func(a, b discoveryv1.EndpointPort) int { return bytes.Compare(hashOf(a), hashOf(b)) })
	return out
}

func hashOf(p discoveryv1.EndpointPort) []byte {
	h := fnv.New128a()
	fmt.Fprint(h, dump.ForHash(p))
	return h.Sum(nil)
}

func portOn(pod *corev1.Pod, p *corev1.ServicePort) (int32, bool) {
	if p.TargetPort.Type == intstr.Int {
		return p.TargetPort.IntVal, true
	}
	find := func(c *corev1.Container) (int32, bool) {
		for i := range c.Ports {
			if c.Ports[i].Name == p.TargetPort.StrVal && c.Ports[i].Protocol == p.Protocol {
				return c.Ports[i].ContainerPort, true
			}
		}
		return 0, false
	}
	for i := range pod.Spec.Containers {
		if n, ok := find(&pod.Spec.Containers[i]); ok {
			return n, true
		}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			continue
		}
		if n, ok := find(c); ok {
			return n, true
		}
	}
	return 0, false
}

// toldOtherwise reports whether the Pod's endpoint may have changed. As in upstream, any change of a terminating Pod
// counts. If another Pod ends (phase Succeeded or Failed), only its next change counts.
func toldOtherwise(old, cur *corev1.Pod) bool {
	return cur.DeletionTimestamp != nil || ready(old) != ready(cur) ||
		!slices.Equal(old.Status.PodIPs, cur.Status.PodIPs)
}

// moves reports whether other Services may select the Pod now, or whether its hostname or subdomain changed.
func moves(old, cur *corev1.Pod) bool {
	return !maps.Equal(old.Labels, cur.Labels) || old.Spec.Hostname != cur.Spec.Hostname ||
		old.Spec.Subdomain != cur.Spec.Subdomain
}
