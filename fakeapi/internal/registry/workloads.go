package registry

import (
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var daemonSets = goType[appsv1.DaemonSet, appsv1.DaemonSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), Resource: "daemonsets", Singular: "daemonset",
	ShortNames: []string{"ds"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultDaemonSet), Judged: readGeneration,
	strategy: strategy{
		PrepareCreate: On(func(d *appsv1.DaemonSet) {
			d.Status, d.Generation = appsv1.DaemonSetStatus{}, 1
			setTemplateGeneration(d, max(templateGeneration(d), 1))
		}),
		Create: validation.DaemonSet.Create,
		Main: Update{
			Prepare: Over(prepareDaemonSet),
			Judge:   validation.DaemonSet.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(d, old *appsv1.DaemonSet) {
				d.Spec = old.Spec
				setTemplateGeneration(d, templateGeneration(old))
			}),
			Judge: validation.DaemonSet.Status,
		},
	},
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

func prepareDaemonSet(d, old *appsv1.DaemonSet) {
	d.Status = old.Status
	n := templateGeneration(old)
	switch {
	case !same.Value(&d.Spec.Template, &old.Spec.Template):
		n++
		d.Generation = old.Generation + 1
	case !same.Value(&d.Spec, &old.Spec):
		d.Generation = old.Generation + 1
	}
	setTemplateGeneration(d, n)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	appsdefaults.SetObjectDefaults_DaemonSet(d)
	setTemplateGeneration(d, templateGeneration(d))
	settleTemplate(&d.Spec.Template)
}

var controllerRevisions = goType[appsv1.ControllerRevision, appsv1.ControllerRevisionList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), Resource: "controllerrevisions",
	Singular:   "controllerrevision",
	Namespaced: true,
	strategy: strategy{
		Create: validation.ControllerRevision.Create,
		Main:   Update{Judge: validation.ControllerRevision.Update},
	},
})

// templateGeneration reads the annotation: the API has no field for it.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

var deployments = goType[appsv1.Deployment, appsv1.DeploymentList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments", Singular: "deployment",
	ShortNames: []string{"deploy"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultDeployment), Judged: readRollback,
	strategy: strategy{
		PrepareCreate: On(func(d *appsv1.Deployment) {
			d.Status, d.Generation = appsv1.DeploymentStatus{}, 1
		}),
		Create: validation.Deployment.Create,
		Main: Update{
			Prepare: Over(func(d, old *appsv1.Deployment) {
				d.Status = old.Status
				if !same.Value(&d.Spec, &old.Spec) || !maps.Equal(d.Annotations, old.Annotations) {
					d.Generation = old.Generation + 1
				}
			}),
			Judge: validation.Deployment.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(d, old *appsv1.Deployment) { d.Spec, d.Labels = old.Spec, old.Labels }),
			Judge:   validation.Deployment.Status,
		},
		ResetByStatus: [][]string{{"metadata", "labels"}},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				d := obj.(*appsv1.Deployment)
				return *d.Spec.Replicas, d.Status.Replicas, selectorText(d.Spec.Selector)
			},
			Write: func(obj runtime.Object, want int32) { obj.(*appsv1.Deployment).Spec.Replicas = &want },
		},
	},
})

func defaultDeployment(d *appsv1.Deployment) {
	appsdefaults.SetObjectDefaults_Deployment(d)
	settleTemplate(&d.Spec.Template)
}

func readRollback(obj runtime.Object) error {
	text := obj.(*appsv1.Deployment).Annotations[appsv1.DeprecatedRollbackTo]
	if _, err := strconv.ParseInt(text, 10, 64); text != "" && err != nil {
		return fmt.Errorf("failed to parse annotation[%s]=%s as int64: %v", appsv1.DeprecatedRollbackTo, text, err)
	}
	return nil
}

var replicaSets = goType[appsv1.ReplicaSet, appsv1.ReplicaSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Resource: "replicasets", Singular: "replicaset",
	ShortNames: []string{"rs"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultReplicaSet),
	strategy: strategy{
		PrepareCreate: On(func(rs *appsv1.ReplicaSet) {
			rs.Status, rs.Generation = appsv1.ReplicaSetStatus{}, 1
		}),
		Create: validation.ReplicaSet.Create,
		Main: Update{
			Prepare: Over(func(rs, old *appsv1.ReplicaSet) {
				rs.Status = old.Status
				if !same.Value(&rs.Spec, &old.Spec) {
					rs.Generation = old.Generation + 1
				}
			}),
			Judge: validation.ReplicaSet.Update, Keeps: true,
		},
		ForStatus: Update{
			Prepare: Over(func(rs, old *appsv1.ReplicaSet) { rs.Spec = old.Spec }),
			Judge:   validation.ReplicaSet.Status, Keeps: true,
		},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				rs := obj.(*appsv1.ReplicaSet)
				return *rs.Spec.Replicas, rs.Status.Replicas, selectorText(rs.Spec.Selector)
			},
			Write: func(obj runtime.Object, want int32) { obj.(*appsv1.ReplicaSet).Spec.Replicas = &want },
		},
	},
})

func defaultReplicaSet(rs *appsv1.ReplicaSet) {
	appsdefaults.SetObjectDefaults_ReplicaSet(rs)
	settleTemplate(&rs.Spec.Template)
}

var replicationControllers = goType[corev1.ReplicationController, corev1.ReplicationControllerList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("ReplicationController"),
	Resource: "replicationcontrollers", Singular: "replicationcontroller", ShortNames: []string{"rc"},
	Categories: []string{"all"},
	Namespaced: true, Status: true, OrphanByDefault: true, Default: On(defaultReplicationController),
	strategy: strategy{
		Prefix: "controllers",
		PrepareCreate: On(func(rc *corev1.ReplicationController) {
			rc.Status, rc.Generation = corev1.ReplicationControllerStatus{}, 1
		}),
		Create: validation.ReplicationController.Create,
		Main: Update{
			Prepare: Over(func(rc, old *corev1.ReplicationController) {
				rc.Status = old.Status
				if !same.Value(&rc.Spec, &old.Spec) {
					rc.Generation = old.Generation + 1
				}
			}),
			Judge: validation.ReplicationController.Update, Keeps: true,
			// The real server looks at the template that was.
		},
		ForStatus: Update{
			Prepare: Over(func(rc, old *corev1.ReplicationController) { rc.Spec = old.Spec }),
			Judge:   validation.ReplicationController.Status, Keeps: true,
		},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				rc := obj.(*corev1.ReplicationController)
				return *rc.Spec.Replicas, rc.Status.Replicas, labels.Set(rc.Spec.Selector).AsSelector().String()
			},
			Write: func(obj runtime.Object, want int32) { obj.(*corev1.ReplicationController).Spec.Replicas = &want },
		},
		SelectableKeys: []string{"status.replicas"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["status.replicas"] = strconv.Itoa(int(obj.(*corev1.ReplicationController).Status.Replicas))
		},
	},
})

func defaultReplicationController(rc *corev1.ReplicationController) {
	coredefaults.SetObjectDefaults_ReplicationController(rc)
	if rc.Spec.Template != nil {
		settleTemplate(rc.Spec.Template)
	}
}

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	maps.Copy(c, m)
	return c
}

var statefulSets = goType[appsv1.StatefulSet, appsv1.StatefulSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets", Singular: "statefulset",
	ShortNames: []string{"sts"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultStatefulSet),
	strategy: strategy{
		PrepareCreate: On(func(s *appsv1.StatefulSet) {
			s.Status, s.Generation = appsv1.StatefulSetStatus{}, 1
			dropMaxUnavailable(s)
		}),
		Create: validation.StatefulSet.Create,
		Main: Update{
			Prepare: Over(func(s, old *appsv1.StatefulSet) {
				s.Status = old.Status
				dropMaxUnavailable(s)
				if !same.Value(&s.Spec, &old.Spec) {
					s.Generation = old.Generation + 1
				}
			}),
			Judge: validation.StatefulSet.Update, Keeps: true,
		},
		ForStatus: Update{
			Prepare: Over(func(s, old *appsv1.StatefulSet) { s.Spec = old.Spec }),
			Judge:   validation.StatefulSet.Status, Keeps: true,
		},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				s := obj.(*appsv1.StatefulSet)
				return *s.Spec.Replicas, s.Status.Replicas, selectorText(s.Spec.Selector)
			},
			Write: func(obj runtime.Object, want int32) { obj.(*appsv1.StatefulSet).Spec.Replicas = &want },
		},
	},
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
	settleTemplate(&s.Spec.Template)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
	}
}
