package upstream

import (
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// The kinds of networks, nodes, volumes and devices.
func infrastructureKinds() []*strategy {
	claim := resourceclaim.NewStrategy(namespaces{}, everything)
	return []*strategy{
		of(networkingv1.SchemeGroupVersion, "IPAddress", ipaddress.Strategy),
		of(networkingv1.SchemeGroupVersion, "Ingress", ingress.Strategy).through("status", ingress.StatusStrategy),
		of(networkingv1.SchemeGroupVersion, "IngressClass", ingressclass.Strategy),
		of(networkingv1.SchemeGroupVersion, "NetworkPolicy", networkpolicy.Strategy),
		of(networkingv1.SchemeGroupVersion, "ServiceCIDR", servicecidr.Strategy).
			through("status", servicecidr.StatusStrategy),
		of(nodev1.SchemeGroupVersion, "RuntimeClass", runtimeclass.Strategy),
		of(resourcev1.SchemeGroupVersion, "DeviceClass", deviceclass.Strategy),
		of(resourcev1.SchemeGroupVersion, "ResourceClaim", claim).
			through("status", resourceclaim.NewStatusStrategy(claim)),
		of(resourcev1.SchemeGroupVersion, "ResourceClaimTemplate", resourceclaimtemplate.NewStrategy(namespaces{})),
		of(resourcev1.SchemeGroupVersion, "ResourceSlice", resourceslice.Strategy),
		of(schedulingv1.SchemeGroupVersion, "PriorityClass", priorityclass.Strategy),
		of(storagev1.SchemeGroupVersion, "CSIDriver", csidriver.Strategy),
		of(storagev1.SchemeGroupVersion, "CSINode", csinode.Strategy),
		of(storagev1.SchemeGroupVersion, "CSIStorageCapacity", csistoragecapacity.Strategy),
		of(storagev1.SchemeGroupVersion, "StorageClass", storageclass.Strategy),
		of(storagev1.SchemeGroupVersion, "VolumeAttachment", volumeattachment.Strategy).
			through("status", volumeattachment.StatusStrategy),
		of(storagev1.SchemeGroupVersion, "VolumeAttributesClass", volumeattributesclass.Strategy),
	}
}
