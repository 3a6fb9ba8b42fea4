package registry

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var daemonSets = goType[appsv1.DaemonSet, appsv1.DaemonSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), Resource: "daemonsets", Singular: "daemonset",
	ShortNames: []string{"ds"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultDaemonSet), Judged: readGeneration,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(d *appsv1.DaemonSet) {
			d.Status, d.Generation = appsv1.DaemonSetStatus{}, 1
			setTemplateGeneration(d, max(validation.TemplateGeneration(d), 1))
		}),
		ValidateCreate: Check(validation.DaemonSet),
		WarnCreate:     Warns(warnDaemons),
		Main: Update{
			Prepare:  Over(prepareDaemonSet),
			Validate: Compare(validation.DaemonSetUpdate), again: checks{onUpdate},
			Warn: WarnsChanged(warnDaemons),
		},
		ForStatus: Update{
			Prepare: Over(func(d, old *appsv1.DaemonSet) {
				d.Spec = old.Spec
				setTemplateGeneration(d, validation.TemplateGeneration(old))
			}),
			Validate: Compare(validation.DaemonSetStatus), again: checks{onUpdate},
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
	n := validation.TemplateGeneration(old)
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
	setTemplateGeneration(d, validation.TemplateGeneration(d))
	u := &d.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if u.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		if u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
		}
		for i, p := range [...]**intstr.IntOrString{&u.RollingUpdate.MaxSurge, &u.RollingUpdate.MaxUnavailable} {
			if *p == nil {
				n := intstr.FromInt32(int32(i))
				*p = &n
			}
		}
	}
	orInt32(&d.Spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&d.Spec.Template.Spec)
}

var controllerRevisions = goType[appsv1.ControllerRevision, appsv1.ControllerRevisionList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), Resource: "controllerrevisions",
	Singular:   "controllerrevision",
	Namespaced: true,
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		ValidateCreate: Check(validation.ControllerRevision),
		Main: Update{Validate: Compare(validation.ControllerRevisionUpdate),
			again: checks{onUpdate, onCreate}},
	},
})

func warnDaemons(d *appsv1.DaemonSet) []string {
	return validation.WarnTemplate(&d.Spec.Template, template)
}
