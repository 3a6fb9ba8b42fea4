package registry

import (
	"maps"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Device classes, claims and slices are only stored: no component allocates devices.

var deviceClasses = kind[resourcev1.DeviceClass, resourcev1.DeviceClassList](resourcev1.SchemeGroupVersion,
	validation.DeviceClass, &Row{Counts: "Spec", ReturnDeleted: true})

var resourceClaims = kind[resourcev1.ResourceClaim, resourcev1.ResourceClaimList](resourcev1.SchemeGroupVersion,
	validation.ResourceClaim, &Row{
		ReturnDeleted: true, StatusOnly: true, Default: On(resourcedefaults.SetObjectDefaults_ResourceClaim),
	})

var resourceClaimTemplates = kind[resourcev1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplateList](
	resourcev1.SchemeGroupVersion, validation.ResourceClaimTemplate, &Row{
		ReturnDeleted: true, Default: On(resourcedefaults.SetObjectDefaults_ResourceClaimTemplate),
		Canonicalize: asStored,
	})

var resourceSlices = kind[resourcev1.ResourceSlice, resourcev1.ResourceSliceList](resourcev1.SchemeGroupVersion,
	validation.ResourceSlice, &Row{
		Counts: "Spec", ReturnDeleted: true,
		PrepareCreate: On(func(s *resourcev1.ResourceSlice) {
			dropDisabled(s)
			noteTaints(s, s.CreationTimestamp)
		}),
		Main: Update{Prepare: at(func(s, _ *resourcev1.ResourceSlice, now metav1.Time) {
			dropDisabled(s)
			noteTaints(s, now)
		})},
		SelectableKeys: []string{resourcev1.ResourceSliceSelectorNodeName, resourcev1.ResourceSliceSelectorDriver},
		Selectable: selects(func(s *resourcev1.ResourceSlice, set fields.Set) {
			set[resourcev1.ResourceSliceSelectorNodeName] = ptr.Deref(s.Spec.NodeName, "")
			set[resourcev1.ResourceSliceSelectorDriver] = s.Spec.Driver
		}),
	})

// dropDisabled removes fields of features that are off by default.
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

func noteTaints(s *resourcev1.ResourceSlice, now metav1.Time) {
	for i := range s.Spec.Devices {
		for j := range s.Spec.Devices[i].Taints {
			if t := &s.Spec.Devices[i].Taints[j]; t.TimeAdded == nil {
				t.TimeAdded = &now
			}
		}
	}
}
