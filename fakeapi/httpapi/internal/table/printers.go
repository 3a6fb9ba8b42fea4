package table

import (
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
