package registry

import (
	"maps"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Devices and claims to them: nothing here allocates.

var deviceClasses = goType[resourcev1.DeviceClass, resourcev1.DeviceClassList](&Kind{
	GVK: resourcev1.SchemeGroupVersion.WithKind("DeviceClass"), Resource: "deviceclasses", Singular: "deviceclass",
	ReturnDeleted: true,
	strategy: strategy{
		PrepareCreate: first,
		Create:        validation.DeviceClass.Create,
		Main: Update{
			Prepare: Recount(func(c *resourcev1.DeviceClass) any { return c.Spec }),
			Judge:   validation.DeviceClass.Update,
		},
	},
})

var resourceClaims = goType[resourcev1.ResourceClaim, resourcev1.ResourceClaimList](&Kind{
	GVK:      resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"),
	Resource: "resourceclaims", Singular: "resourceclaim", Namespaced: true, Status: true, ReturnDeleted: true,
	Default: On(resourcedefaults.SetObjectDefaults_ResourceClaim),
	strategy: strategy{
		PrepareCreate: On(func(c *resourcev1.ResourceClaim) { c.Status = resourcev1.ResourceClaimStatus{} }),
		Create:        validation.ResourceClaim.Create,
		Main: Update{
			Prepare: Over(func(c, old *resourcev1.ResourceClaim) { c.Status = old.Status }),
			Judge:   validation.ResourceClaim.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(c, old *resourcev1.ResourceClaim) {
				c.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(c, old)
			}),
			Judge: validation.ResourceClaim.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})

var resourceClaimTemplates = goType[resourcev1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplateList](&Kind{
	GVK:      resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate"),
	Resource: "resourceclaimtemplates", Singular: "resourceclaimtemplate", Namespaced: true, ReturnDeleted: true,
	Default: On(resourcedefaults.SetObjectDefaults_ResourceClaimTemplate),
	strategy: strategy{
		Create:       validation.ResourceClaimTemplate.Create,
		Canonicalize: asStored,
		Main:         Update{Judge: validation.ResourceClaimTemplate.Update},
	},
})

var resourceSlices = goType[resourcev1.ResourceSlice, resourcev1.ResourceSliceList](&Kind{
	GVK:      resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"),
	Resource: "resourceslices", Singular: "resourceslice", ReturnDeleted: true,
	strategy: strategy{
		PrepareCreate: On(func(s *resourcev1.ResourceSlice) {
			s.Generation = 1
			dropDisabled(s)
			noteTaints(s, s.CreationTimestamp)
		}),
		Create: validation.ResourceSlice.Create,
		Main:   Update{PrepareAt: prepareSlice, Judge: validation.ResourceSlice.Update},
	},
})

// dropDisabled removes fields of disabled feature gates.
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

func noteTaints(s *resourcev1.ResourceSlice, now metav1.Time) {
	for i := range s.Spec.Devices {
		for j := range s.Spec.Devices[i].Taints {
			orDefault(&s.Spec.Devices[i].Taints[j].TimeAdded, now)
		}
	}
}
