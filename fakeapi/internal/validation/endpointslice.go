package validation

import (
	"net/netip"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1 "k8s.io/api/core/v1"
)

// EndpointSlice checks addresses, of which there is one type, and ports.
func EndpointSlice(e *discoveryv1.EndpointSlice) field.ErrorList {
	return append(validateSlice(e), validateSliceEndpoints(e)...)
}

// EndpointSliceUpdate checks a change: the type is for ever, and endpoints that were
// stored may stay as they are.
func EndpointSliceUpdate(e, old *discoveryv1.EndpointSlice) field.ErrorList {
	errs := validateSlice(e)
	if !equality.Semantic.DeepEqual(e.Endpoints, old.Endpoints) {
		errs = append(errs, validateSliceEndpoints(e)...)
	}
	return append(errs, apivalidation.ValidateImmutableField(e.AddressType, old.AddressType,
		field.NewPath("addressType"))...)
}

func validateSlice(e *discoveryv1.EndpointSlice) field.ErrorList {
	errs := amongSome(e.AddressType, field.NewPath("addressType"), discoveryv1.AddressTypeFQDN,
		discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)
	path := field.NewPath("ports")
	if n := len(e.Ports); n > 20000 {
		return append(errs, field.TooMany(path, n, 20000))
	}
	names := map[string]bool{}
	for i := range e.Ports {
		p, at := &e.Ports[i], path.Index(i)
		if *p.Name != "" {
			errs = append(errs, label(*p.Name, at.Child("name"))...)
		}
		if names[*p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		names[*p.Name] = true
		errs = append(errs, among(p.Protocol, at.Child("protocol"), corev1.ProtocolSCTP, corev1.ProtocolTCP,
			corev1.ProtocolUDP)...)
		if p.AppProtocol != nil {
			errs = append(errs, qualified(*p.AppProtocol, at.Child("appProtocol"))...)
		}
	}
	return errs
}

func validateSliceEndpoints(e *discoveryv1.EndpointSlice) (errs field.ErrorList) {
	path := field.NewPath("endpoints")
	if n := len(e.Endpoints); n > 1000 {
		return field.ErrorList{field.TooMany(path, n, 1000)}
	}
	for i := range e.Endpoints {
		one, at := &e.Endpoints[i], path.Index(i)
		if n := len(one.Addresses); n == 0 {
			errs = append(errs, field.Required(at.Child("addresses"), "must contain at least 1 address"))
		} else if n > 100 {
			errs = append(errs, field.TooMany(at.Child("addresses"), n, 100))
		}
		for j, text := range one.Addresses {
			errs = append(errs, sliceAddress(text, e.AddressType, at.Child("addresses"), j)...)
		}
		if one.NodeName != nil {
			errs = append(errs, named(*one.NodeName, at.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
		}
		if n := len(one.DeprecatedTopology); n > 16 {
			errs = append(errs, field.TooMany(at.Child("deprecatedTopology"), n, 16))
		}
		errs = append(errs, metav1validation.ValidateLabels(one.DeprecatedTopology, at.Child("deprecatedTopology"))...)
		if one.Hostname != nil {
			errs = append(errs, label(*one.Hostname, at.Child("hostname"))...)
		}
		if one.Hints != nil {
			errs = append(errs, validateHints(one.Hints, at.Child("hints"))...)
		}
	}
	return errs
}

func sliceAddress(text string, of discoveryv1.AddressType, path *field.Path, i int) field.ErrorList {
	at := path.Index(i)
	switch of {
	case discoveryv1.AddressTypeFQDN:
		return utilvalidation.IsFullyQualifiedDomainName(at, text)
	case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
	default:
		return nil
	}
	four := of == discoveryv1.AddressTypeIPv4
	check := utilvalidation.IsValidIP
	if four {
		check = func(path *field.Path, text string) field.ErrorList { return anyIP(text, path) }
	}
	if errs := check(at, text); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	if a, err := netip.ParseAddr(text); err == nil && a.Is4() != four {
		errs = append(errs, field.Invalid(path, text, "must be an "+string(of)+" address"))
	}
	return append(errs, endpointIP(text, at)...)
}

// endpointIP checks that an address is one that others can reach.
func endpointIP(text string, path *field.Path) (errs field.ErrorList) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, "must be a valid IP address")}
	}
	a = a.Unmap()
	for _, one := range [...]struct {
		is  bool
		msg string
	}{{a.IsUnspecified(), "may not be unspecified (" + text + ")"},
		{a.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{a.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{a.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"}} {
		if one.is {
			errs = append(errs, field.Invalid(path, text, one.msg))
		}
	}
	return errs
}

func validateHints(h *discoveryv1.EndpointHints, path *field.Path) (errs field.ErrorList) {
	var zones, nodes []string
	for i := range h.ForZones {
		zones = append(zones, h.ForZones[i].Name)
	}
	for i := range h.ForNodes {
		nodes = append(nodes, h.ForNodes[i].Name)
	}
	for _, list := range [...]struct {
		name  string
		names []string
		rule  func(string, bool) []string
	}{{"forZones", zones, plain(utilvalidation.IsValidLabelValue)},
		{"forNodes", nodes, apivalidation.NameIsDNSSubdomain}} {
		if n := len(list.names); n > 8 {
			return append(errs, field.TooMany(path.Child(list.name), n, 8))
		}
		for i, name := range list.names {
			at := path.Child(list.name).Index(i).Child("name")
			if slices.Contains(list.names[:i], name) {
				errs = append(errs, field.Duplicate(at, name))
			}
			errs = append(errs, named(name, at, list.rule)...)
		}
	}
	return errs
}
