package validation

import (
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// IPAddressName is the rule for names of addresses: they are addresses.
func IPAddressName(name string, _ bool) (msgs []string) {
	for _, err := range utilvalidation.IsValidIP(&field.Path{}, name) {
		msgs = append(msgs, err.Detail)
	}
	return msgs
}

// IPAddress checks whose an address is.
func IPAddress(a *networkingv1.IPAddress) (errs field.ErrorList) {
	path, p := specPath.Child("parentRef"), a.Spec.ParentRef
	if p == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	if p.Group != "" {
		errs = named(p.Group, path.Child("group"), plain(utilvalidation.IsDNS1123Subdomain))
	}
	errs = append(errs, mustName(p.Resource, path.Child("resource"), metadata.PathSegment)...)
	errs = append(errs, mustName(p.Name, path.Child("name"), metadata.PathSegment)...)
	if p.Namespace != "" {
		errs = append(errs, named(p.Namespace, path.Child("namespace"), metadata.PathSegment)...)
	}
	return errs
}

// IPAddressUpdate checks that it stays whose it was.
func IPAddressUpdate(a, old *networkingv1.IPAddress) (errs field.ErrorList) {
	for _, err := range apivalidation.ValidateImmutableField(a.Spec.ParentRef, old.Spec.ParentRef,
		specPath.Child("parentRef")) {
		if a.Spec.ParentRef != nil {
			err.BadValue = asShown(a.Spec.ParentRef)
		}
		errs = append(errs, err)
	}
	return errs
}

// ServiceCIDR checks the blocks of addresses: one, or one of each family.
func ServiceCIDR(c *networkingv1.ServiceCIDR) (errs field.ErrorList) {
	path, blocks := specPath.Child("cidrs"), c.Spec.CIDRs
	switch {
	case len(blocks) == 0:
		return field.ErrorList{field.Required(path, "at least one CIDR required")}
	case len(blocks) > 2:
		return field.ErrorList{field.Invalid(path, asShown(&c.Spec), "may only hold up to 2 values")}
	}
	for i, text := range blocks {
		errs = append(errs, utilvalidation.IsValidCIDR(path.Index(i), text)...)
	}
	if len(blocks) == 2 && familyOf(blocks[0]) != 0 && familyOf(blocks[0]) == familyOf(blocks[1]) {
		errs = append(errs, field.Invalid(path, blocks,
			"may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
	}
	return errs
}

// familyOf is 4 or 6, and 0 for what is no block.
func familyOf(block string) int {
	p, err := netip.ParsePrefix(block)
	switch {
	case err != nil:
		return 0
	case p.Addr().Is4():
		return 4
	}
	return 6
}

// ServiceCIDRUpdate checks that blocks stay; one may get a second of the other family.
func ServiceCIDRUpdate(c, old *networkingv1.ServiceCIDR) (errs field.ErrorList) {
	path, now, was := specPath.Child("cidrs"), c.Spec.CIDRs, old.Spec.CIDRs
	kept := func(i int) {
		if now[i] != was[i] {
			errs = append(errs, field.Invalid(path.Index(i), now[i], apivalidation.FieldImmutableErrorMsg))
		}
	}
	switch {
	case len(now) == len(was):
		for i := range was {
			kept(i)
		}
	case len(was) == 1 && len(now) == 2:
		kept(0)
		errs = append(errs, ServiceCIDR(c)...)
	default:
		errs = append(errs, field.Invalid(path, now, apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}
