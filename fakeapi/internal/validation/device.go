package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DeviceClass checks which devices a class stands for, but for whether its expressions compile.
func DeviceClass(c *resourcev1.DeviceClass) field.ErrorList { return DeviceClassUpdate(c, nil) }

// DeviceClassUpdate is DeviceClass for one that was stored, nil for none: what stands in it
// already may be longer than what is new.
func DeviceClassUpdate(c, old *resourcev1.DeviceClass) field.ErrorList {
	errs := deviceSelectors(c.Spec.Selectors, specPath.Child("selectors"))
	stored := old != nil && equality.Semantic.DeepEqual(c.Spec.Config, old.Spec.Config)
	errs = append(errs, upTo(c.Spec.Config, resourcev1.DeviceConfigMaxSize, specPath.Child("config"),
		func(d *resourcev1.DeviceClassConfiguration, path *field.Path) field.ErrorList {
			return deviceConfiguration(&d.DeviceConfiguration, path, stored)
		})...)
	if name := c.Spec.ExtendedResourceName; name != nil && !extended(corev1.ResourceName(*name)) {
		errs = append(errs, field.Invalid(specPath.Child("extendedResourceName"), *name,
			"must be a valid extended resource name"))
	}
	return errs
}

// upTo checks each of a list that may have so many at most.
func upTo[T any](list []T, most int, path *field.Path,
	check func(*T, *field.Path) field.ErrorList) (errs field.ErrorList) {
	if len(list) > most {
		return field.ErrorList{field.TooMany(path, len(list), most)}
	}
	for i := range list {
		errs = append(errs, check(&list[i], path.Index(i))...)
	}
	return errs
}

// setOf is upTo for a list in which no two have the same key.
func setOf[T any, K comparable](list []T, most int, path *field.Path, key func(*T) K,
	check func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if len(list) > most {
		return field.ErrorList{field.TooMany(path, len(list), most)}
	}
	errs := upTo(list, most, path, check)
	seen := map[K]bool{}
	for i := range list {
		k := key(&list[i])
		if seen[k] {
			errs = append(errs, field.Duplicate(path.Index(i), k))
		}
		seen[k] = true
	}
	return errs
}

func itself(s *string) string { return *s }

func deviceSelectors(list []resourcev1.DeviceSelector, path *field.Path) field.ErrorList {
	return upTo(list, resourcev1.DeviceSelectorsMaxSize, path,
		func(s *resourcev1.DeviceSelector, at *field.Path) field.ErrorList {
			switch at = at.Child("cel"); {
			case s.CEL == nil:
				return field.ErrorList{field.Required(at, "")}
			case len(s.CEL.Expression) > resourcev1.CELSelectorExpressionMaxLength:
				return field.ErrorList{field.TooLong(at.Child("expression"), "",
					resourcev1.CELSelectorExpressionMaxLength)}
			}
			return nil
		})
}

// deviceConfiguration checks what a driver is told. stored: it was there before, and may be long.
func deviceConfiguration(c *resourcev1.DeviceConfiguration, path *field.Path, stored bool) field.ErrorList {
	path = path.Child("opaque")
	if c.Opaque == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	errs := driverName(c.Opaque.Driver, path.Child("driver"))
	most := resourcev1.OpaqueParametersMaxLength
	if stored {
		most = len(c.Opaque.Parameters.Raw)
	}
	return append(errs, rawObject(c.Opaque.Parameters, path.Child("parameters"), most)...)
}

// rawObject checks JSON that has to be an object.
func rawObject(raw runtime.RawExtension, path *field.Path, most int) field.ErrorList {
	const omitted = "<value omitted>"
	var v any
	if len(raw.Raw) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(raw.Raw) > most {
		return field.ErrorList{field.TooLong(path, "", most)}
	}
	if err := json.Unmarshal(raw.Raw, &v); err != nil {
		return field.ErrorList{field.Invalid(path, omitted, fmt.Sprintf("error parsing data as JSON: %v", err))}
	}
	if v == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	if _, ok := v.(map[string]any); !ok {
		return field.ErrorList{field.Invalid(path, omitted, "must be a valid JSON object")}
	}
	return nil
}

// poolName checks the name of a pool of devices.
func poolName(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(name) > resourcev1.PoolNameMaxLength {
		errs = append(errs, field.TooLong(path, "", resourcev1.PoolNameMaxLength))
	}
	for _, part := range strings.Split(name, "/") {
		errs = append(errs, named(part, path, plain(utilvalidation.IsDNS1123Subdomain))...)
	}
	return errs
}

// deviceKey checks the name of an attribute or a capacity, which may have a domain in front.
func deviceKey(name string, path *field.Path) (errs field.ErrorList) {
	domain, id, both := strings.Cut(name, "/")
	switch {
	case !both:
		return deviceID(name, path)
	case strings.Contains(id, "/"): // nor does the real server look at these
		return nil
	case domain == "":
		errs = append(errs, field.Invalid(path, "", "the domain must not be empty"))
	default:
		errs = append(errs, driverName(domain, path)...)
	}
	if id == "" {
		return append(errs, field.Invalid(path, "", "the name must not be empty"))
	}
	return append(errs, deviceID(id, path)...)
}

func deviceID(id string, path *field.Path) (errs field.ErrorList) {
	if len(id) > resourcev1.DeviceMaxIDLength {
		errs = append(errs, field.TooLong(path, "", resourcev1.DeviceMaxIDLength))
	}
	return append(errs, named(id, path, plain(content.IsCIdentifier))...)
}

// fullDeviceKey is deviceKey for one that must have a domain.
func fullDeviceKey(name resourcev1.FullyQualifiedName, path *field.Path) field.ErrorList {
	errs := deviceKey(string(name), path)
	if !strings.Contains(string(name), "/") {
		errs = append(errs, field.Invalid(path, name,
			"a fully qualified name must be a domain and a name separated by a slash"))
	}
	return errs
}

// bindingConditions checks the conditions that are waited for before a Pod is bound.
func bindingConditions(good, bad []string, path *field.Path) field.ErrorList {
	at, failures := path.Child("bindingConditions"), path.Child("bindingFailureConditions")
	name := func(s *string, path *field.Path) field.ErrorList { return qualified(*s, path) }
	errs := upTo(good, resourcev1.BindingConditionsMaxSize, at, name)
	errs = append(errs, upTo(bad, resourcev1.BindingFailureConditionsMaxSize, failures, name)...)
	for i, c := range good {
		if slices.Contains(good[:i], c) {
			errs = append(errs, field.Duplicate(at.Index(i), c))
		}
	}
	for i, c := range bad {
		if slices.Contains(bad[:i], c) {
			errs = append(errs, field.Duplicate(failures.Index(i), c))
		}
		if slices.Contains(good, c) {
			errs = append(errs, field.Invalid(failures.Index(i), c,
				"bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	switch {
	case len(good) == 0 && len(bad) > 0:
		errs = append(errs, field.Invalid(at, good, "bindingConditions are required to use bindingFailureConditions"))
	case len(good) > 0 && len(bad) == 0:
		errs = append(errs, field.Invalid(failures, bad,
			"bindingFailureConditions are required to use bindingConditions"))
	}
	return errs
}
