package validation

import (
	corev1 "k8s.io/api/core/v1"
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
		for j, a := range s.Addresses {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(path.Child("addresses").Index(j).Child("ip"),
				a.IP, false, nil)...)
		}
		for j, a := range s.NotReadyAddresses {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(path.Child("notReadyAddresses").Index(j).Child(
				"ip"), a.IP, false, nil)...)
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
