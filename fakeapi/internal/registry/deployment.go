package registry

import (
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var deployments = goType[appsv1.Deployment, appsv1.DeploymentList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments", Singular: "deployment",
	ShortNames: []string{"deploy"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultDeployment), Judged: readRollback,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(d *appsv1.Deployment) {
			d.Status, d.Generation = appsv1.DeploymentStatus{}, 1
		}),
		ValidateCreate: Check(validation.Deployment),
		WarnCreate: Warns(func(o *appsv1.Deployment) []string {
			return append(validation.WarnPodPrefix(o), validation.WarnTemplate(&o.Spec.Template, template)...)
		}),
		Main: Update{
			Prepare: Over(func(d, old *appsv1.Deployment) {
				d.Status = old.Status
				if !same.Value(&d.Spec, &old.Spec) || !maps.Equal(d.Annotations, old.Annotations) {
					d.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.DeploymentUpdate), again: checks{onUpdate},
			Warn: WarnsChanged(func(o *appsv1.Deployment) []string {
				return validation.WarnTemplate(&o.Spec.Template, template)
			}),
		},
		ForStatus: Update{
			Prepare:  Over(func(d, old *appsv1.Deployment) { d.Spec, d.Labels = old.Spec, old.Labels }),
			Validate: Compare(validation.DeploymentStatus), again: checks{onUpdate},
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
	orInt32(&d.Spec.Replicas, 1)
	orInt32(&d.Spec.RevisionHistoryLimit, 10)
	orInt32(&d.Spec.ProgressDeadlineSeconds, 600)
	s := &d.Spec.Strategy
	if s.Type == "" {
		s.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if s.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if s.RollingUpdate == nil {
			s.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		for _, p := range [...]**intstr.IntOrString{&s.RollingUpdate.MaxUnavailable, &s.RollingUpdate.MaxSurge} {
			if *p == nil {
				quarter := intstr.FromString("25%")
				*p = &quarter
			}
		}
	}
	defaultPodSpec(&d.Spec.Template.Spec)
}

func orInt32(p **int32, value int32) {
	if *p == nil {
		*p = &value
	}
}

// template is where most workloads have the template of their Pods.
var template = field.NewPath("spec", "template")

// readRollback reads the annotation, which is a field of the form in which Deployments are judged.
func readRollback(obj runtime.Object) error {
	text := obj.(*appsv1.Deployment).Annotations[appsv1.DeprecatedRollbackTo]
	if _, err := strconv.ParseInt(text, 10, 64); text != "" && err != nil {
		return fmt.Errorf("failed to parse annotation[%s]=%s as int64: %v", appsv1.DeprecatedRollbackTo, text, err)
	}
	return nil
}
