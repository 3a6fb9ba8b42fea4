package httpapi

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type column = metav1.TableColumnDefinition

var (
	metaDocs   = metav1.ObjectMeta{}.SwaggerDoc()
	nameColumn = column{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]}
	ageColumn  = text("Age", metaDocs["creationTimestamp"])

	// What a workload's template holds, in wide tables.
	containersColumn = wide("Containers", "Names of each container in the template.")
	imagesColumn     = wide("Images", "Images referenced by each container in the template.")
)

func text(name, description string) column {
	return column{Name: name, Type: "string", Description: description}
}

func number(name, description string) column {
	return column{Name: name, Type: "integer", Description: description}
}

// wide is a column that kubectl shows with -o wide only.
func wide(name, description string) column {
	return column{Name: name, Type: "string", Priority: 1, Description: description}
}

var (
	podSpec      = corev1.PodSpec{}.SwaggerDoc()
	podStatus    = corev1.PodStatus{}.SwaggerDoc()
	rcSpec       = corev1.ReplicationControllerSpec{}.SwaggerDoc()
	rcStatus     = corev1.ReplicationControllerStatus{}.SwaggerDoc()
	rsSpec       = appsv1.ReplicaSetSpec{}.SwaggerDoc()
	rsStatus     = appsv1.ReplicaSetStatus{}.SwaggerDoc()
	dsSpec       = appsv1.DaemonSetSpec{}.SwaggerDoc()
	dsStatus     = appsv1.DaemonSetStatus{}.SwaggerDoc()
	deploySpec   = appsv1.DeploymentSpec{}.SwaggerDoc()
	deployStatus = appsv1.DeploymentStatus{}.SwaggerDoc()
	revision     = appsv1.ControllerRevision{}.SwaggerDoc()
	jobSpec      = batchv1.JobSpec{}.SwaggerDoc()
	jobStatus    = batchv1.JobStatus{}.SwaggerDoc()
	cronSpec     = batchv1.CronJobSpec{}.SwaggerDoc()
	cronStatus   = batchv1.CronJobStatus{}.SwaggerDoc()
	serviceSpec  = corev1.ServiceSpec{}.SwaggerDoc()
	nodeStatus   = corev1.NodeStatus{}.SwaggerDoc()
	nodeInfo     = corev1.NodeSystemInfo{}.SwaggerDoc()
	event        = corev1.Event{}.SwaggerDoc()
	reference    = corev1.ObjectReference{}.SwaggerDoc()
	claimSpec    = corev1.PersistentVolumeClaimSpec{}.SwaggerDoc()
	claimStatus  = corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	hpaSpec      = autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()
	hpaStatus    = autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
	slice        = discoveryv1.EndpointSlice{}.SwaggerDoc()
)

// printers are the printers of the built-in kinds, by Go type.
var printers = map[reflect.Type]*printer{
	reflect.TypeFor[*corev1.Pod](): podPrinter(),
	reflect.TypeFor[*corev1.ReplicationController](): prints(replicationControllerCells, nameColumn, number("Desired", rcSpec["replicas"]), number("Current", rcStatus["replicas"]),
		number("Ready", rcStatus["readyReplicas"]), ageColumn, containersColumn, imagesColumn, wide("Selector", rcSpec["selector"])),
	reflect.TypeFor[*appsv1.ReplicaSet](): prints(replicaSetCells, nameColumn, number("Desired", rsSpec["replicas"]), number("Current", rsStatus["replicas"]),
		number("Ready", rsStatus["readyReplicas"]), ageColumn, containersColumn, imagesColumn, wide("Selector", rsSpec["selector"])),
	reflect.TypeFor[*appsv1.Deployment](): prints(deploymentCells, nameColumn, text("Ready", "Number of the pod with ready state"), text("Up-to-date", deployStatus["updatedReplicas"]),
		text("Available", deployStatus["availableReplicas"]), ageColumn, containersColumn, imagesColumn, wide("Selector", deploySpec["selector"])),
	reflect.TypeFor[*appsv1.StatefulSet](): prints(statefulSetCells, nameColumn, text("Ready", "Number of the pod with ready state"), ageColumn, containersColumn, imagesColumn),
	reflect.TypeFor[*appsv1.DaemonSet](): prints(daemonSetCells, nameColumn, number("Desired", dsStatus["desiredNumberScheduled"]), number("Current", dsStatus["currentNumberScheduled"]),
		number("Ready", dsStatus["numberReady"]), number("Up-to-date", dsStatus["updatedNumberScheduled"]), number("Available", dsStatus["numberAvailable"]),
		text("Node Selector", podSpec["nodeSelector"]), ageColumn, containersColumn, imagesColumn, wide("Selector", dsSpec["selector"])),
	reflect.TypeFor[*appsv1.ControllerRevision](): prints(controllerRevisionCells, nameColumn, text("Controller", "Controller of the object"), text("Revision", revision["revision"]), ageColumn),
	reflect.TypeFor[*batchv1.Job](): prints(jobCells, nameColumn, text("Status", "Status of the job."), text("Completions", jobStatus["succeeded"]),
		text("Duration", "Time required to complete the job."), ageColumn, containersColumn, imagesColumn, wide("Selector", jobSpec["selector"])),
	reflect.TypeFor[*batchv1.CronJob](): prints(cronJobCells, nameColumn, text("Schedule", cronSpec["schedule"]), text("Timezone", cronSpec["timeZone"]),
		column{Name: "Suspend", Type: "boolean", Description: cronSpec["suspend"]}, number("Active", cronStatus["active"]),
		text("Last Schedule", cronStatus["lastScheduleTime"]), ageColumn, containersColumn, imagesColumn, wide("Selector", jobSpec["selector"])),
	reflect.TypeFor[*corev1.Service](): prints(serviceCells, nameColumn, text("Type", serviceSpec["type"]), text("Cluster-IP", serviceSpec["clusterIP"]),
		text("External-IP", serviceSpec["externalIPs"]), text("Port(s)", serviceSpec["ports"]), ageColumn, wide("Selector", serviceSpec["selector"])),
	reflect.TypeFor[*corev1.Endpoints](): prints(endpointsCells, nameColumn, text("Endpoints", corev1.Endpoints{}.SwaggerDoc()["subsets"]), ageColumn),
	reflect.TypeFor[*discoveryv1.EndpointSlice](): prints(endpointSliceCells, nameColumn, text("AddressType", slice["addressType"]), text("Ports", slice["ports"]),
		text("Endpoints", slice["endpoints"]), ageColumn),
	reflect.TypeFor[*corev1.Node](): prints(nodeCells, nameColumn, text("Status", "The status of the node"), text("Roles", "The roles of the node"), ageColumn,
		text("Version", nodeInfo["kubeletVersion"]), wide("Internal-IP", nodeStatus["addresses"]), wide("External-IP", nodeStatus["addresses"]),
		wide("OS-Image", nodeInfo["osImage"]), wide("Kernel-Version", nodeInfo["kernelVersion"]), wide("Container-Runtime", nodeInfo["containerRuntimeVersion"])),
	reflect.TypeFor[*corev1.Namespace](): prints(namespaceCells, nameColumn, text("Status", "The status of the namespace"), ageColumn),
	reflect.TypeFor[*corev1.Event](): prints(eventCells, text("Last Seen", event["lastTimestamp"]), text("Type", event["type"]), text("Reason", event["reason"]),
		text("Object", event["involvedObject"]), wide("Subobject", reference["fieldPath"]), wide("Source", event["source"]),
		text("Message", event["message"]), wide("First Seen", event["firstTimestamp"]), wide("Count", event["count"]),
		column{Name: "Name", Type: "string", Priority: 1, Format: "name", Description: metaDocs["name"]}),
	reflect.TypeFor[*corev1.ConfigMap]():      prints(configMapCells, nameColumn, text("Data", corev1.ConfigMap{}.SwaggerDoc()["data"]), ageColumn),
	reflect.TypeFor[*corev1.Secret]():         prints(secretCells, nameColumn, text("Type", corev1.Secret{}.SwaggerDoc()["type"]), text("Data", corev1.Secret{}.SwaggerDoc()["data"]), ageColumn),
	reflect.TypeFor[*corev1.ServiceAccount](): prints(serviceAccountCells, nameColumn, ageColumn),
	reflect.TypeFor[*corev1.PersistentVolumeClaim](): prints(claimCells, nameColumn, text("Status", claimStatus["phase"]), text("Volume", claimSpec["volumeName"]), text("Capacity", claimStatus["capacity"]),
		text("Access Modes", claimStatus["accessModes"]), text("StorageClass", "StorageClass of the pvc"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"), ageColumn, wide("VolumeMode", claimSpec["volumeMode"])),
	reflect.TypeFor[*corev1.ResourceQuota](): prints(quotaCells, nameColumn, text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
		text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."), ageColumn),
	reflect.TypeFor[*policyv1.PodDisruptionBudget](): prints(disruptionBudgetCells, nameColumn, text("Min Available", "The minimum number of pods that must be available."),
		text("Max Unavailable", "The maximum number of pods that may be unavailable."),
		number("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."), ageColumn),
	reflect.TypeFor[*coordinationv1.Lease]():                  prints(leaseCells, nameColumn, text("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]), ageColumn),
	reflect.TypeFor[*autoscalingv1.HorizontalPodAutoscaler](): prints(autoscalerV1Cells, autoscalerColumns...),
	reflect.TypeFor[*autoscalingv2.HorizontalPodAutoscaler](): prints(autoscalerCells, autoscalerColumns...),
	reflect.TypeFor[*autoscalingv1.Scale](): prints(scaleCells, text("Name", metaDocs["name"]), number("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		number("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]), ageColumn),
}

var autoscalerColumns = []column{nameColumn, text("Reference", hpaSpec["scaleTargetRef"]), text("Targets", hpaSpec["metrics"]),
	text("MinPods", hpaSpec["minReplicas"]), text("MaxPods", hpaSpec["maxReplicas"]), text("Replicas", hpaStatus["currentReplicas"]), ageColumn}
