package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// LimitRange checks the limits of each type, in the order of names where the real server
// ranges over maps.
func LimitRange(l *corev1.LimitRange) (errs field.ErrorList) {
	seen := map[corev1.LimitType]bool{}
	for i := range l.Spec.Limits {
		item, path := &l.Spec.Limits[i], specPath.Child("limits").Index(i)
		errs = append(errs, validateLimitType(item.Type, path.Child("type"))...)
		if seen[item.Type] {
			errs = append(errs, field.Duplicate(path.Child("type"), item.Type))
		}
		seen[item.Type] = true
		errs = append(errs, validateLimitItem(item, path)...)
	}
	return errs
}

func validateLimitType(t corev1.LimitType, path *field.Path) field.ErrorList {
	errs := qualified(string(t), path)
	for _, e := range errs {
		e.BadValue = t
	}
	if len(errs) == 0 && !strings.Contains(string(t), "/") && t != corev1.LimitTypePod &&
		t != corev1.LimitTypeContainer && t != corev1.LimitTypePersistentVolumeClaim {
		errs = append(errs, field.Invalid(path, t, "must be a standard limit type or fully qualified"))
	}
	return errs
}

func validateLimitItem(item *corev1.LimitRangeItem, path *field.Path) (errs field.ErrorList) {
	rule := standardResource
	if item.Type == corev1.LimitTypePod || item.Type == corev1.LimitTypeContainer {
		rule = containerResource
	}
	names := map[corev1.ResourceName]bool{}
	check := func(list corev1.ResourceList, name string) {
		for _, r := range slices.Sorted(maps.Keys(list)) {
			errs = append(errs, rule(r, path.Child(name).Key(string(r)))...)
			names[r] = true
		}
	}
	check(item.Max, "max")
	check(item.Min, "min")
	compared := *item
	if item.Type == corev1.LimitTypePod {
		const not = "may not be specified when `type` is 'Pod'"
		if len(item.Default) > 0 {
			errs = append(errs, field.Forbidden(path.Child("default"), not))
		}
		if len(item.DefaultRequest) > 0 {
			errs = append(errs, field.Forbidden(path.Child("defaultRequest"), not))
		}
		compared.Default, compared.DefaultRequest = nil, nil
	} else {
		check(item.Default, "default")
		check(item.DefaultRequest, "defaultRequest")
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim {
		_, least := item.Min[corev1.ResourceStorage]
		if _, most := item.Max[corev1.ResourceStorage]; !least && !most {
			errs = append(errs, field.Required(path.Child("limits"),
				"either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	check(item.MaxLimitRequestRatio, "maxLimitRequestRatio")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		errs = append(errs, compareLimits(&compared, name, path)...)
	}
	return errs
}

// compareLimits holds the limits of one resource against each other.
func compareLimits(item *corev1.LimitRangeItem, name corev1.ResourceName, path *field.Path) (errs field.ErrorList) {
	least, hasLeast := item.Min[name]
	most, hasMost := item.Max[name]
	own, hasOwn := item.Default[name]
	request, hasRequest := item.DefaultRequest[name]
	above := func(both bool, low, high resource.Quantity, at string, shown resource.Quantity, lower, higher string) {
		if both && low.Cmp(high) > 0 {
			errs = append(errs, field.Invalid(path.Child(at).Key(string(name)), shown,
				fmt.Sprintf("%s value %s is greater than %s value %s", lower, low.String(), higher, high.String())))
		}
	}
	above(hasLeast && hasMost, least, most, "min", least, "min", "max")
	above(hasRequest && hasLeast, least, request, "defaultRequest", request, "min", "default request")
	above(hasRequest && hasMost, request, most, "defaultRequest", request, "default request", "max")
	above(hasRequest && hasOwn, request, own, "defaultRequest", request, "default request", "default limit")
	above(hasOwn && hasLeast, least, own, "default", least, "min", "default")
	above(hasOwn && hasMost, own, most, "default", most, "default", "max")
	if ratio, ok := item.MaxLimitRequestRatio[name]; ok {
		at := path.Child("maxLimitRequestRatio").Key(string(name))
		if ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
			errs = append(errs, field.Invalid(at, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
		}
		if hasLeast && hasMost {
			if r, limit := ratios(ratio, least, most); r > limit {
				errs = append(errs, field.Invalid(at, ratio,
					fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), limit)))
			}
		}
	}
	if (!nativeResource(name) || hugePages(name)) && hasOwn && hasRequest && own.Cmp(request) != 0 {
		errs = append(errs, field.Invalid(path.Child("defaultRequest").Key(string(name)), request,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", own.String(), request.String(),
				name)))
	}
	return errs
}

func ratios(ratio, least, most resource.Quantity) (r, limit float64) {
	if ratio.Value() < resource.MaxMilliValue && least.Value() < resource.MaxMilliValue &&
		most.Value() < resource.MaxMilliValue {
		return float64(ratio.MilliValue()) / 1000, float64(most.MilliValue()) / float64(least.MilliValue())
	}
	return float64(ratio.Value()), float64(most.Value()) / float64(least.Value())
}
