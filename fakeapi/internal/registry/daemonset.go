package registry

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"

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

// readGeneration reads the annotation, which is a field of the form in which DaemonSets are judged.
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

// templateGeneration is kept in an annotation; the API has no field for it.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
