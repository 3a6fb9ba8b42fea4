package registry

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var replicationControllers = goType[corev1.ReplicationController, corev1.ReplicationControllerList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("ReplicationController"),
	Resource: "replicationcontrollers", Singular: "replicationcontroller", ShortNames: []string{"rc"},
	Categories: []string{"all"},
	Namespaced: true, Status: true, OrphanByDefault: true, Default: On(defaultReplicationController),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Prefix:   "controllers",
		PrepareCreate: On(func(rc *corev1.ReplicationController) {
			rc.Status, rc.Generation = corev1.ReplicationControllerStatus{}, 1
		}),
		ValidateCreate: Check(validation.ReplicationController),
		WarnCreate: Warns(func(rc *corev1.ReplicationController) []string {
			return append(validation.WarnPodPrefix(rc), warnReplicated(rc)...)
		}),
		Main: Update{
			Prepare: Over(func(rc, old *corev1.ReplicationController) {
				rc.Status = old.Status
				if !same.Value(&rc.Spec, &old.Spec) {
					rc.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.ReplicationControllerUpdate), again: checks{onUpdate}, Keeps: true,
			// The real server looks at the template that was.
			Warn: func(obj, old runtime.Object) []string {
				if metadata.Of(obj).GetGeneration() == metadata.Of(old).GetGeneration() {
					return nil
				}
				return warnReplicated(old.(*corev1.ReplicationController))
			},
		},
		ForStatus: Update{
			Prepare:  Over(func(rc, old *corev1.ReplicationController) { rc.Spec = old.Spec }),
			Validate: Compare(validation.ReplicationControllerStatus), again: checks{onUpdate}, Keeps: true,
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
	if rc.Spec.Replicas == nil {
		rc.Spec.Replicas = new(int32)
		*rc.Spec.Replicas = 1
	}
	t := rc.Spec.Template
	if t == nil {
		return
	}
	defaultPodSpec(&t.Spec)
	if t.Labels == nil {
		return
	}
	if len(rc.Spec.Selector) == 0 {
		rc.Spec.Selector = copyMap(t.Labels)
	}
	if len(rc.Labels) == 0 {
		rc.Labels = copyMap(t.Labels)
	}
}

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	maps.Copy(c, m)
	return c
}

func warnReplicated(rc *corev1.ReplicationController) []string {
	if rc.Spec.Template == nil {
		return nil
	}
	return validation.WarnTemplate(rc.Spec.Template, template)
}
