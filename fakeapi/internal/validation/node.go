package validation

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Node checks taints, what there is of resources, and the ranges of addresses.
func Node(n *corev1.Node) field.ErrorList {
	errs := validateTaints(n.Spec.Taints)
	errs = append(errs, validateNodeStatus(&n.Status)...)
	path := specPath.Child("podCIDRs")
	for i, text := range n.Spec.PodCIDRs {
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(path.Index(i), text, true, nil)...)
	}
	unread := func(i int, text string) error {
		return fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[%d]: <nil> "+
			"(invalid CIDR address: %s)", i, text)
	}
	return append(errs, oneOfEach(n.Spec.PodCIDRs, func(text string) (netip.Addr, error) {
		p, err := netip.ParsePrefix(text)
		return p.Addr(), err
	}, unread, n.Spec.PodCIDRs, "may specify no more than one CIDR for each IP family", path)...)
}

// oneOfEach: of several there is one of each family, and no more.
func oneOfEach(list []string, read func(string) (netip.Addr, error), unread func(i int, text string) error, shown any,
	msg string, path *field.Path) (errs field.ErrorList) {
	if len(list) < 2 {
		return nil
	}
	families := map[bool]int{}
	for i, text := range list {
		a, err := read(text)
		if err != nil {
			return field.ErrorList{field.InternalError(path, unread(i, text)), field.Invalid(path, shown, msg)}
		}
		families[a.Is4()]++
	}
	if len(list) > 2 || families[true] != 1 || families[false] != 1 {
		errs = append(errs, field.Invalid(path, shown, msg))
	}
	return errs
}

// validateTaints says of taints that they are metadata, as the real server does.
func validateTaints(taints []corev1.Taint) (errs field.ErrorList) {
	for i := range taints {
		t, at := &taints[i], metadata.Path.Child("taints").Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
		if msgs := utilvalidation.IsValidLabelValue(t.Value); len(msgs) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(msgs, ";")))
		}
		errs = append(errs, amongSome(t.Effect, at.Child("effect"), taintEffects...)...)
		if slices.ContainsFunc(taints[:i],
			func(o corev1.Taint) bool { return o.Effect == t.Effect && o.Key == t.Key }) {
			twice := field.Duplicate(at, asShown(t))
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
	}
	return errs
}

var featureName = regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

// validateNodeStatus checks the parts of a status that every write of a Node is asked about.
func validateNodeStatus(s *corev1.NodeStatus) (errs field.ErrorList) {
	for _, list := range [...]struct {
		name string
		all  corev1.ResourceList
	}{{"capacity", s.Capacity}, {"allocatable", s.Allocatable}} {
		for _, name := range slices.Sorted(maps.Keys(list.all)) {
			errs = append(errs, resourceAmount(name, list.all[name], statusPath.Child(list.name, string(name)))...)
		}
	}
	path := statusPath.Child("declaredFeatures")
	for i, name := range s.DeclaredFeatures {
		if len(name) > utilvalidation.DNS1123SubdomainMaxLength {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf("invalid feature name %q: "+
				"must be no more than %d characters", name, utilvalidation.DNS1123SubdomainMaxLength)))
		} else if !featureName.MatchString(name) {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf("invalid feature name %q: must start "+
				"with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "+
				"MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name)))
		}
		if i+1 == len(s.DeclaredFeatures) {
			break
		}
		if next := s.DeclaredFeatures[i+1]; name == next {
			errs = append(errs, field.Duplicate(path.Index(i+1), next))
		} else if name > next {
			errs = append(errs, field.Invalid(path.Index(i+1), next, "list must be sorted alphabetically"))
		}
	}
	return errs
}

// NodeUpdate checks a change, after the whole: where a Node is does not change.
func NodeUpdate(n, old *corev1.Node) field.ErrorList {
	errs := validateNodeStatus(&n.Status)
	for i, a := range n.Status.Addresses {
		if slices.Contains(n.Status.Addresses[:i], a) {
			errs = append(errs, field.Duplicate(statusPath.Child("addresses").Index(i), asShown(&a)))
		}
	}
	const from = "except from \"\" to valid"
	if was := old.Spec.PodCIDRs; len(was) > 0 {
		changed := 0
		if len(was) != len(n.Spec.PodCIDRs) {
			changed = 1
		} else {
			for i := range was {
				if was[i] != n.Spec.PodCIDRs[i] {
					changed++
				}
			}
		}
		for range changed {
			errs = append(errs, field.Forbidden(specPath.Child("podCIDRs"),
				"node updates may not change podCIDR "+from))
		}
	}
	if was := old.Spec.ProviderID; was != "" && was != n.Spec.ProviderID {
		errs = append(errs, field.Forbidden(specPath.Child("providerID"),
			"node updates may not change providerID "+from))
	}
	errs = append(errs, validateTaints(n.Spec.Taints)...)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(specPath.Child("externalID"), "may not be updated"))
	}
	return errs
}
