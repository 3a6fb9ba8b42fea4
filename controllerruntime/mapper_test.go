package controllerruntime_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/sim/trial"
)

// As discovery's mapper, that of a manager has the kind of lists beside each kind.
func TestMapperKnowsLists(t *testing.T) {
	starts := 0
	setup := func(mgr ctrl.Manager) error {
		starts++
		if starts > 2 { // the first two only look what there is
			m, err := mgr.GetRESTMapper().RESTMapping(schema.GroupKind{Kind: "ConfigMapList"}, "v1")
			if err != nil {
				t.Error(err)
			} else if m.Scope.Name() != "namespace" || m.Resource.Resource != "configmaplists" {
				t.Errorf("%v %v", m.Scope.Name(), m.Resource)
			}
			lists := corev1.SchemeGroupVersion.WithResource("configmaplists")
			if _, err := mgr.GetRESTMapper().KindFor(lists); err != nil {
				t.Error(err)
			}
		}
		return setUpKeeper(mgr)
	}
	all, err := controllerruntime.Controllers(scheme.Scheme, setup, controllerruntime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("keeper", all[0])
	if starts != 3 {
		t.Errorf("%d starts", starts)
	}
}
