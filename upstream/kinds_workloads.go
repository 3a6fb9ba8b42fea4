package upstream

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
)

// The kinds of apps, batch, autoscaling and policy.
func workloadsKinds() []*strategy {
	return []*strategy{
		of(appsv1.SchemeGroupVersion, "ControllerRevision", controllerrevision.Strategy),
		of(appsv1.SchemeGroupVersion, "DaemonSet", daemonset.Strategy).through("status", daemonset.StatusStrategy),
		of(appsv1.SchemeGroupVersion, "Deployment", deployment.Strategy).
			through("status", deployment.StatusStrategy),
		of(appsv1.SchemeGroupVersion, "ReplicaSet", replicaset.Strategy).
			through("status", replicaset.StatusStrategy),
		of(appsv1.SchemeGroupVersion, "StatefulSet", statefulset.Strategy).
			through("status", statefulset.StatusStrategy),
		of(autoscalingv2.SchemeGroupVersion, "HorizontalPodAutoscaler", horizontalpodautoscaler.Strategy).
			through("status", horizontalpodautoscaler.StatusStrategy),
		of(autoscalingv1.SchemeGroupVersion, "HorizontalPodAutoscaler", horizontalpodautoscaler.Strategy).
			through("status", horizontalpodautoscaler.StatusStrategy),
		of(batchv1.SchemeGroupVersion, "CronJob", cronjob.Strategy).through("status", cronjob.StatusStrategy),
		of(batchv1.SchemeGroupVersion, "Job", job.Strategy).through("status", job.StatusStrategy),
		of(policyv1.SchemeGroupVersion, "PodDisruptionBudget", poddisruptionbudget.Strategy).
			through("status", poddisruptionbudget.StatusStrategy),
	}
}
