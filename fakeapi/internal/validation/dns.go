package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateDNS checks whom a Pod asks for addresses.
func validateDNS(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	c := s.DNSConfig
	if s.DNSPolicy == corev1.DNSNone {
		if c == nil {
			return field.ErrorList{field.Required(path, "must provide `dnsConfig` when `dnsPolicy` is None")}
		}
		if len(c.Nameservers) == 0 {
			return field.ErrorList{field.Required(path.Child("nameservers"),
				"must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if len(c.Nameservers) > 3 {
		errs = append(errs, field.Invalid(path.Child("nameservers"), c.Nameservers,
			"must not have more than 3 nameservers"))
	}
	for i, server := range c.Nameservers {
		errs = append(errs, anyIP(server, path.Child("nameservers").Index(i))...)
	}
	at := path.Child("searches")
	if len(c.Searches) > 32 {
		errs = append(errs, field.Invalid(at, c.Searches, "must not have more than 32 search paths"))
	}
	if len(strings.Join(c.Searches, " ")) > 2048 {
		errs = append(errs, field.Invalid(at, c.Searches,
			"must not have more than 2048 characters (including spaces) in the search list"))
	}
	for i, search := range c.Searches {
		if search != "." {
			errs = append(errs, named(strings.TrimSuffix(search, "."), at.Index(i),
				plain(utilvalidation.IsDNS1123SubdomainWithUnderscore))...)
		}
	}
	for i := range c.Options {
		if c.Options[i].Name == "" {
			errs = append(errs, field.Required(path.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

func validateHostnameOverride(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if s.SetHostnameAsFQDN != nil && *s.SetHostnameAsFQDN {
		errs = append(errs, field.Forbidden(path, "may not be specified when setHostnameAsFQDN is true"))
	}
	if s.HostNetwork {
		errs = append(errs, field.Forbidden(path, "may not be specified when hostNetwork is true"))
	}
	if len(*s.HostnameOverride) > 64 {
		errs = append(errs, field.TooLong(path, "", 64))
	}
	return append(errs, named(*s.HostnameOverride, path, apivalidation.NameIsDNSSubdomain)...)
}

// anyIP checks an address of either family.
func anyIP(text string, path *field.Path) field.ErrorList {
	return utilvalidation.IsValidIPForLegacyField(path, text, true, nil)
}
