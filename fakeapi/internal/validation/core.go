package validation

import (
	"crypto/tls"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	pvutil "k8s.io/kubernetes/pkg/api/persistentvolume"
	pvcutil "k8s.io/kubernetes/pkg/api/persistentvolumeclaim"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	serviceutil "k8s.io/kubernetes/pkg/api/service"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/helper"
	conv "k8s.io/kubernetes/pkg/apis/core/v1"
	v "k8s.io/kubernetes/pkg/apis/core/validation"
	events "k8s.io/kubernetes/pkg/apis/events/v1"
	volume "k8s.io/kubernetes/pkg/volume/validation"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

var ConfigMap = kind(conv.Convert_v1_ConfigMap_To_core_ConfigMap, nil, rules[core.ConfigMap]{
	create: v.ValidateConfigMap, update: v.ValidateConfigMapUpdate})

var Endpoints = kind(conv.Convert_v1_Endpoints_To_core_Endpoints, nil, rules[core.Endpoints]{
	create: v.ValidateEndpointsCreate, update: v.ValidateEndpointsUpdate,
	warn: always(func(e *core.Endpoints) (all []string) {
		if e.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
			return nil
		}
		for i, s := range e.Subsets {
			at := field.NewPath("subsets").Index(i)
			for j := range s.Addresses {
				all = append(all, utilvalidation.GetWarningsForIP(at.Child("addresses").Index(j).Child("ip"),
					s.Addresses[j].IP)...)
			}
			for j := range s.NotReadyAddresses {
				all = append(all, utilvalidation.GetWarningsForIP(at.Child("notReadyAddresses").Index(j).Child("ip"),
					s.NotReadyAddresses[j].IP)...)
			}
		}
		return all
	})})

var Event = kind(conv.Convert_v1_Event_To_core_Event, nil, rules[core.Event]{
	create: func(e *core.Event) field.ErrorList { return v.ValidateEventCreate(e, corev1.SchemeGroupVersion) },
	update: func(e, old *core.Event) field.ErrorList {
		return v.ValidateEventUpdate(e, old, corev1.SchemeGroupVersion)
	}})

// NewEvent validates Events of the API group events.k8s.io.
var NewEvent = kind(events.Convert_v1_Event_To_core_Event, nil, rules[core.Event]{
	create: func(e *core.Event) field.ErrorList { return v.ValidateEventCreate(e, eventsv1.SchemeGroupVersion) },
	update: func(e, old *core.Event) field.ErrorList {
		return v.ValidateEventUpdate(e, old, eventsv1.SchemeGroupVersion)
	}})

var LimitRange = kind(conv.Convert_v1_LimitRange_To_core_LimitRange, nil, rules[core.LimitRange]{
	create: v.ValidateLimitRange, update: ignoringOld(v.ValidateLimitRange)})

var Namespace = kind(conv.Convert_v1_Namespace_To_core_Namespace, nil, rules[core.Namespace]{
	create: v.ValidateNamespace,
	update: andCreate(v.ValidateNamespace, v.ValidateNamespaceUpdate),
	status: v.ValidateNamespaceStatusUpdate})

var NamespaceFinalize = way(conv.Convert_v1_Namespace_To_core_Namespace, nil, v.ValidateNamespaceFinalizeUpdate, nil)

var Node = kind(conv.Convert_v1_Node_To_core_Node, nil, rules[core.Node]{
	create: v.ValidateNode,
	update: andCreate(v.ValidateNode, v.ValidateNodeUpdate),
	status: v.ValidateNodeUpdate,
	warn: always(func(n *core.Node) (all []string) {
		if n.Spec.ConfigSource != nil {
			all = append(all, "spec.configSource: the feature is removed")
		}
		if n.Spec.DoNotUseExternalID != "" {
			all = append(all, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
		}
		for i, cidr := range n.Spec.PodCIDRs {
			all = append(all, utilvalidation.GetWarningsForCIDR(field.NewPath("spec", "podCIDRs").Index(i), cidr)...)
		}
		return all
	})})

var PersistentVolume = kind(conv.Convert_v1_PersistentVolume_To_core_PersistentVolume, nil,
	rules[core.PersistentVolume]{
		create: func(p *core.PersistentVolume) field.ErrorList {
			return append(v.ValidatePersistentVolume(p, v.ValidationOptionsForPersistentVolume(p, nil)),
				volume.ValidatePersistentVolume(p)...)
		},
		update: func(p, old *core.PersistentVolume) field.ErrorList {
			opts := v.ValidationOptionsForPersistentVolume(p, old)
			errs := append(v.ValidatePersistentVolume(p, opts), volume.ValidatePersistentVolume(p)...)
			return append(errs, v.ValidatePersistentVolumeUpdate(p, old, opts)...)
		},
		status: v.ValidatePersistentVolumeStatusUpdate,
		warn:   always(pvutil.GetWarningsForPersistentVolume)})

var PersistentVolumeClaim = kind(conv.Convert_v1_PersistentVolumeClaim_To_core_PersistentVolumeClaim, nil,
	rules[core.PersistentVolumeClaim]{
		create: func(c *core.PersistentVolumeClaim) field.ErrorList {
			return v.ValidatePersistentVolumeClaim(c, v.ValidationOptionsForPersistentVolumeClaim(c, nil))
		},
		update: func(c, old *core.PersistentVolumeClaim) field.ErrorList {
			return v.ValidatePersistentVolumeClaimUpdate(c, old, v.ValidationOptionsForPersistentVolumeClaim(c, old))
		},
		status: func(c, old *core.PersistentVolumeClaim) field.ErrorList {
			return v.ValidatePersistentVolumeClaimStatusUpdate(c, old,
				v.ValidationOptionsForPersistentVolumeClaim(c, old))
		},
		warn: always(pvcutil.GetWarningsForPersistentVolumeClaim)})

var podKeys = &keys[corev1.Pod]{spec: func(p *corev1.Pod) same.Encoded { return &p.Spec },
	status: func(p *corev1.Pod) same.Encoded { return &p.Status }}

var Pod = kind(conv.Convert_v1_Pod_To_core_Pod, podKeys, rules[core.Pod]{
	create: func(p *core.Pod) field.ErrorList { return v.ValidatePodCreate(p, podOptions(p, nil)) },
	update: func(p, old *core.Pod) field.ErrorList { return v.ValidatePodUpdate(p, old, podOptions(p, old)) },
	status: func(p, old *core.Pod) field.ErrorList { return v.ValidatePodStatusUpdate(p, old, podOptions(p, old)) },
	warn: func(p, old *core.Pod) []string {
		if old != nil {
			return nil
		}
		return podutil.GetWarningsForPod(background, p, nil)
	},
	hostnames: podHostname,
	warnStatus: always(func(p *core.Pod) (all []string) {
		status := field.NewPath("status")
		for i, ip := range p.Status.PodIPs {
			all = append(all, utilvalidation.GetWarningsForIP(status.Child("podIPs").Index(i).Child("ip"), ip.IP)...)
		}
		for i, ip := range p.Status.HostIPs {
			all = append(all, utilvalidation.GetWarningsForIP(status.Child("hostIPs").Index(i).Child("ip"), ip.IP)...)
		}
		return all
	})})

var EphemeralContainers = way(conv.Convert_v1_Pod_To_core_Pod, nil, func(p, old *core.Pod) field.ErrorList {
	return v.ValidatePodEphemeralContainersUpdate(p, old, podOptions(p, old))
}, nil)

// PodResize validates a write to the resize subresource.
var PodResize = way(conv.Convert_v1_Pod_To_core_Pod, nil, func(p, old *core.Pod) field.ErrorList {
	return v.ValidatePodResize(p, old, podOptions(p, old))
}, nil)

func podOptions(p, old *core.Pod) v.PodValidationOptions {
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&p.Spec, nil, &p.ObjectMeta, nil)
	if old != nil {
		opts = podutil.GetValidationOptionsFromPodSpecAndMeta(&p.Spec, &old.Spec, &p.ObjectMeta, &old.ObjectMeta)
	}
	opts.ResourceIsPod = true
	return opts
}

var PodTemplate = kind(conv.Convert_v1_PodTemplate_To_core_PodTemplate, nil, templated(field.NewPath("template"),
	func(t *core.PodTemplate) *core.PodTemplateSpec { return &t.Template }, v.ValidatePodTemplate,
	v.ValidatePodTemplateUpdate, rules[core.PodTemplate]{}))

var ReplicationController = kind(conv.Convert_v1_ReplicationController_To_core_ReplicationController, nil,
	templated(nil, func(rc *core.ReplicationController) *core.PodTemplateSpec { return rc.Spec.Template },
		v.ValidateReplicationController, validateReplicationControllerUpdate, rules[core.ReplicationController]{
			status: v.ValidateReplicationControllerStatusUpdate, hostnames: podHostnames,
			warn: func(rc, old *core.ReplicationController) []string {
				switch {
				case old == nil:
					return podutil.GetWarningsForPodTemplate(background, templatePath, rc.Spec.Template, nil)
				case rc.Generation != old.Generation: // the real server also passes the old template first
					return podutil.GetWarningsForPodTemplate(background, templatePath, old.Spec.Template, rc.Spec.Template)
				}
				return nil
			}}))

func validateReplicationControllerUpdate(rc, old *core.ReplicationController,
	opts v.PodValidationOptions) field.ErrorList {
	errs := v.ValidateReplicationControllerUpdate(rc, old, opts)
	for key, value := range helper.NonConvertibleFields(old.Annotations) { //detcheck:ordered inOrder sorts the errors
		_, broken, ok := strings.Cut(key, "/")
		switch {
		case !ok || strings.Contains(broken, "/"):
		case !strings.Contains(broken, "selector"):
			errs = append(errs, &field.Error{Type: field.ErrorTypeNotFound, BadValue: value, Field: broken,
				Detail: "unknown non-convertible field"})
		case !equality.Semantic.DeepEqual(old.Spec.Selector, rc.Spec.Selector):
			errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), rc.Spec.Selector,
				"cannot update non-convertible selector"))
		}
	}
	return errs
}

var ResourceQuota = kind(conv.Convert_v1_ResourceQuota_To_core_ResourceQuota, nil, rules[core.ResourceQuota]{
	create: v.ValidateResourceQuota, update: v.ValidateResourceQuotaUpdate, status: v.ValidateResourceQuotaStatusUpdate,
	warn: func(q, old *core.ResourceQuota) (all []string) {
		if old != nil {
			return nil
		}
		for _, name := range [...]core.ResourceName{core.ResourceCPU, core.ResourceMemory, core.ResourceStorage,
			core.ResourceEphemeralStorage} {
			hard := q.Spec.Hard
			asked, most := "requests."+name, "limits."+name
			request, ok := hard[asked]
			if !ok && (name == core.ResourceCPU || name == core.ResourceMemory) {
				if request, ok = hard[name]; ok {
					asked = name
				}
			}
			if limit, limited := hard[most]; ok && limited && request.Cmp(limit) > 0 {
				all = append(all, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", asked,
					request.String(), most, limit.String()))
			}
		}
		return all
	}})

var Secret = kind(conv.Convert_v1_Secret_To_core_Secret, nil, rules[core.Secret]{
	create: v.ValidateSecret, update: v.ValidateSecretUpdate,
	warn: always(func(s *core.Secret) []string {
		if s.Type == core.SecretTypeTLS {
			if _, err := tls.X509KeyPair(s.Data[core.TLSCertKey], s.Data[core.TLSPrivateKeyKey]); err != nil {
				return []string{err.Error()}
			}
		}
		return nil
	})})

var Service = kind(conv.Convert_v1_Service_To_core_Service, nil, rules[core.Service]{
	create: v.ValidateServiceCreate, update: v.ValidateServiceUpdate, status: v.ValidateServiceStatusUpdate,
	warn: serviceutil.GetWarningsForService,
	warnStatus: always(func(s *core.Service) (all []string) {
		for i, in := range s.Status.LoadBalancer.Ingress {
			all = append(all, warnIngressIP(i, in.IP)...)
		}
		return all
	})})

// ServiceAddresses returns an error if a Service cannot get a cluster IP, because its fields are invalid or its IP
// family is not IPv4.
func ServiceAddresses(obj, old runtime.Object) field.ErrorList {
	errs, _ := serviceAddresses(obj, old, false)
	return errs
}

var serviceAddresses = way(conv.Convert_v1_Service_To_core_Service, nil, func(s, old *core.Service) field.ErrorList {
	if s.Spec.Type == core.ServiceTypeExternalName {
		return nil
	}
	if errs := v.ValidateServiceClusterIPsRelatedFields(s, old); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	path, policy := field.NewPath("spec", "ipFamilyPolicy"), s.Spec.IPFamilyPolicy
	if policy != nil && *policy == core.IPFamilyPolicySingleStack {
		const must = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
		if len(s.Spec.ClusterIPs) == 2 {
			errs = append(errs, field.Invalid(path, policy, must+"cluster IPs are specified"))
		}
		if len(s.Spec.IPFamilies) == 2 {
			errs = append(errs, field.Invalid(path, policy, must+"IP families are specified"))
		}
	}
	headless := len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == core.ClusterIPNone
	if len(errs) > 0 || headless && len(s.Spec.Selector) == 0 {
		return errs
	}
	if policy != nil && *policy == core.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(path, policy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range s.Spec.IPFamilies {
		if family == core.IPv6Protocol {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), family,
				"not configured on this cluster"))
		}
	}
	return errs
}, nil)

func warnIngressIP(i int, ip string) []string {
	if ip == "" {
		return nil
	}
	return utilvalidation.GetWarningsForIP(field.NewPath("status", "loadBalancer", "ingress").Index(i), ip)
}

var ServiceAccount = kind(conv.Convert_v1_ServiceAccount_To_core_ServiceAccount, nil, rules[core.ServiceAccount]{
	create: v.ValidateServiceAccount, update: v.ValidateServiceAccountUpdate,
	warn: func(a, old *core.ServiceAccount) []string {
		const mountable = "kubernetes.io/enforce-mountable-secrets"
		if _, ok := a.Annotations[mountable]; !ok {
			return nil
		}
		if old != nil {
			if _, ok := old.Annotations[mountable]; ok {
				return nil
			}
		}
		return []string{"metadata.annotations[" + mountable + "]: deprecated in v1.32+; prefer separate namespaces " +
			"to isolate access to mounted secrets"}
	}})
