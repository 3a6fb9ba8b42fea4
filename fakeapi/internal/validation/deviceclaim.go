package validation

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ResourceClaim checks which devices are claimed, but for whether its expressions compile and
// whether its namespace may ask for access as an administrator.
func ResourceClaim(c *resourcev1.ResourceClaim) field.ErrorList {
	return deviceClaim(&c.Spec.Devices, specPath.Child("devices"))
}

// ResourceClaimUpdate lets nothing of it be changed.
func ResourceClaimUpdate(c, old *resourcev1.ResourceClaim) field.ErrorList {
	return unchanged(&c.Spec, &old.Spec, specPath)
}

// ResourceClaimTemplate checks what claims are made of.
func ResourceClaimTemplate(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
	return append(templateMeta(&t.Spec.ObjectMeta, specPath.Child("metadata")),
		deviceClaim(&t.Spec.Spec.Devices, specPath.Child("spec", "devices"))...)
}

// ResourceClaimTemplateUpdate lets nothing of it be changed. Its metadata is checked in between.
func ResourceClaimTemplateUpdate(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
	return unchanged(&t.Spec, &old.Spec, specPath)
}

// unchanged checks that a part stays as it is.
func unchanged[T any](now, was *T, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, asShown(now), apivalidation.FieldImmutableErrorMsg)}
}

func deviceClaim(c *resourcev1.DeviceClaim, path *field.Path) field.ErrorList {
	names := requestNames(c)
	errs := setOf(c.Requests, resourcev1.DeviceRequestsMaxSize, path.Child("requests"),
		func(r *resourcev1.DeviceRequest) string { return r.Name }, deviceRequest)
	errs = append(errs, upTo(c.Constraints, resourcev1.DeviceConstraintsMaxSize, path.Child("constraints"),
		func(c *resourcev1.DeviceConstraint, at *field.Path) field.ErrorList {
			return deviceConstraint(c, at, names)
		})...)
	return append(errs, upTo(c.Config, resourcev1.DeviceConfigMaxSize, path.Child("config"),
		func(c *resourcev1.DeviceClaimConfiguration, at *field.Path) field.ErrorList {
			return append(requestRefs(c.Requests, at, names), deviceConfiguration(&c.DeviceConfiguration, at, false)...)
		})...)
}

// requests are the names of requests, and of the alternatives of each.
type requests map[string]map[string]bool

func requestNames(c *resourcev1.DeviceClaim) requests {
	all := requests{}
	for i := range c.Requests {
		of := map[string]bool{}
		for j := range c.Requests[i].FirstAvailable {
			of[c.Requests[i].FirstAvailable[j].Name] = true
		}
		all[c.Requests[i].Name] = of
	}
	return all
}

func (r requests) has(name string) bool {
	request, sub, both := strings.Cut(name, "/")
	of, ok := r[request]
	return ok && (!both || of[sub])
}

// requestRefs checks the names of requests that something is about.
func requestRefs(list []string, path *field.Path, names requests) field.ErrorList {
	return setOf(list, resourcev1.DeviceRequestsMaxSize, path.Child("requests"), itself,
		func(name *string, at *field.Path) field.ErrorList { return requestRef(*name, at, names) })
}

func requestRef(name string, path *field.Path, names requests) (errs field.ErrorList) {
	const what = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return field.ErrorList{field.Invalid(path, name, what)}
	}
	for _, part := range parts {
		errs = append(errs, label(part, path)...)
	}
	if !names.has(name) {
		errs = append(errs, field.Invalid(path, name, what))
	}
	return errs
}

func deviceRequest(r *resourcev1.DeviceRequest, path *field.Path) field.ErrorList {
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	errs := label(r.Name, path.Child("name"))
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		return append(errs, field.Required(path, one))
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		return append(errs, field.Invalid(path, nil, one+", but multiple fields are set"))
	case r.Exactly != nil:
		e, at := r.Exactly, path.Child("exactly")
		return append(errs, requestOf(e.DeviceClassName, e.Selectors, e.AllocationMode, e.Count, e.Tolerations, at)...)
	}
	return append(errs, setOf(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize,
		path.Child("firstAvailable"), func(s *resourcev1.DeviceSubRequest) string { return s.Name },
		func(s *resourcev1.DeviceSubRequest, at *field.Path) field.ErrorList {
			return append(label(s.Name, at.Child("name")),
				requestOf(s.DeviceClassName, s.Selectors, s.AllocationMode, s.Count, s.Tolerations, at)...)
		})...)
}

// requestOf checks what a request and an alternative have in common.
func requestOf(class string, selectors []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int64,
	tolerations []resourcev1.DeviceToleration, path *field.Path) field.ErrorList {
	errs := mustName(class, path.Child("deviceClassName"), plain(utilvalidation.IsDNS1123Subdomain))
	errs = append(errs, deviceSelectors(selectors, path.Child("selectors"))...)
	number := path.Child("count")
	const all, exact = resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount
	switch {
	case mode == all && count != 0:
		errs = append(errs, field.Invalid(number, count,
			fmt.Sprintf("must not be specified when allocationMode is '%s'", mode)))
	case mode == exact && count <= 0:
		errs = append(errs, field.Invalid(number, count, "must be greater than zero"))
	}
	errs = append(errs, among(&mode, path.Child("allocationMode"), all, exact)...)
	for i := range tolerations {
		errs = append(errs, deviceToleration(&tolerations[i], path.Child("tolerations").Index(i))...)
	}
	return errs
}

func deviceConstraint(c *resourcev1.DeviceConstraint, path *field.Path, names requests) field.ErrorList {
	errs := requestRefs(c.Requests, path, names)
	switch {
	case c.MatchAttribute != nil:
		return append(errs, fullDeviceKey(*c.MatchAttribute, path.Child("matchAttribute"))...)
	case c.DistinctAttribute != nil:
		return append(errs, fullDeviceKey(*c.DistinctAttribute, path.Child("distinctAttribute"))...)
	}
	return append(errs, field.Required(path,
		`exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
}

// deviceEffects are in the order in which messages list them.
var deviceEffects = []resourcev1.DeviceTaintEffect{resourcev1.DeviceTaintEffectNoExecute,
	resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone}

func deviceToleration(t *resourcev1.DeviceToleration, path *field.Path) (errs field.ErrorList) {
	if t.Key != "" {
		errs = append(errs, qualified(t.Key, path.Child("key"))...)
	}
	value := path.Child("value")
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(value, t.Value, "must be empty for operator `Exists`"))
		}
	case resourcev1.DeviceTolerationOpEqual:
		errs = append(errs, named(t.Value, value, plain(utilvalidation.IsValidLabelValue))...)
	default:
		errs = append(errs, amongSome(t.Operator, path.Child("operator"), resourcev1.DeviceTolerationOpEqual,
			resourcev1.DeviceTolerationOpExists)...)
	}
	if t.Effect != "" {
		errs = append(errs, among(&t.Effect, path.Child("effect"), deviceEffects...)...)
	}
	return errs
}
