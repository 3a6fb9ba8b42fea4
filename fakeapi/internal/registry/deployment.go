package registry

import (
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

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

// readRollback reads the annotation, which is a field of the form in which Deployments are judged.
func readRollback(obj runtime.Object) error {
	text := obj.(*appsv1.Deployment).Annotations[appsv1.DeprecatedRollbackTo]
	if _, err := strconv.ParseInt(text, 10, 64); text != "" && err != nil {
		return fmt.Errorf("failed to parse annotation[%s]=%s as int64: %v", appsv1.DeprecatedRollbackTo, text, err)
	}
	return nil
}
