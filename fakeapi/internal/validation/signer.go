package validation

import (
	"fmt"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateSigner checks the name of a signer: a domain, and a path below it.
func validateSigner(name string, path *field.Path) (errs field.ErrorList) {
	const domainMost = utilvalidation.DNS1123SubdomainMaxLength
	const most = domainMost + 1 + domainMost + utilvalidation.DNS1123LabelMaxLength + 1
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	domain, below, _ := strings.Cut(name, "/")
	if strings.Count(name, "/") != 1 {
		return field.ErrorList{field.Invalid(path, name,
			"must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	if len(domain) > domainMost {
		errs = append(errs, field.TooLong(path, "", domainMost))
	}
	errs = append(errs, eachLabel(domain, path, utilvalidation.IsDNS1123Label)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(path, domain,
			"should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, eachLabel(below, path, utilvalidation.IsDNS1123Subdomain)...)
	if len(name) > most {
		errs = append(errs, field.TooLong(path, "", most))
	}
	return errs
}

// eachLabel checks the labels of a segment up to the first that is wrong.
func eachLabel(segment string, path *field.Path, check func(string) []string) (errs field.ErrorList) {
	for label := range strings.SplitSeq(segment, ".") {
		for _, msg := range check(label) {
			errs = append(errs, field.Invalid(path, segment, fmt.Sprintf("validating label %q: %s", label, msg)))
		}
		if len(errs) > 0 {
			return errs
		}
	}
	return nil
}
