package validation

import (
	"net/netip"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Ingress checks backends, rules, certificates and class.
func Ingress(in *networkingv1.Ingress) (errs field.ErrorList) {
	s := &in.Spec
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		errs = append(errs, field.Invalid(specPath, s.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if s.DefaultBackend != nil {
		errs = append(errs, validateBackend(s.DefaultBackend, specPath.Child("defaultBackend"))...)
	}
	for i := range s.Rules {
		errs = append(errs, validateIngressRule(&s.Rules[i], specPath.Child("rules").Index(i))...)
	}
	for i := range s.TLS {
		path := specPath.Child("tls").Index(i)
		for j, host := range s.TLS[i].Hosts {
			errs = append(errs, validateHost(host, path.Child("hosts").Index(j))...)
		}
		if name := s.TLS[i].SecretName; name != "" {
			errs = append(errs, named(name, path.Child("secretName"), apivalidation.NameIsDNSSubdomain)...)
		}
	}
	if s.IngressClassName != nil {
		errs = append(errs, named(*s.IngressClassName, specPath.Child("ingressClassName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}

const classAnnotation = "kubernetes.io/ingress.class"

// NewIngress is Ingress, and that annotation and class name the same.
func NewIngress(in *networkingv1.Ingress) field.ErrorList {
	errs := Ingress(in)
	value, ok := in.Annotations[classAnnotation]
	if ok && in.Spec.IngressClassName != nil && value != *in.Spec.IngressClassName {
		errs = append(errs, field.Invalid(field.NewPath("annotations").Child(classAnnotation), value,
			"must match `ingressClassName` when both are specified"))
	}
	return errs
}

// WarnIngress warns of a class that is named by the annotation alone.
func WarnIngress(in *networkingv1.Ingress) []string {
	if _, ok := in.Annotations[classAnnotation]; !ok || in.Spec.IngressClassName != nil {
		return nil
	}
	return []string{`annotation "` + classAnnotation + `" is deprecated, please use 'spec.ingressClassName' instead`}
}

// IngressStatus checks the addresses of a load balancer.
func IngressStatus(in, old *networkingv1.Ingress) (errs field.ErrorList) {
	var known []string
	for _, one := range old.Status.LoadBalancer.Ingress {
		known = append(known, one.IP)
	}
	for i, one := range in.Status.LoadBalancer.Ingress {
		path := statusPath.Child("loadBalancer", "ingress").Index(i)
		if one.IP != "" {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(path.Child("ip"), one.IP, true, known)...)
		}
		if one.Hostname != "" {
			errs = append(errs, named(one.Hostname, path.Child("hostname"),
				plain(utilvalidation.IsDNS1123Subdomain))...)
			errs = append(errs, noAddress(one.Hostname, path.Child("hostname"))...)
		}
	}
	return errs
}

func noAddress(host string, path *field.Path) field.ErrorList {
	if _, err := netip.ParseAddr(host); err != nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, host, "must be a DNS name, not an IP address")}
}

func validateHost(host string, path *field.Path) field.ErrorList {
	if strings.Contains(host, "*") {
		return named(host, path, plain(utilvalidation.IsWildcardDNS1123Subdomain))
	}
	return named(host, path, plain(utilvalidation.IsDNS1123Subdomain))
}

func validateIngressRule(r *networkingv1.IngressRule, path *field.Path) (errs field.ErrorList) {
	if r.Host != "" {
		errs = noAddress(r.Host, path.Child("host"))
		errs = append(errs, validateHost(r.Host, path.Child("host"))...)
	}
	if r.HTTP == nil {
		return errs
	}
	paths := path.Child("http", "paths")
	if len(r.HTTP.Paths) == 0 {
		errs = append(errs, field.Required(paths, ""))
	}
	for i := range r.HTTP.Paths {
		errs = append(errs, validateIngressPath(&r.HTTP.Paths[i], paths.Index(i))...)
	}
	return errs
}

func validateIngressPath(p *networkingv1.HTTPIngressPath, path *field.Path) (errs field.ErrorList) {
	if p.PathType == nil {
		return field.ErrorList{field.Required(path.Child("pathType"), "pathType must be specified")}
	}
	at := path.Child("path")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
		for _, part := range [...]string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, part) {
				errs = append(errs, field.Invalid(at, p.Path, "must not contain '"+part+"'"))
			}
		}
		for _, end := range [...]string{"/..", "/."} {
			if strings.HasSuffix(p.Path, end) {
				errs = append(errs, field.Invalid(at, p.Path, "cannot end with '"+end+"'"))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("pathType"), *p.PathType,
			[]networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific,
				networkingv1.PathTypePrefix}))
	}
	return append(errs, validateBackend(&p.Backend, path.Child("backend"))...)
}

func validateBackend(b *networkingv1.IngressBackend, path *field.Path) (errs field.ErrorList) {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(path, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return validateLocalRef(b.Resource.APIGroup, b.Resource.Kind, b.Resource.Name, path.Child("resource"))
	case b.Service == nil:
		return field.ErrorList{field.Invalid(path, "", "resource or service backend is required")}
	}
	errs = mustName(b.Service.Name, path.Child("service", "name"), apivalidation.NameIsDNSLabel)
	port := b.Service.Port
	switch {
	case port.Name != "" && port.Number != 0:
		errs = append(errs, field.Invalid(path, "", "cannot set both port name & port number"))
	case port.Name != "":
		errs = append(errs, named(port.Name, path.Child("service", "port", "name"),
			plain(utilvalidation.IsValidPortName))...)
	case port.Number != 0:
		for _, msg := range utilvalidation.IsValidPortNum(int(port.Number)) {
			errs = append(errs, field.Invalid(path.Child("service", "port", "number"), port.Number, msg))
		}
	default:
		errs = append(errs, field.Required(path, "port name or number is required"))
	}
	return slices.Clip(errs)
}
