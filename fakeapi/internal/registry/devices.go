package registry

import (
	"maps"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Devices and claims to them: nothing here allocates.

var deviceClasses = goType[resourcev1.DeviceClass, resourcev1.DeviceClassList](&Kind{
	GVK: resourcev1.SchemeGroupVersion.WithKind("DeviceClass"), Resource: "deviceclasses", Singular: "deviceclass",
	ReturnDeleted: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, PrepareCreate: first,
		ValidateCreate: Check(validation.DeviceClass),
		Main: Update{
			Prepare:  Recount(func(c *resourcev1.DeviceClass) any { return c.Spec }),
			Validate: Compare(validation.DeviceClassUpdate), again: checks{onCreate, onUpdate},
		},
	},
})

var resourceClaims = goType[resourcev1.ResourceClaim, resourcev1.ResourceClaimList](&Kind{
	GVK:      resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"),
	Resource: "resourceclaims", Singular: "resourceclaim", Namespaced: true, Status: true, ReturnDeleted: true,
	Default: On(func(c *resourcev1.ResourceClaim) { defaultRequests(c.Spec.Devices.Requests) }),
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		PrepareCreate:  On(func(c *resourcev1.ResourceClaim) { c.Status = resourcev1.ResourceClaimStatus{} }),
		ValidateCreate: Check(validation.ResourceClaim),
		Main: Update{
			Prepare:  Over(func(c, old *resourcev1.ResourceClaim) { c.Status = old.Status }),
			Validate: Compare(validation.ResourceClaimUpdate), again: checks{onCreate, onUpdate},
		},
		ForStatus: Update{
			Prepare: Over(func(c, old *resourcev1.ResourceClaim) {
				c.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(c, old)
			}),
			Validate: Compare(validation.ResourceClaimStatus), again: checks{onUpdate},
		},
		ResetByStatus: wholeMetadata,
	},
})

var resourceClaimTemplates = goType[resourcev1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplateList](&Kind{
	GVK:      resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate"),
	Resource: "resourceclaimtemplates", Singular: "resourceclaimtemplate", Namespaced: true, ReturnDeleted: true,
	Default: On(func(t *resourcev1.ResourceClaimTemplate) { defaultRequests(t.Spec.Spec.Devices.Requests) }),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.ResourceClaimTemplate),
		Canonicalize: asStored,
		Main: Update{Validate: again(validation.ResourceClaimTemplate), again: checks{onCreate},
			after: checks{onUpdate}, Last: Compare(validation.ResourceClaimTemplateUpdate)},
	},
})

// defaultRequests asks for one device where nothing is said of how many.
func defaultRequests(requests []resourcev1.DeviceRequest) {
	for i := range requests {
		if e := requests[i].Exactly; e != nil {
			defaultCount(&e.AllocationMode, &e.Count)
			defaultTolerations(e.Tolerations)
		}
		for j := range requests[i].FirstAvailable {
			s := &requests[i].FirstAvailable[j]
			defaultCount(&s.AllocationMode, &s.Count)
			defaultTolerations(s.Tolerations)
		}
	}
}

func defaultTolerations(all []resourcev1.DeviceToleration) {
	for i := range all {
		if all[i].Operator == "" {
			all[i].Operator = resourcev1.DeviceTolerationOpEqual
		}
	}
}

func defaultCount(mode *resourcev1.DeviceAllocationMode, count *int64) {
	if *mode == "" {
		*mode = resourcev1.DeviceAllocationModeExactCount
	}
	if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
		*count = 1
	}
}

var resourceSlices = goType[resourcev1.ResourceSlice, resourcev1.ResourceSliceList](&Kind{
	GVK:      resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"),
	Resource: "resourceslices", Singular: "resourceslice", ReturnDeleted: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(s *resourcev1.ResourceSlice) {
			s.Generation = 1
			dropDisabled(s)
			noteTaints(s, s.CreationTimestamp)
		}),
		ValidateCreate: Check(validation.ResourceSlice),
		Main: Update{PrepareAt: prepareSlice, Validate: Compare(validation.ResourceSliceUpdate),
			again: checks{onUpdate}},
	},
})

// dropDisabled leaves out what the real server has only where a gate is opened.
func dropDisabled(s *resourcev1.ResourceSlice) {
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		d.NodeAllocatableResourceMappings = nil
		plain := maps.Clone(d.Attributes)
		for name, a := range d.Attributes { //detcheck:ordered each name is set once
			a.BoolValues, a.IntValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			plain[name] = a
		}
		d.Attributes = plain
	}
}

func prepareSlice(obj, old runtime.Object, now time.Time) {
	dropDisabled(obj.(*resourcev1.ResourceSlice))
	noteTaints(obj.(*resourcev1.ResourceSlice), metadata.Seconds(now))
	Recount(func(s *resourcev1.ResourceSlice) any { return s.Spec })(obj, old)
}

// noteTaints gives taints that have no time the time of now.
func noteTaints(s *resourcev1.ResourceSlice, now metav1.Time) {
	for i := range s.Spec.Devices {
		for j := range s.Spec.Devices[i].Taints {
			orDefault(&s.Spec.Devices[i].Taints[j].TimeAdded, now)
		}
	}
}
