package table

import (
	"reflect"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

// printers are the printers of the built-in kinds, by Go type.
var printers = map[reflect.Type]*printer{
	reflect.TypeFor[*corev1.ConfigMap]():                      configMaps,
	reflect.TypeFor[*corev1.Endpoints]():                      endpoints,
	reflect.TypeFor[*corev1.Event]():                          events,
	reflect.TypeFor[*corev1.Namespace]():                      namespaces,
	reflect.TypeFor[*corev1.Node]():                           nodes,
	reflect.TypeFor[*corev1.PersistentVolumeClaim]():          claims,
	reflect.TypeFor[*corev1.Pod]():                            pods,
	reflect.TypeFor[*corev1.ReplicationController]():          replicationControllers,
	reflect.TypeFor[*corev1.ResourceQuota]():                  quotas,
	reflect.TypeFor[*corev1.Secret]():                         secrets,
	reflect.TypeFor[*corev1.Service]():                        services,
	reflect.TypeFor[*corev1.ServiceAccount]():                 serviceAccounts,
	reflect.TypeFor[*appsv1.ControllerRevision]():             controllerRevisions,
	reflect.TypeFor[*appsv1.DaemonSet]():                      daemonSets,
	reflect.TypeFor[*appsv1.Deployment]():                     deployments,
	reflect.TypeFor[*appsv1.ReplicaSet]():                     replicaSets,
	reflect.TypeFor[*appsv1.StatefulSet]():                    statefulSets,
	reflect.TypeFor[*autoscalingv1.HorizontalPodAutoscaler](): autoscalersV1,
	reflect.TypeFor[*autoscalingv1.Scale]():                   scales,
	reflect.TypeFor[*autoscalingv2.HorizontalPodAutoscaler](): autoscalers,
	reflect.TypeFor[*batchv1.CronJob]():                       cronJobs,
	reflect.TypeFor[*batchv1.Job]():                           jobs,
	reflect.TypeFor[*coordinationv1.Lease]():                  leases,
	reflect.TypeFor[*discoveryv1.EndpointSlice]():             endpointSlices,
	reflect.TypeFor[*policyv1.PodDisruptionBudget]():          disruptionBudgets,

	reflect.TypeFor[*corev1.PersistentVolume]():                    persistentVolumes,
	reflect.TypeFor[*networkingv1.Ingress]():                       ingresses,
	reflect.TypeFor[*networkingv1.IngressClass]():                  ingressClasses,
	reflect.TypeFor[*networkingv1.NetworkPolicy]():                 networkPolicies,
	reflect.TypeFor[*rbacv1.RoleBinding]():                         roleBindings,
	reflect.TypeFor[*rbacv1.ClusterRoleBinding]():                  clusterRoleBindings,
	reflect.TypeFor[*certificatesv1.CertificateSigningRequest]():   certificateRequests,
	reflect.TypeFor[*storagev1.StorageClass]():                     storageClasses,
	reflect.TypeFor[*storagev1.CSIDriver]():                        csiDrivers,
	reflect.TypeFor[*storagev1.CSINode]():                          csiNodes,
	reflect.TypeFor[*schedulingv1.PriorityClass]():                 priorityClasses,
	reflect.TypeFor[*nodev1.RuntimeClass]():                        runtimeClasses,
	reflect.TypeFor[*admissionv1.ValidatingWebhookConfiguration](): validatingWebhooks,
	reflect.TypeFor[*admissionv1.MutatingWebhookConfiguration]():   mutatingWebhooks,

	reflect.TypeFor[*corev1.PodTemplate]():                           podTemplates,
	reflect.TypeFor[*eventsv1.Event]():                               newEvents,
	reflect.TypeFor[*networkingv1.IPAddress]():                       ipAddresses,
	reflect.TypeFor[*networkingv1.ServiceCIDR]():                     serviceCIDRs,
	reflect.TypeFor[*storagev1.VolumeAttachment]():                   attachments,
	reflect.TypeFor[*storagev1.VolumeAttributesClass]():              attributesClasses,
	reflect.TypeFor[*resourcev1.DeviceClass]():                       deviceClasses,
	reflect.TypeFor[*resourcev1.ResourceClaim]():                     resourceClaims,
	reflect.TypeFor[*resourcev1.ResourceClaimTemplate]():             resourceClaimTemplates,
	reflect.TypeFor[*resourcev1.ResourceSlice]():                     resourceSlices,
	reflect.TypeFor[*flowcontrolv1.FlowSchema]():                     flowSchemas,
	reflect.TypeFor[*flowcontrolv1.PriorityLevelConfiguration]():     priorityLevels,
	reflect.TypeFor[*admissionv1.ValidatingAdmissionPolicy]():        validatingPolicies,
	reflect.TypeFor[*admissionv1.ValidatingAdmissionPolicyBinding](): validatingBindings,
	reflect.TypeFor[*admissionv1.MutatingAdmissionPolicy]():          mutatingPolicies,
	reflect.TypeFor[*admissionv1.MutatingAdmissionPolicyBinding]():   mutatingBindings,
	reflect.TypeFor[*apiregistrationv1.APIService]():                 apiServices,
}

// plain shows what every object has: its name and when it was made.
var plain = &printer{
	columns: []column{nameColumn, {Name: "Created At", Type: "date", Description: metaDocs["creationTimestamp"]}},
	cells: func(obj runtime.Object, _ time.Time) []any {
		m := obj.(metav1.Object)
		return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
	},
}

// printerFor is the printer for the objects of a kind.
func printerFor(k *fakeapi.Kind) *printer {
	if _, version := k.Definition(); version != nil {
		return custom(version.AdditionalPrinterColumns)
	}
	return printerOf(k.New())
}

// printerOf is the printer for objects of a Go type.
func printerOf(obj runtime.Object) *printer {
	if p := printers[reflect.TypeOf(obj)]; p != nil {
		return p
	}
	return plain
}
