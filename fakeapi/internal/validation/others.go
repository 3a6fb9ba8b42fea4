package validation

import (
	"fmt"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	apiregistrationconv "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationrules "k8s.io/kube-aggregator/pkg/apis/apiregistration/validation"
	nodeutil "k8s.io/kubernetes/pkg/api/node"
	storageutil "k8s.io/kubernetes/pkg/api/storage"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	autoscalingv1conv "k8s.io/kubernetes/pkg/apis/autoscaling/v1"
	autoscalingv2conv "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	autoscalingrules "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/certificates"
	certificatesconv "k8s.io/kubernetes/pkg/apis/certificates/v1"
	certificatesrules "k8s.io/kubernetes/pkg/apis/certificates/validation"
	"k8s.io/kubernetes/pkg/apis/coordination"
	coordinationconv "k8s.io/kubernetes/pkg/apis/coordination/v1"
	coordinationrules "k8s.io/kubernetes/pkg/apis/coordination/validation"
	"k8s.io/kubernetes/pkg/apis/discovery"
	discoveryconv "k8s.io/kubernetes/pkg/apis/discovery/v1"
	discoveryrules "k8s.io/kubernetes/pkg/apis/discovery/validation"
	"k8s.io/kubernetes/pkg/apis/flowcontrol"
	flowcontrolconv "k8s.io/kubernetes/pkg/apis/flowcontrol/v1"
	flowcontrolrules "k8s.io/kubernetes/pkg/apis/flowcontrol/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	networkingconv "k8s.io/kubernetes/pkg/apis/networking/v1"
	networkingrules "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/node"
	nodeconv "k8s.io/kubernetes/pkg/apis/node/v1"
	noderules "k8s.io/kubernetes/pkg/apis/node/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyconv "k8s.io/kubernetes/pkg/apis/policy/v1"
	policyrules "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/rbac"
	rbacconv "k8s.io/kubernetes/pkg/apis/rbac/v1"
	rbacrules "k8s.io/kubernetes/pkg/apis/rbac/validation"
	"k8s.io/kubernetes/pkg/apis/resource"
	resourceconv "k8s.io/kubernetes/pkg/apis/resource/v1"
	resourcerules "k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingconv "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	schedulingrules "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storageconv "k8s.io/kubernetes/pkg/apis/storage/v1"
	storagerules "k8s.io/kubernetes/pkg/apis/storage/validation"
)

var (
	// Autoscaler validates HorizontalPodAutoscalers of autoscaling/v2, the storage version.
	Autoscaler = kind(autoscalingv2conv.Convert_v2_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler, nil,
		autoscalers)
	AutoscalerV1 = kind(autoscalingv1conv.Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler,
		nil, autoscalers)
)

var autoscalers = rules[autoscaling.HorizontalPodAutoscaler]{
	create: func(a *autoscaling.HorizontalPodAutoscaler) field.ErrorList {
		return autoscalingrules.ValidateHorizontalPodAutoscaler(a, autoscalerOptions(a, nil))
	},
	update: func(a, old *autoscaling.HorizontalPodAutoscaler) field.ErrorList {
		return autoscalingrules.ValidateHorizontalPodAutoscalerUpdate(a, old, autoscalerOptions(a, old))
	},
	status: autoscalingrules.ValidateHorizontalPodAutoscalerStatusUpdate,
}

// autoscalerOptions returns validation options that allow an update to keep errors that the old object has.
func autoscalerOptions(a, old *autoscaling.HorizontalPodAutoscaler) (
	opts autoscalingrules.HorizontalPodAutoscalerSpecValidationOptions) {
	opts.MinReplicasLowerBound = 1
	opts.ObjectMetricsValidationOptions.AllowEmptyAPIGroup = true
	target := &opts.ScaleTargetRefValidationOptions
	if old == nil {
		target.AllowEmptyAPIGroup = a.Spec.ScaleTargetRef.Kind == "ReplicationController"
		return opts
	}
	if n := old.Spec.MinReplicas; n != nil && *n == 0 {
		opts.MinReplicasLowerBound = 0
	}
	if now, was := a.Spec.ScaleTargetRef, old.Spec.ScaleTargetRef; now.APIVersion == was.APIVersion &&
		now.Kind == was.Kind {
		target.AllowInvalidAPIVersion = true
	} else {
		target.AllowEmptyAPIGroup = now.Kind == "ReplicationController"
	}
	for _, m := range old.Spec.Metrics {
		if m.Type == autoscaling.ObjectMetricSourceType && m.Object != nil && autoscalingrules.ValidateAPIVersion(
			m.Object.DescribedObject, opts.ObjectMetricsValidationOptions) != nil {
			opts.ObjectMetricsValidationOptions.AllowInvalidAPIVersion = true
			break
		}
	}
	return opts
}

var PodDisruptionBudget = kind(policyconv.Convert_v1_PodDisruptionBudget_To_policy_PodDisruptionBudget, nil,
	rules[policy.PodDisruptionBudget]{
		create: func(b *policy.PodDisruptionBudget) field.ErrorList {
			return policyrules.ValidatePodDisruptionBudget(b, policyrules.PodDisruptionBudgetValidationOptions{})
		},
		update: func(b, old *policy.PodDisruptionBudget) field.ErrorList {
			return policyrules.ValidatePodDisruptionBudget(b, policyrules.PodDisruptionBudgetValidationOptions{
				AllowInvalidLabelValueInSelector: odd(old.Spec.Selector)})
		},
		status: func(b, old *policy.PodDisruptionBudget) field.ErrorList {
			return policyrules.ValidatePodDisruptionBudgetStatusUpdate(b.Status, old.Status, field.NewPath("status"),
				policyv1.SchemeGroupVersion)
		}})

// odd reports whether a selector has an invalid label value. An update may keep such a value.
func odd(s *metav1.LabelSelector) bool {
	return s != nil && metav1validation.LabelSelectorHasInvalidLabelValue(s)
}

var Lease = kind(coordinationconv.Convert_v1_Lease_To_coordination_Lease, nil, rules[coordination.Lease]{
	create: coordinationrules.ValidateLease, update: coordinationrules.ValidateLeaseUpdate})

var EndpointSlice = kind(discoveryconv.Convert_v1_EndpointSlice_To_discovery_EndpointSlice, nil,
	rules[discovery.EndpointSlice]{
		create: discoveryrules.ValidateEndpointSliceCreate, update: discoveryrules.ValidateEndpointSliceUpdate,
		warn: func(s, old *discovery.EndpointSlice) (all []string) {
			if old == nil && s.AddressType == discovery.AddressTypeFQDN {
				all = append(all, "spec.addressType: FQDN endpoints are deprecated")
			}
			switch s.Labels["endpointslice.kubernetes.io/managed-by"] {
			case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
				return all
			}
			for i := range s.Endpoints {
				for j, ip := range s.Endpoints[i].Addresses {
					at := field.NewPath("endpoints").Index(i).Child("addresses").Index(j)
					all = append(all, utilvalidation.GetWarningsForIP(at, ip)...)
				}
			}
			return all
		}})

var Ingress = kind(networkingconv.Convert_v1_Ingress_To_networking_Ingress, nil, rules[networking.Ingress]{
	create: networkingrules.ValidateIngressCreate, update: networkingrules.ValidateIngressUpdate,
	status: networkingrules.ValidateIngressStatusUpdate,
	warn: func(in, old *networking.Ingress) []string {
		const class = "kubernetes.io/ingress.class"
		if _, ok := in.Annotations[class]; old == nil && ok && in.Spec.IngressClassName == nil {
			return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead",
				class)}
		}
		return nil
	},
	warnStatus: always(func(in *networking.Ingress) (all []string) {
		for i, at := range in.Status.LoadBalancer.Ingress {
			all = append(all, warnIngressIP(i, at.IP)...)
		}
		return all
	})})

var IngressClass = kind(networkingconv.Convert_v1_IngressClass_To_networking_IngressClass, nil,
	rules[networking.IngressClass]{
		create: networkingrules.ValidateIngressClass, update: networkingrules.ValidateIngressClassUpdate})

var NetworkPolicy = kind(networkingconv.Convert_v1_NetworkPolicy_To_networking_NetworkPolicy, nil,
	rules[networking.NetworkPolicy]{
		create: func(p *networking.NetworkPolicy) field.ErrorList {
			return networkingrules.ValidateNetworkPolicy(p, networkingrules.ValidationOptionsForNetworking(p, nil))
		},
		update: func(p, old *networking.NetworkPolicy) field.ErrorList {
			return networkingrules.ValidateNetworkPolicyUpdate(p, old,
				networkingrules.ValidationOptionsForNetworking(p, old))
		},
		warn: always(func(p *networking.NetworkPolicy) (all []string) {
			for i := range p.Spec.Ingress {
				all = append(all, warnPeers(p.Spec.Ingress[i].From,
					field.NewPath("spec", "ingress").Index(i).Child("from"))...)
			}
			for i := range p.Spec.Egress {
				all = append(all, warnPeers(p.Spec.Egress[i].To, field.NewPath("spec", "egress").Index(i).Child("to"))...)
			}
			return all
		})})

func warnPeers(peers []networking.NetworkPolicyPeer, path *field.Path) (all []string) {
	for i := range peers {
		block, at := peers[i].IPBlock, path.Index(i).Child("ipBlock")
		if block == nil {
			continue
		}
		all = append(all, utilvalidation.GetWarningsForCIDR(at.Child("cidr"), block.CIDR)...)
		for j, except := range block.Except {
			all = append(all, utilvalidation.GetWarningsForCIDR(at.Child("except").Index(j), except)...)
		}
	}
	return all
}

var IPAddress = kind(networkingconv.Convert_v1_IPAddress_To_networking_IPAddress, nil, rules[networking.IPAddress]{
	create: networkingrules.ValidateIPAddress,
	update: andCreate(networkingrules.ValidateIPAddress, networkingrules.ValidateIPAddressUpdate)})

var ServiceCIDR = kind(networkingconv.Convert_v1_ServiceCIDR_To_networking_ServiceCIDR, nil,
	rules[networking.ServiceCIDR]{create: networkingrules.ValidateServiceCIDR,
		update: networkingrules.ValidateServiceCIDRUpdate, status: networkingrules.ValidateServiceCIDRStatusUpdate})

var (
	Role = kind(rbacconv.Convert_v1_Role_To_rbac_Role, nil, rules[rbac.Role]{
		create: rbacrules.ValidateRole, update: rbacrules.ValidateRoleUpdate})
	RoleBinding = kind(rbacconv.Convert_v1_RoleBinding_To_rbac_RoleBinding, nil, rules[rbac.RoleBinding]{
		create: rbacrules.ValidateRoleBinding, update: rbacrules.ValidateRoleBindingUpdate})
	ClusterRoleBinding = kind(rbacconv.Convert_v1_ClusterRoleBinding_To_rbac_ClusterRoleBinding, nil,
		rules[rbac.ClusterRoleBinding]{create: rbacrules.ValidateClusterRoleBinding,
			update: rbacrules.ValidateClusterRoleBindingUpdate})
	ClusterRole = kind(rbacconv.Convert_v1_ClusterRole_To_rbac_ClusterRole, nil, rules[rbac.ClusterRole]{
		create: func(r *rbac.ClusterRole) field.ErrorList {
			return rbacrules.ValidateClusterRole(r, rbacrules.ClusterRoleValidationOptions{})
		},
		update: func(r, old *rbac.ClusterRole) field.ErrorList {
			var opts rbacrules.ClusterRoleValidationOptions
			if a := old.AggregationRule; a != nil {
				for i := range a.ClusterRoleSelectors {
					opts.AllowInvalidLabelValueInSelector = opts.AllowInvalidLabelValueInSelector ||
						odd(&a.ClusterRoleSelectors[i])
				}
			}
			return rbacrules.ValidateClusterRoleUpdate(r, old, opts)
		}})
)

var StorageClass = kind(storageconv.Convert_v1_StorageClass_To_storage_StorageClass, nil, rules[storage.StorageClass]{
	create: storagerules.ValidateStorageClass,
	update: andCreate(storagerules.ValidateStorageClass, storagerules.ValidateStorageClassUpdate),
	warn:   always(storageutil.GetWarningsForStorageClass)})

var CSIDriver = kind(storageconv.Convert_v1_CSIDriver_To_storage_CSIDriver, nil, rules[storage.CSIDriver]{
	create: storagerules.ValidateCSIDriver, update: storagerules.ValidateCSIDriverUpdate,
	warn: func(d, old *storage.CSIDriver) []string {
		if len(d.Spec.TokenRequests) == 0 || d.Spec.ServiceAccountTokenInSecrets != nil ||
			old != nil && equality.Semantic.DeepEqual(old.Spec.TokenRequests, d.Spec.TokenRequests) {
			return nil
		}
		return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to " +
			"prevent possible logging of tokens in volume attributes"}
	}})

var CSINode = kind(storageconv.Convert_v1_CSINode_To_storage_CSINode, nil, rules[storage.CSINode]{
	create: storagerules.ValidateCSINode, update: storagerules.ValidateCSINodeUpdate})

var CSIStorageCapacity = kind(storageconv.Convert_v1_CSIStorageCapacity_To_storage_CSIStorageCapacity, nil,
	rules[storage.CSIStorageCapacity]{
		create: func(c *storage.CSIStorageCapacity) field.ErrorList {
			return storagerules.ValidateCSIStorageCapacity(c, storagerules.CSIStorageCapacityValidateOptions{})
		},
		update: func(c, old *storage.CSIStorageCapacity) field.ErrorList {
			errs := storagerules.ValidateCSIStorageCapacity(c, storagerules.CSIStorageCapacityValidateOptions{
				AllowInvalidLabelValueInSelector: odd(old.NodeTopology)})
			return append(errs, storagerules.ValidateCSIStorageCapacityUpdate(c, old)...)
		},
		warn: always(storageutil.GetWarningsForCSIStorageCapacity)})

var VolumeAttachment = kind(storageconv.Convert_v1_VolumeAttachment_To_storage_VolumeAttachment, nil,
	rules[storage.VolumeAttachment]{create: storagerules.ValidateVolumeAttachment,
		update: storagerules.ValidateVolumeAttachmentUpdate, status: storagerules.ValidateVolumeAttachmentUpdate})

var VolumeAttributesClass = kind(storageconv.Convert_v1_VolumeAttributesClass_To_storage_VolumeAttributesClass, nil,
	rules[storage.VolumeAttributesClass]{create: storagerules.ValidateVolumeAttributesClass,
		update: storagerules.ValidateVolumeAttributesClassUpdate})

var RuntimeClass = kind(nodeconv.Convert_v1_RuntimeClass_To_node_RuntimeClass, nil, rules[node.RuntimeClass]{
	create: noderules.ValidateRuntimeClass,
	update: andCreate(noderules.ValidateRuntimeClass, noderules.ValidateRuntimeClassUpdate),
	warn:   always(nodeutil.GetWarningsForRuntimeClass)})

var PriorityClass = kind(schedulingconv.Convert_v1_PriorityClass_To_scheduling_PriorityClass, nil,
	rules[scheduling.PriorityClass]{create: schedulingrules.ValidatePriorityClass,
		update: schedulingrules.ValidatePriorityClassUpdate})

var CertificateSigningRequest = kind(
	certificatesconv.Convert_v1_CertificateSigningRequest_To_certificates_CertificateSigningRequest, nil,
	rules[certificates.CertificateSigningRequest]{
		create: certificatesrules.ValidateCertificateSigningRequestCreate,
		update: certificatesrules.ValidateCertificateSigningRequestUpdate,
		status: certificatesrules.ValidateCertificateSigningRequestStatusUpdate})

var CertificateApproval = way(
	certificatesconv.Convert_v1_CertificateSigningRequest_To_certificates_CertificateSigningRequest, nil,
	certificatesrules.ValidateCertificateSigningRequestApprovalUpdate, nil)

// later swaps the arguments of a function that takes the old object first.
func later[I any](check func(old, obj *I) field.ErrorList) func(obj, old *I) field.ErrorList {
	return func(obj, old *I) field.ErrorList { return check(old, obj) }
}

var FlowSchema = kind(flowcontrolconv.Convert_v1_FlowSchema_To_flowcontrol_FlowSchema, nil,
	rules[flowcontrol.FlowSchema]{create: flowcontrolrules.ValidateFlowSchema,
		update: later(flowcontrolrules.ValidateFlowSchemaUpdate),
		status: later(flowcontrolrules.ValidateFlowSchemaStatusUpdate)})

var PriorityLevelConfiguration = kind(
	flowcontrolconv.Convert_v1_PriorityLevelConfiguration_To_flowcontrol_PriorityLevelConfiguration, nil,
	rules[flowcontrol.PriorityLevelConfiguration]{create: validatePriorityLevel, update: ignoringOld(validatePriorityLevel),
		status: later(flowcontrolrules.ValidatePriorityLevelConfigurationStatusUpdate)})

func validatePriorityLevel(l *flowcontrol.PriorityLevelConfiguration) field.ErrorList {
	return flowcontrolrules.ValidatePriorityLevelConfiguration(l, flowcontrolv1.SchemeGroupVersion,
		flowcontrolrules.PriorityLevelValidationOptions{})
}

var DeviceClass = kind(resourceconv.Convert_v1_DeviceClass_To_resource_DeviceClass, nil, rules[resource.DeviceClass]{
	create: resourcerules.ValidateDeviceClass, update: resourcerules.ValidateDeviceClassUpdate})

// ResourceClaim validates ResourceClaims, but not whether their namespace allows administrator access.
var ResourceClaim = kind(resourceconv.Convert_v1_ResourceClaim_To_resource_ResourceClaim, nil,
	rules[resource.ResourceClaim]{create: resourcerules.ValidateResourceClaim,
		update: resourcerules.ValidateResourceClaimUpdate, status: resourcerules.ValidateResourceClaimStatusUpdate})

var ResourceClaimTemplate = kind(resourceconv.Convert_v1_ResourceClaimTemplate_To_resource_ResourceClaimTemplate, nil,
	rules[resource.ResourceClaimTemplate]{create: resourcerules.ValidateResourceClaimTemplate,
		update: andCreate(resourcerules.ValidateResourceClaimTemplate, resourcerules.ValidateResourceClaimTemplateUpdate)})

var ResourceSlice = kind(resourceconv.Convert_v1_ResourceSlice_To_resource_ResourceSlice, nil,
	rules[resource.ResourceSlice]{
		create: resourcerules.ValidateResourceSlice, update: resourcerules.ValidateResourceSliceUpdate,
		warn: always(func(s *resource.ResourceSlice) []string {
			if s.Spec.Driver == strings.ToLower(s.Spec.Driver) {
				return nil
			}
			return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters",
				s.Spec.Driver)}
		})})

var APIService = kind(apiregistrationconv.Convert_v1_APIService_To_apiregistration_APIService, nil,
	rules[apiregistration.APIService]{create: apiregistrationrules.ValidateAPIService,
		update: apiregistrationrules.ValidateAPIServiceUpdate,
		status: apiregistrationrules.ValidateAPIServiceStatusUpdate})
