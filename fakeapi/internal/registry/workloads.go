package registry

import (
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var daemonSets = kind[appsv1.DaemonSet, appsv1.DaemonSetList](appsv1.SchemeGroupVersion, validation.DaemonSet, &Kind{
	Counts: "Spec", Default: On(defaultDaemonSet), Judged: readGeneration,
	PrepareCreate: On(func(d *appsv1.DaemonSet) { setTemplateGeneration(d, max(templateGeneration(d), 1)) }),
	Main: Update{Prepare: Over(func(d, old *appsv1.DaemonSet) {
		n := templateGeneration(old)
		if !same.Value(&d.Spec.Template, &old.Spec.Template) {
			n++
		}
		setTemplateGeneration(d, n)
	})},
	ForStatus: Update{Prepare: Over(func(d, old *appsv1.DaemonSet) {
		setTemplateGeneration(d, templateGeneration(old))
	})},
})

func readGeneration(obj runtime.Object) error {
	text, ok := obj.(*appsv1.DaemonSet).Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok {
		return nil
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return err
}

func setTemplateGeneration(d *appsv1.DaemonSet, n int64) {
	text := strconv.FormatInt(n, 10)
	if d.Annotations[appsv1.DeprecatedTemplateGeneration] == text {
		return
	}
	annotations := copyMap(d.Annotations)
	annotations[appsv1.DeprecatedTemplateGeneration] = text
	d.Annotations = annotations
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	appsdefaults.SetObjectDefaults_DaemonSet(d)
	setTemplateGeneration(d, templateGeneration(d))
	settlePodSpec(&d.Spec.Template.Spec)
}

var controllerRevisions = kind[appsv1.ControllerRevision, appsv1.ControllerRevisionList](appsv1.SchemeGroupVersion,
	validation.ControllerRevision, &Kind{})

// templateGeneration reads the annotation: the API has no field for it.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

var deployments = kind[appsv1.Deployment, appsv1.DeploymentList](appsv1.SchemeGroupVersion, validation.Deployment,
	&Kind{
		Counts: "Spec", Judged: readRollback, Default: On(func(d *appsv1.Deployment) {
			appsdefaults.SetObjectDefaults_Deployment(d)
			settlePodSpec(&d.Spec.Template.Spec)
		}),
		Main: Update{Prepare: Over(func(d, old *appsv1.Deployment) {
			if !maps.Equal(d.Annotations, old.Annotations) {
				d.Generation = old.Generation + 1
			}
		})},
		ForStatus:     Update{Prepare: Over(func(d, old *appsv1.Deployment) { d.Labels = old.Labels })},
		ResetByStatus: [][]any{{"metadata", "labels"}},
		Scale: scaled(func(d *appsv1.Deployment) (**int32, int32, *metav1.LabelSelector) {
			return &d.Spec.Replicas, d.Status.Replicas, d.Spec.Selector
		}),
	})

func readRollback(obj runtime.Object) error {
	text := obj.(*appsv1.Deployment).Annotations[appsv1.DeprecatedRollbackTo]
	if _, err := strconv.ParseInt(text, 10, 64); text != "" && err != nil {
		return fmt.Errorf("failed to parse annotation[%s]=%s as int64: %v", appsv1.DeprecatedRollbackTo, text, err)
	}
	return nil
}

var replicaSets = kind[appsv1.ReplicaSet, appsv1.ReplicaSetList](appsv1.SchemeGroupVersion, validation.ReplicaSet,
	&Kind{
		Counts: "Spec", Default: On(func(rs *appsv1.ReplicaSet) {
			appsdefaults.SetObjectDefaults_ReplicaSet(rs)
			settlePodSpec(&rs.Spec.Template.Spec)
		}),
		Scale: scaled(func(rs *appsv1.ReplicaSet) (**int32, int32, *metav1.LabelSelector) {
			return &rs.Spec.Replicas, rs.Status.Replicas, rs.Spec.Selector
		}),
	})

var replicationControllers = kind[corev1.ReplicationController, corev1.ReplicationControllerList](
	corev1.SchemeGroupVersion, validation.ReplicationController, &Kind{
		Counts: "Spec", OrphanByDefault: true, Prefix: "controllers",
		Default: On(func(rc *corev1.ReplicationController) {
			coredefaults.SetObjectDefaults_ReplicationController(rc)
			if rc.Spec.Template != nil {
				settlePodSpec(&rc.Spec.Template.Spec)
			}
		}),
		Scale: scaled(func(rc *corev1.ReplicationController) (**int32, int32, *metav1.LabelSelector) {
			return &rc.Spec.Replicas, rc.Status.Replicas, &metav1.LabelSelector{MatchLabels: rc.Spec.Selector}
		}),
		SelectableKeys: []string{"status.replicas"},
		Selectable: selects(func(rc *corev1.ReplicationController, set fields.Set) {
			set["status.replicas"] = strconv.Itoa(int(rc.Status.Replicas))
		}),
	})

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	maps.Copy(c, m)
	return c
}

var statefulSets = kind[appsv1.StatefulSet, appsv1.StatefulSetList](appsv1.SchemeGroupVersion, validation.StatefulSet,
	&Kind{
		Counts: "Spec", Default: On(defaultStatefulSet), PrepareCreate: On(dropMaxUnavailable),
		Main: Update{Prepare: Over(func(s, _ *appsv1.StatefulSet) { dropMaxUnavailable(s) }), Keeps: true},
		Scale: scaled(func(s *appsv1.StatefulSet) (**int32, int32, *metav1.LabelSelector) {
			return &s.Spec.Replicas, s.Status.Replicas, s.Spec.Selector
		}),
	})

func dropMaxUnavailable(s *appsv1.StatefulSet) {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		kept := *r
		kept.MaxUnavailable = nil
		s.Spec.UpdateStrategy.RollingUpdate = &kept
	}
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	appsdefaults.SetObjectDefaults_StatefulSet(s)
	settlePodSpec(&s.Spec.Template.Spec)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
	}
}
