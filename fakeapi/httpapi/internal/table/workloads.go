package table

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	rcSpec       = corev1.ReplicationControllerSpec{}.SwaggerDoc()
	rcStatus     = corev1.ReplicationControllerStatus{}.SwaggerDoc()
	rsSpec       = appsv1.ReplicaSetSpec{}.SwaggerDoc()
	rsStatus     = appsv1.ReplicaSetStatus{}.SwaggerDoc()
	dsSpec       = appsv1.DaemonSetSpec{}.SwaggerDoc()
	dsStatus     = appsv1.DaemonSetStatus{}.SwaggerDoc()
	deploySpec   = appsv1.DeploymentSpec{}.SwaggerDoc()
	deployStatus = appsv1.DeploymentStatus{}.SwaggerDoc()

	// What a workload's template holds, in wide tables.
	containersColumn = wide("Containers", "Names of each container in the template.")
	imagesColumn     = wide("Images", "Images referenced by each container in the template.")
)

var (
	replicationControllers = prints(replicationControllerCells, nameColumn, number("Desired", rcSpec["replicas"]),
		number("Current", rcStatus["replicas"]), number("Ready", rcStatus["readyReplicas"]), ageColumn,
		containersColumn, imagesColumn, wide("Selector", rcSpec["selector"]))
	replicaSets = prints(replicaSetCells, nameColumn, number("Desired", rsSpec["replicas"]),
		number("Current", rsStatus["replicas"]), number("Ready", rsStatus["readyReplicas"]), ageColumn,
		containersColumn, imagesColumn, wide("Selector", rsSpec["selector"]))
	deployments = prints(deploymentCells, nameColumn, text("Ready", "Number of the pod with ready state"),
		text("Up-to-date", deployStatus["updatedReplicas"]), text("Available", deployStatus["availableReplicas"]),
		ageColumn, containersColumn, imagesColumn, wide("Selector", deploySpec["selector"]))
	statefulSets = prints(statefulSetCells, nameColumn, text("Ready", "Number of the pod with ready state"), ageColumn,
		containersColumn, imagesColumn)
	daemonSets = prints(daemonSetCells, nameColumn, number("Desired", dsStatus["desiredNumberScheduled"]),
		number("Current", dsStatus["currentNumberScheduled"]), number("Ready", dsStatus["numberReady"]),
		number("Up-to-date", dsStatus["updatedNumberScheduled"]), number("Available", dsStatus["numberAvailable"]),
		text("Node Selector", podSpec["nodeSelector"]), ageColumn,
		containersColumn, imagesColumn, wide("Selector", dsSpec["selector"]))
	controllerRevisions = prints(controllerRevisionCells, nameColumn, text("Controller", "Controller of the object"),
		text("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]), ageColumn)
	podTemplates = prints(func(o *corev1.PodTemplate, _ time.Time) []any {
		names, images := containers(o.Template.Spec.Containers)
		return []any{o.Name, names, images, labels.FormatLabels(o.Template.Labels)}
	}, nameColumn, text("Containers", containersColumn.Description), text("Images", imagesColumn.Description),
		text("Pod Labels", "The labels for the pod template."))
	scales = prints(scaleCells, text("Name", metaDocs["name"]),
		number("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		number("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]), ageColumn)
)

func replicationControllerCells(o *corev1.ReplicationController, now time.Time) []any {
	names, images := "", ""
	if o.Spec.Template != nil {
		names, images = containers(o.Spec.Template.Spec.Containers)
	}
	return []any{o.Name, deref(o.Spec.Replicas), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas),
		since(o.CreationTimestamp, now), names, images, labels.FormatLabels(o.Spec.Selector)}
}

func replicaSetCells(o *appsv1.ReplicaSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	return []any{o.Name, deref(o.Spec.Replicas), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas),
		since(o.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func deploymentCells(o *appsv1.Deployment, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, deref(o.Spec.Replicas)),
		int64(o.Status.UpdatedReplicas), int64(o.Status.AvailableReplicas), since(o.CreationTimestamp, now),
		names, images, selector}
}

func statefulSetCells(o *appsv1.StatefulSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	return []any{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, deref(o.Spec.Replicas)),
		since(o.CreationTimestamp, now), names, images}
}

func daemonSetCells(o *appsv1.DaemonSet, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	s := &o.Status
	return []any{o.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady),
		int64(s.UpdatedNumberScheduled), int64(s.NumberAvailable),
		labels.FormatLabels(o.Spec.Template.Spec.NodeSelector), since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

// containers lists a template's containers and their images.
func containers(list []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range list {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func deref(n *int32) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

func controllerRevisionCells(o *appsv1.ControllerRevision, now time.Time) []any {
	controller := "<none>"
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		gv, _ := schema.ParseGroupVersion(ref.APIVersion)
		controller = strings.ToLower(gv.WithKind(ref.Kind).GroupKind().String()) + "/" + ref.Name
	}
	return []any{o.Name, controller, o.Revision, since(o.CreationTimestamp, now)}
}

func scaleCells(o *autoscalingv1.Scale, now time.Time) []any {
	return []any{o.Name, int64(o.Spec.Replicas), int64(o.Status.Replicas), since(o.CreationTimestamp, now)}
}
