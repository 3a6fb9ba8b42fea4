package table

import (
	"fmt"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	ingresses = prints(ingressCells, nameColumn,
		text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
		text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
		text("Address", "Address is a list containing ingress points for the load-balancer"),
		text("Ports", "Ports of TLS configurations that open"), ageColumn)
	ingressClasses = prints(ingressClassCells, nameColumn,
		text("Controller", "Controller that is responsible for handling this class"),
		text("Parameters", "A reference to a resource with additional parameters"), ageColumn)
	networkPolicies = prints(func(o *networkingv1.NetworkPolicy, now time.Time) []any {
		return []any{o.Name, metav1.FormatLabelSelector(&o.Spec.PodSelector), since(o.CreationTimestamp, now)}
	}, nameColumn, text("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]), ageColumn)
)

func ingressCells(o *networkingv1.Ingress, now time.Time) []any {
	class, ports := "<none>", "80"
	if o.Spec.IngressClassName != nil {
		class = *o.Spec.IngressClassName
	}
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
	return []any{o.Name, class, hosts(o.Spec.Rules), strings.Join(slices.Compact(addresses), ","), ports,
		since(o.CreationTimestamp, now)}
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

// byDefault is the name of a class, with a mark if one of the annotations makes it
// that of who names none.
func byDefault(o metav1.Object, annotations ...string) string {
	for _, a := range annotations {
		if o.GetAnnotations()[a] == "true" {
			return o.GetName() + " (default)"
		}
	}
	return o.GetName()
}
