package fakeapi

// Names of admission plugins. Package fakeapi/internal/registry contains the names of the other plugins.
const (
	namespaceLifecycle  = "NamespaceLifecycle"
	limitRanger         = "LimitRanger"
	podSecurity         = "PodSecurity"
	priority            = "Priority"
	defaultStorageClass = "DefaultStorageClass"
	resizesClaims       = "PersistentVolumeClaimResize"
	runtimeClass        = "RuntimeClass"
	defaultIngressClass = "DefaultIngressClass"
	topologyLabels      = "PodTopologyLabels"
	declaredFeatures    = "NodeDeclaredFeatureValidator"
	resizesPods         = "PodResizeValidator"
	mutatingWebhook     = "MutatingAdmissionWebhook"
	validatingPolicy    = "ValidatingAdmissionPolicy"
	validatingWebhook   = "ValidatingAdmissionWebhook"
	resourceQuota       = "ResourceQuota"
)

// Plugins returns the names of kube-apiserver's admission plugins. A [Server] has the first list, not the others.
func Plugins() (has, others []string) {
	return []string{namespaceLifecycle, limitRanger, "TaintNodesByCondition", podSecurity, priority, "DefaultTolerationSeconds",
			defaultStorageClass, "StorageObjectInUseProtection", resizesClaims, runtimeClass, defaultIngressClass,
			topologyLabels, declaredFeatures, resizesPods, mutatingWebhook, validatingPolicy, validatingWebhook, resourceQuota},
		[]string{"AlwaysAdmit", "NamespaceAutoProvision", "NamespaceExists", "LimitPodHardAntiAffinityTopology",
			"ServiceAccount", "NodeRestriction", "AlwaysPullImages", "ImagePolicyWebhook", "PodNodeSelector",
			"PodTolerationRestriction", "EventRateLimit", "ExtendedResourceToleration", "PodGroupProtection",
			"OwnerReferencesPermissionEnforcement", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest",
			"CertificateSubjectRestriction", "DenyServiceExternalIPs", "PodGroupWorkloadExists", "JobValidation",
			"MutatingAdmissionPolicy", "AlwaysDeny"}
}
