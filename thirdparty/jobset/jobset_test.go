package jobset

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/thirdparty/project"
)

// setUp adds the same controllers and indexes as the project's main, but no webhooks.
func setUp(mgr ctrl.Manager) error {
	ctx := context.Background()
	if err := controllers.SetupJobSetIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.SetupPodIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	c, s := mgr.GetClient(), mgr.GetScheme()
	if err := controllers.NewJobSetReconciler(c, s, mgr.GetEventRecorder("jobset")).SetupWithManager(mgr); err != nil {
		return err
	}
	return controllers.NewPodReconciler(c, s, mgr.GetEventRecorder("pod")).SetupWithManager(mgr)
}

func TestJobSet(t *testing.T) {
	in := project.Program(runtime.NewScheme(), clientgoscheme.AddToScheme, v1alpha2.AddToScheme)
	project.Test(t, project.Project{Module: "sigs.k8s.io/jobset",
		Definitions: []string{"config/components/crd/bases/*.yaml"},
		Controllers: []host.Controller{in(host.Controller{Name: "jobset", For: v1alpha2.GroupVersion.WithKind("JobSet"),
			Owns: []schema.GroupVersionKind{batchv1.SchemeGroupVersion.WithKind("Job"),
				corev1.SchemeGroupVersion.WithKind("Service")}}, setUp)}})
}
