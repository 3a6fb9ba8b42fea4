package registry

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

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
