package validation

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Endpoints checks that each subset has addresses and that its ports
// can be told apart.
func Endpoints(e *corev1.Endpoints) (errs field.ErrorList) {
	for i := range e.Subsets {
		s, path := &e.Subsets[i], field.NewPath("subsets").Index(i)
		if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(path, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j := range s.Addresses {
			errs = append(errs, validateEndpoint(&s.Addresses[j], path.Child("addresses").Index(j))...)
		}
		for j := range s.NotReadyAddresses {
			errs = append(errs, validateEndpoint(&s.NotReadyAddresses[j], path.Child("notReadyAddresses").Index(j))...)
		}
		for j := range s.Ports {
			p, at := &s.Ports[j], path.Child("ports").Index(j)
			if p.Name == "" && len(s.Ports) > 1 {
				errs = append(errs, field.Required(at.Child("name"), ""))
			} else if p.Name != "" {
				for _, msg := range utilvalidation.IsDNS1123Label(p.Name) {
					errs = append(errs, field.Invalid(at.Child("name"), p.Name, msg))
				}
			}
			for _, msg := range utilvalidation.IsValidPortNum(int(p.Port)) {
				errs = append(errs, field.Invalid(at.Child("port"), p.Port, msg))
			}
			errs = append(errs, amongSome(p.Protocol, at.Child("protocol"), corev1.ProtocolSCTP, corev1.ProtocolTCP,
				corev1.ProtocolUDP)...)
			if p.AppProtocol != nil {
				errs = append(errs, qualified(*p.AppProtocol, at.Child("appProtocol"))...)
			}
		}
	}
	return errs
}

// validateEndpoint checks one address.
func validateEndpoint(a *corev1.EndpointAddress, path *field.Path) field.ErrorList {
	errs := utilvalidation.IsValidIPForLegacyField(path.Child("ip"), a.IP, false, nil)
	if a.Hostname != "" {
		errs = append(errs, label(a.Hostname, path.Child("hostname"))...)
	}
	if a.NodeName != nil {
		errs = append(errs, named(*a.NodeName, path.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	return append(errs, endpointIP(a.IP, path.Child("ip"))...)
}

// managedByEndpoints marks what the endpoints controller writes.
const managedByEndpoints = "endpoints.kubernetes.io/managed-by"

// WarnAddresses warns of addresses in old forms, unless the controller wrote them.
func WarnAddresses(e *corev1.Endpoints) (warnings []string) {
	if e.Labels[managedByEndpoints] == "endpoint-controller" {
		return nil
	}
	for i := range e.Subsets {
		path := field.NewPath("subsets").Index(i)
		for j, a := range e.Subsets[i].Addresses {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(path.Child("addresses").Index(j).Child("ip"),
				a.IP)...)
		}
		for j, a := range e.Subsets[i].NotReadyAddresses {
			warnings = append(warnings, utilvalidation.GetWarningsForIP(path.Child("notReadyAddresses").Index(j).Child(
				"ip"), a.IP)...)
		}
	}
	return warnings
}
