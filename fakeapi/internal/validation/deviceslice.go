package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ResourceSlice checks which devices a driver offers. What the real server says in the order of a
// map is said in the order of keys.
func ResourceSlice(s *resourcev1.ResourceSlice) field.ErrorList { return ResourceSliceUpdate(s, nil) }

// ResourceSliceUpdate is ResourceSlice for one that was stored, nil for none: its pool, driver and
// node stay.
func ResourceSliceUpdate(s, old *resourcev1.ResourceSlice) field.ErrorList {
	spec, pool := &s.Spec, specPath.Child("pool")
	errs := driverName(spec.Driver, specPath.Child("driver"))
	errs = append(errs, poolName(spec.Pool.Name, pool.Child("name"))...)
	if n := spec.Pool.ResourceSliceCount; n <= 0 {
		errs = append(errs, field.Invalid(pool.Child("resourceSliceCount"), n, "must be greater than zero"))
	}
	if n := spec.Pool.Generation; n < 0 {
		errs = append(errs, field.Invalid(pool.Child("generation"), n, "must be greater than or equal to zero"))
	}
	var was resourcev1.ResourceSliceSpec
	if old != nil {
		was = old.Spec
		errs = append(errs, apivalidation.ValidateImmutableField(spec.Pool.Name, was.Pool.Name, pool.Child("name"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(spec.Driver, was.Driver, specPath.Child("driver"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(spec.NodeName, was.NodeName,
			specPath.Child("nodeName"))...)
	}
	errs = append(errs, whichNodes(spec)...)
	if spec.SharedCounters != nil && spec.Devices != nil {
		errs = append(errs, field.Invalid(specPath, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	errs = append(errs, setOf(spec.Devices, mostDevices(spec), specPath.Child("devices"),
		func(d *resourcev1.Device) string { return d.Name },
		func(d *resourcev1.Device, path *field.Path) field.ErrorList {
			i := slices.IndexFunc(was.Devices, func(o resourcev1.Device) bool { return o.Name == d.Name })
			same := i >= 0 && equality.Semantic.DeepEqual(was.Devices[i].Taints, d.Taints)
			return device(d, path, isTrue(spec.PerDeviceNodeSelection), same)
		})...)
	return append(errs, setOf(spec.SharedCounters, resourcev1.ResourceSliceMaxCounterSets,
		specPath.Child("sharedCounters"), func(c *resourcev1.CounterSet) string { return c.Name },
		func(c *resourcev1.CounterSet, path *field.Path) field.ErrorList {
			return counters("name", c.Name, c.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, path)
		})...)
}

func isTrue(b *bool) bool { return b != nil && *b }

// mostDevices is how many a slice may have.
func mostDevices(s *resourcev1.ResourceSliceSpec) int {
	for _, d := range s.Devices {
		if len(d.Taints) > 0 || len(d.ConsumesCounters) > 0 {
			return resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
		}
	}
	return resourcev1.ResourceSliceMaxDevices
}

// whichNodes checks that a slice says in one way which nodes have its devices.
func whichNodes(s *resourcev1.ResourceSliceSpec) (errs field.ErrorList) {
	var set []string
	if s.NodeName != nil && *s.NodeName == "" {
		errs = append(errs, field.Invalid(specPath.Child("nodeName"), "",
			"must be either unset or set to a non-empty string"))
	} else if s.NodeName != nil {
		set = append(set, "`nodeName`")
		errs = append(errs, named(*s.NodeName, specPath.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	if n := s.NodeSelector; n != nil {
		set = append(set, "`nodeSelector`")
		at := specPath.Child("nodeSelector")
		errs = append(errs, validateNodeSelector(n, at)...)
		if len(n.NodeSelectorTerms) != 1 {
			errs = append(errs, field.Invalid(at.Child("nodeSelectorTerms"), shownList(n.NodeSelectorTerms),
				"must have exactly one node selector term"))
		}
	}
	for _, one := range []struct {
		name string
		on   *bool
	}{{"allNodes", s.AllNodes}, {"perDeviceNodeSelection", s.PerDeviceNodeSelection}} {
		if isTrue(one.on) {
			set = append(set, "`"+one.name+"`")
		} else if one.on != nil {
			errs = append(errs, field.Invalid(specPath.Child(one.name), false, "must be either unset or set to true"))
		}
	}
	const what = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	switch {
	case len(set) == 0:
		errs = append(errs, field.Required(specPath, what))
	case len(set) > 1:
		errs = append(errs, field.Invalid(specPath, "{"+strings.Join(set, ", ")+"}",
			what+", but multiple fields are set"))
	}
	return errs
}

// counters checks what is counted for several devices.
func counters(key, name string, of map[string]resourcev1.Counter, most int, path *field.Path) field.ErrorList {
	errs := mustName(name, path.Child(key), plain(utilvalidation.IsDNS1123Label))
	at := path.Child("counters")
	switch {
	case len(of) == 0:
		return append(errs, field.Required(at, ""))
	case len(of) > most:
		return append(errs, field.TooMany(at, len(of), most))
	}
	for _, k := range slices.Sorted(maps.Keys(of)) {
		errs = append(errs, label(k, at)...)
	}
	return errs
}

// device checks one device. perDevice: it says itself which nodes have it; tainted: its taints are as they were.
func device(d *resourcev1.Device, path *field.Path, perDevice, tainted bool) field.ErrorList {
	errs := label(d.Name, path.Child("name"))
	const most = resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice
	if n := len(d.Attributes) + len(d.Capacity); n > most {
		errs = append(errs, field.Invalid(path, n,
			fmt.Sprintf("the total number of attributes and capacities must not exceed %d", most)))
	}
	for _, key := range slices.Sorted(maps.Keys(d.Attributes)) {
		a := d.Attributes[key]
		errs = append(errs, deviceKey(string(key), path.Child("attributes"))...)
		errs = append(errs, deviceAttribute(&a, path.Child("attributes").Key(shortened(string(key))))...)
	}
	for _, key := range slices.Sorted(maps.Keys(d.Capacity)) {
		c := d.Capacity[key]
		at := path.Child("capacity")
		errs = append(errs, deviceKey(string(key), at)...)
		errs = append(errs, deviceCapacity(&c, isTrue(d.AllowMultipleAllocations),
			at.Key(shortened(string(key))).Child("requestPolicy"))...)
	}
	if !tainted {
		errs = append(errs, upTo(d.Taints, resourcev1.DeviceTaintsMaxLength, path.Child("taints"), deviceTaint)...)
	}
	errs = append(errs, setOf(d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice,
		path.Child("consumesCounters"), func(c *resourcev1.DeviceCounterConsumption) string { return c.CounterSet },
		func(c *resourcev1.DeviceCounterConsumption, at *field.Path) field.ErrorList {
			return counters("counterSet", c.CounterSet, c.Counters,
				resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, at)
		})...)
	errs = append(errs, deviceNodes(d, path, perDevice)...)
	return append(errs, bindingConditions(d.BindingConditions, d.BindingFailureConditions, path)...)
}

// shortened is a key as paths show it.
func shortened(key string) string {
	const most = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength
	if len(key) <= most {
		return key
	}
	const left = most - len("...")
	return key[:(left+1)/2] + "..." + key[len(key)-left/2:]
}

// deviceNodes checks which nodes have a device.
func deviceNodes(d *resourcev1.Device, path *field.Path, perDevice bool) (errs field.ErrorList) {
	if !perDevice {
		if d.NodeName == nil && d.NodeSelector == nil && d.AllNodes == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(path, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if "+
			"`perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
	}
	var set []string
	if d.NodeName != nil && *d.NodeName == "" {
		errs = append(errs, field.Invalid(path.Child("nodeName"), "", "must not be empty"))
	} else if d.NodeName != nil {
		set = append(set, "`nodeName`")
		errs = append(errs, named(*d.NodeName, path.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	if d.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		errs = append(errs, validateNodeSelector(d.NodeSelector, path.Child("nodeSelector"))...)
	}
	if isTrue(d.AllNodes) {
		set = append(set, "`allNodes`")
	} else if d.AllNodes != nil {
		errs = append(errs, field.Invalid(path.Child("allNodes"), false, "must be either unset or set to true"))
	}
	const what = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` " +
		"is set to true in the ResourceSlice spec"
	switch {
	case len(set) == 0:
		errs = append(errs, field.Required(path, what))
	case len(set) > 1:
		errs = append(errs, field.Invalid(path, "{"+strings.Join(set, ", ")+"}", what))
	}
	return errs
}
