package table

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

func serviceCells(o *corev1.Service, now time.Time) []any {
	ip := "<none>"
	if len(o.Spec.ClusterIPs) > 0 {
		ip = o.Spec.ClusterIPs[0]
	}
	ports := make([]string, len(o.Spec.Ports))
	for i, p := range o.Spec.Ports {
		ports[i] = fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.NodePort > 0 {
			ports[i] = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
		}
	}
	return []any{o.Name, string(o.Spec.Type), ip, externalIP(o), orNone(strings.Join(ports, ",")),
		since(o.CreationTimestamp, now), labels.FormatLabels(o.Spec.Selector)}
}

func externalIP(o *corev1.Service) string {
	switch o.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return orNone(strings.Join(o.Spec.ExternalIPs, ","))
	case corev1.ServiceTypeExternalName:
		return o.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		var all []string
		for _, in := range o.Status.LoadBalancer.Ingress {
			if in.IP != "" {
				all = append(all, in.IP)
			} else if in.Hostname != "" {
				all = append(all, in.Hostname)
			}
		}
		slices.Sort(all)
		all = append(slices.Compact(all), o.Spec.ExternalIPs...)
		if len(all) == 0 {
			return "<pending>"
		}
		return strings.Join(all, ",")
	}
	return "<unknown>"
}

const shown = 3

// firstOf joins the first items of a list, and adds the number of the remaining items. For an empty list, or one empty
// item, it returns the parameter none.
func firstOf(list []string, none string) string {
	switch {
	case strings.Join(list, "") == "" && len(list) < 2:
		return none
	case len(list) > shown:
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ","), len(list)-shown)
	}
	return strings.Join(list, ",")
}

func endpointsCells(o *corev1.Endpoints, now time.Time) []any {
	var all []string
	for i := range o.Subsets {
		s := &o.Subsets[i]
		for _, a := range s.Addresses {
			if len(s.Ports) == 0 {
				all = append(all, a.IP)
			}
		}
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				all = append(all, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	none := ""
	if len(o.Subsets) == 0 {
		none = "<none>"
	}
	return []any{o.Name, firstOf(all, none), since(o.CreationTimestamp, now)}
}

func endpointSliceCells(o *discoveryv1.EndpointSlice, now time.Time) []any {
	var ports, addresses []string
	for _, p := range o.Ports {
		switch {
		case p.Port != nil:
			ports = append(ports, strconv.Itoa(int(*p.Port)))
		case p.Name != nil:
			ports = append(ports, *p.Name)
		default:
			ports = append(ports, "*")
		}
	}
	for _, e := range o.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	return []any{o.Name, string(o.AddressType), firstOf(ports, "<unset>"), firstOf(addresses, "<unset>"),
		since(o.CreationTimestamp, now)}
}

func ingressCells(o *networkingv1.Ingress, now time.Time) []any {
	ports := "80"
	if len(o.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	var addresses []string
	for _, in := range o.Status.LoadBalancer.Ingress {
		if in.IP != "" {
			addresses = append(addresses, in.IP)
		} else if in.Hostname != "" {
			addresses = append(addresses, in.Hostname)
		}
	}
	slices.Sort(addresses)
	return []any{o.Name, ptr.Deref(o.Spec.IngressClassName, "<none>"), hosts(o.Spec.Rules),
		strings.Join(slices.Compact(addresses), ","), ports, since(o.CreationTimestamp, now)}
}

func hosts(rules []networkingv1.IngressRule) string {
	const most = 3
	var list []string
	for i, r := range rules {
		if len(list) == most {
			return fmt.Sprintf("%s + %d more...", strings.Join(list, ","), len(rules)-most)
		}
		if rules[i].Host != "" {
			list = append(list, r.Host)
		}
	}
	if len(list) == 0 {
		return "*"
	}
	return strings.Join(list, ",")
}

func ingressClassCells(o *networkingv1.IngressClass, now time.Time) []any {
	parameters := "<none>"
	if p := o.Spec.Parameters; p != nil {
		parameters = p.Kind
		if p.APIGroup != nil {
			parameters += "." + *p.APIGroup
		}
		parameters += "/" + p.Name
	}
	return []any{byDefault(o, networkingv1.AnnotationIsDefaultIngressClass), o.Spec.Controller, parameters,
		since(o.CreationTimestamp, now)}
}

// byDefault returns the name of a class, with "(default)" if one of the annotations makes it the default.
func byDefault(o metav1.Object, annotations ...string) string {
	for _, a := range annotations {
		if o.GetAnnotations()[a] == "true" {
			return o.GetName() + " (default)"
		}
	}
	return o.GetName()
}
