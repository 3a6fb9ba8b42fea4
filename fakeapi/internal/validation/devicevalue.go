package validation

import (
	"fmt"
	"regexp"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// semanticVersion is the form that semver.org defines.
var semanticVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// deviceAttribute checks that an attribute has one value.
func deviceAttribute(a *resourcev1.DeviceAttribute, path *field.Path) (errs field.ErrorList) {
	const most = resourcev1.DeviceAttributeMaxValueLength
	values := 0
	for _, is := range []bool{a.BoolValue != nil, a.IntValue != nil, a.StringValue != nil, a.VersionValue != nil} {
		if is {
			values++
		}
	}
	if a.StringValue != nil {
		errs = append(errs, notLonger(*a.StringValue, most, path.Child("string"))...)
	}
	if v := a.VersionValue; v != nil {
		at := path.Child("version")
		if !semanticVersion.MatchString(*v) {
			errs = append(errs, field.Invalid(at, *v, "must be a string compatible with semver.org spec 2.0.0"))
		}
		errs = append(errs, notLonger(*v, most, at)...)
	}
	switch {
	case values == 0:
		errs = append(errs, field.Invalid(path, "", "exactly one value must be specified"))
	case values > 1:
		errs = append(errs, field.Invalid(path, asShown(a), "exactly one value must be specified"))
	}
	return errs
}

func deviceTaint(t *resourcev1.DeviceTaint, path *field.Path) field.ErrorList {
	errs := qualified(t.Key, path.Child("key"))
	errs = append(errs, named(t.Value, path.Child("value"), plain(utilvalidation.IsValidLabelValue))...)
	return append(errs, amongSome(t.Effect, path.Child("effect"), deviceEffects...)...)
}

// deviceCapacity checks how much of a capacity may be asked for. many: several may have a part of it.
func deviceCapacity(c *resourcev1.DeviceCapacity, many bool, path *field.Path) field.ErrorList {
	p := c.RequestPolicy
	switch {
	case p == nil:
		return nil
	case !many:
		return field.ErrorList{field.Forbidden(path, "allowMultipleAllocations must be true")}
	case len(p.ValidValues) > 0 && p.ValidRange != nil:
		return field.ErrorList{field.Forbidden(path, `exactly one policy can be specified, cannot specify `+
			`"validValues" and "validRange" at the same time`)}
	case len(p.ValidValues) > 0 && p.Default == nil:
		return field.ErrorList{field.Required(path.Child("default"), "required when validValues is defined")}
	case len(p.ValidValues) > 0:
		return capacityValues(*p.Default, c.Value, p.ValidValues, path.Child("validValues"))
	case p.ValidRange != nil && p.Default == nil:
		return field.ErrorList{field.Required(path.Child("default"), "required when validRange is defined")}
	case p.ValidRange != nil:
		return capacityRange(*p.Default, c.Value, p.ValidRange, path.Child("validRange"))
	}
	return nil
}

// mostOptions is how many values may be listed.
const mostOptions = 10

func capacityValues(plain, most resource.Quantity, of []resource.Quantity, path *field.Path) (errs field.ErrorList) {
	for i := 1; i < len(of); i++ {
		if of[i-1].Cmp(of[i]) > 0 {
			errs = append(errs, field.Invalid(path.Index(i), of[i].String(),
				"values must be sorted in ascending order"))
		}
	}
	found := false
	errs = append(errs, setOf(of, mostOptions, path,
		func(q *resource.Quantity) string { return strconv.FormatInt(q.Value(), 10) },
		func(q *resource.Quantity, at *field.Path) field.ErrorList {
			found = found || q.Cmp(plain) == 0
			if q.Cmp(most) <= 0 {
				return nil
			}
			return field.ErrorList{field.Invalid(at, q.String(),
				"option is larger than capacity value: "+most.String())}
		})...)
	if !found {
		errs = append(errs, field.Invalid(path, plain.String(),
			"default value is not valid according to the requestPolicy"))
	}
	return errs
}

func capacityRange(plain, most resource.Quantity, r *resourcev1.CapacityRequestPolicyRange,
	path *field.Path) (errs field.ErrorList) {
	low, high, by := path.Child("min"), path.Child("max"), path.Child("step")
	if r.Min == nil {
		return field.ErrorList{field.Required(low, "required when validRange is defined")}
	}
	refuse := func(is bool, at *field.Path, q *resource.Quantity, format string, than *resource.Quantity) {
		if is {
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf(format, than.String())))
		}
	}
	refuse(r.Min.Cmp(most) > 0, low, r.Min, "min is larger than capacity value: %s", &most)
	refuse(plain.Cmp(*r.Min) < 0, low, &plain, "default is less than min: %s", r.Min)
	if r.Max != nil {
		refuse(r.Min.Cmp(*r.Max) > 0, high, r.Min, "min is larger than max: %s", r.Max)
		refuse(r.Max.Cmp(most) > 0, high, r.Max, "max is larger than capacity value: %s", &most)
		refuse(plain.Cmp(*r.Max) > 0, high, &plain, "default is more than max: %s", r.Max)
	}
	if r.Step == nil {
		return errs
	}
	added := r.Min.DeepCopy()
	added.Add(*r.Step)
	if added.Cmp(most) > 0 {
		errs = append(errs, field.Invalid(by, r.Step.String(),
			fmt.Sprintf("one step %s is larger than capacity value: %s", added.String(), most.String())))
	}
	for _, q := range []*resource.Quantity{&plain, r.Max} {
		// A step of nothing ends the real server's request; here it is a multiple of nothing.
		if q != nil && (r.Step.Value() == 0 || (q.Value()-r.Min.Value())%r.Step.Value() != 0) {
			errs = append(errs, field.Invalid(by, q.String(), fmt.Sprintf(
				"value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String())))
		}
	}
	return errs
}
