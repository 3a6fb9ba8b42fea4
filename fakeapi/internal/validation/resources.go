package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resourceRule checks the name of a resource.
type resourceRule func(name corev1.ResourceName, path *field.Path) field.ErrorList

// validateRequirements checks what is asked for and what is allowed, in the order of
// names: nobody may ask for more than his limit. The real server ranges over maps.
func validateRequirements(r *corev1.ResourceRequirements, rule resourceRule, claims []corev1.PodResourceClaim,
	path *field.Path) (errs field.ErrorList) {
	if soundRequirements(r) {
		return nil
	}
	huge, plain := false, false
	see := func(name corev1.ResourceName) {
		huge = huge || hugePages(name)
		plain = plain || name == corev1.ResourceCPU || name == corev1.ResourceMemory
	}
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		at := path.Child("limits").Key(string(name))
		errs = append(append(errs, rule(name, at)...), resourceAmount(name, r.Limits[name], at)...)
		errs = append(errs, wholePages(name, r.Limits[name], at)...)
		see(name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		at, q := path.Child("requests").Key(string(name)), r.Requests[name]
		errs = append(append(errs, rule(name, at)...), resourceAmount(name, q, at)...)
		limit, limited := r.Limits[name]
		exact := !nativeResource(name) || hugePages(name)
		switch {
		case !limited && exact:
			errs = append(errs, field.Required(path.Child("limits"),
				"Limit must be set for non overcommitable resources"))
		case limited && exact && q.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(path.Child("requests"), q.String(),
				fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && q.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(path.Child("requests"), q.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
		errs = append(errs, wholePages(name, q, at)...)
		see(name)
	}
	if huge && !plain {
		errs = append(errs, field.Forbidden(path, "HugePages require cpu or memory"))
	}
	return append(errs, validateClaimNames(r.Claims, claims, path.Child("claims"))...)
}

// soundRequirements knows those that nobody finds fault with, as most are: of processors and
// memory, and no more than the limits.
func soundRequirements(r *corev1.ResourceRequirements) bool {
	for _, list := range [...]corev1.ResourceList{r.Limits, r.Requests} {
		for name, q := range list { //detcheck:ordered all have to be sound
			limit, limited := r.Limits[name]
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory || q.Sign() < 0 ||
				limited && q.Cmp(limit) > 0 {
				return false
			}
		}
	}
	return len(r.Claims) == 0
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// wholePages: of huge pages there is a whole number.
func wholePages(name corev1.ResourceName, q resource.Quantity, path *field.Path) field.ErrorList {
	if !hugePages(name) {
		return nil
	}
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err == nil && size.Sign() > 0 && size.MilliValue()%1000 == 0 && q.Value()%size.Value() == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(),
		fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))}
}

// resourceAmount checks how much there is of a resource: of some there are whole numbers.
func resourceAmount(name corev1.ResourceName, q resource.Quantity, path *field.Path) field.ErrorList {
	errs := notNegative(q, path)
	if (oneOf(name, counted) || extended(name)) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(path, q, "must be an integer"))
	}
	return errs
}

// extended says whether a resource is one that somebody else than Kubernetes defines.
func extended(name corev1.ResourceName) bool {
	return !nativeResource(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(utilvalidation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// standardResource checks a name that has a domain or is one of those that there are.
func standardResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	errs := qualified(string(name), path)
	for _, e := range errs {
		e.BadValue = name
	}
	if len(errs) == 0 && !strings.Contains(string(name), "/") && !quotable(name) && name != corev1.ResourceStorage {
		errs = append(errs, field.Invalid(path, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

func containerResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	errs := standardResource(name, path)
	if strings.Contains(string(name), "/") {
		if !nativeResource(name) && !extended(name) {
			errs = append(errs, field.Invalid(path, name, "doesn't follow extended resource name standard"))
		}
	} else if name != corev1.ResourceCPU && name != corev1.ResourceMemory &&
		name != corev1.ResourceEphemeralStorage && !hugePages(name) {
		errs = append(errs, field.Invalid(path, name, "must be a standard resource for containers"))
	}
	return errs
}

func podResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	errs := standardResource(name, path)
	if len(errs) == 0 && name != corev1.ResourceCPU && name != corev1.ResourceMemory && !hugePages(name) {
		errs = append(errs, field.NotSupported(path, name, []corev1.ResourceName{corev1.ResourceCPU,
			corev1.ResourceHugePagesPrefix, corev1.ResourceMemory}))
	}
	return errs
}

// validateClaimNames checks which of the Pod's claims a container uses.
func validateClaimNames(list []corev1.ResourceClaim, claims []corev1.PodResourceClaim,
	path *field.Path) (errs field.ErrorList) {
	var known []string
	for i := range claims {
		if claims[i].Name != "" {
			known = append(known, claims[i].Name)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	names := map[string]bool{}
	for i, c := range list {
		at := path.Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		errs = append(errs, claimTwice(c, names, at)...)
		if !slices.Contains(known, c.Name) {
			missing := field.NotFound(at, c.Name)
			missing.Detail = "must be one of the names in pod.spec.resourceClaims which is empty"
			if len(known) > 0 {
				missing.Detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(known, ", ")
			}
			errs = append(errs, missing)
		}
	}
	return errs
}

// claimTwice: a claim is used once as a whole, or by its requests.
func claimTwice(c corev1.ResourceClaim, names map[string]bool, path *field.Path) (errs field.ErrorList) {
	if names[c.Name] {
		return field.ErrorList{field.Duplicate(path, c.Name)}
	}
	key := c.Name
	if c.Request != "" {
		errs = append(errs, label(c.Request, path.Child("request"))...)
		key += "/" + c.Request
	}
	if names[key] {
		errs = append(errs, field.Duplicate(path, key))
	}
	if c.Request == "" {
		for _, other := range slices.Sorted(maps.Keys(names)) {
			if strings.HasPrefix(other, c.Name+"/") {
				errs = append(errs, field.Duplicate(path, c.Name))
			}
		}
	}
	names[key] = true
	return errs
}

// validatePodClaims checks the claims of devices that a Pod has.
func validatePodClaims(claims []corev1.PodResourceClaim, path *field.Path) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range claims {
		c, at := &claims[i], path.Index(i)
		switch {
		case c.Name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case names[c.Name]:
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		default:
			errs = append(errs, label(c.Name, at.Child("name"))...)
			names[c.Name] = true
		}
		switch {
		case c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil:
			errs = append(errs, field.Invalid(at, asShown(c),
				"at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		case c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil:
			errs = append(errs, field.Invalid(at, asShown(c),
				"must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		if c.ResourceClaimName != nil {
			errs = append(errs, named(*c.ResourceClaimName, at.Child("resourceClaimName"),
				apivalidation.NameIsDNSSubdomain)...)
		}
		if c.ResourceClaimTemplateName != nil {
			errs = append(errs, named(*c.ResourceClaimTemplateName, at.Child("resourceClaimTemplateName"),
				apivalidation.NameIsDNSSubdomain)...)
		}
	}
	return errs
}
