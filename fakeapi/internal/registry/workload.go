package registry

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var deployments = GoType[appsv1.Deployment, appsv1.DeploymentList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments", Singular: "deployment",
	ShortNames: []string{"deploy"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultDeployment),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(d *appsv1.Deployment) {
			d.Status, d.Generation = appsv1.DeploymentStatus{}, 1
		}),
		ValidateCreate: check(validation.Deployment),
		WarnCreate:     func(obj runtime.Object) []string { return validation.WarnPodPrefix(metadata.Of(obj)) },
		Main: Update{
			Prepare: Over(func(d, old *appsv1.Deployment) {
				d.Status = old.Status
				if !same.Value(&d.Spec, &old.Spec) || !maps.Equal(d.Annotations, old.Annotations) {
					d.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.DeploymentUpdate), again: []metaCheck{onUpdate},
		},
		ForStatus: Update{
			Prepare:  Over(func(d, old *appsv1.Deployment) { d.Spec, d.Labels = old.Spec, old.Labels }),
			Validate: Compare(validation.DeploymentStatus), again: []metaCheck{onUpdate},
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

func orInt32(p **int32, value int32) {
	if *p == nil {
		*p = &value
	}
}

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

var statefulSets = GoType[appsv1.StatefulSet, appsv1.StatefulSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets", Singular: "statefulset",
	ShortNames: []string{"sts"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultStatefulSet),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSLabel,
		PrepareCreate: On(func(s *appsv1.StatefulSet) {
			s.Status, s.Generation = appsv1.StatefulSetStatus{}, 1
			dropMaxUnavailable(s)
		}),
		ValidateCreate: check(validation.StatefulSet),
		WarnCreate:     func(obj runtime.Object) []string { return validation.WarnRevisions(obj.(*appsv1.StatefulSet)) },
		Main: Update{
			Prepare: Over(func(s, old *appsv1.StatefulSet) {
				s.Status = old.Status
				dropMaxUnavailable(s)
				if !same.Value(&s.Spec, &old.Spec) {
					s.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.StatefulSetUpdate), again: []metaCheck{onUpdate}, Keeps: true,
			Warn: func(obj, _ runtime.Object) []string { return validation.WarnRevisions(obj.(*appsv1.StatefulSet)) },
		},
		ForStatus: Update{
			Prepare:  Over(func(s, old *appsv1.StatefulSet) { s.Spec = old.Spec }),
			Validate: Compare(validation.StatefulSetStatus), again: []metaCheck{onUpdate}, Keeps: true,
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

// dropMaxUnavailable: the feature is off by default.
func dropMaxUnavailable(s *appsv1.StatefulSet) {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		kept := *r
		kept.MaxUnavailable = nil
		s.Spec.UpdateStrategy.RollingUpdate = &kept
	}
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	if s.Spec.PodManagementPolicy == "" {
		s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	u := &s.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	if u.Type == appsv1.RollingUpdateStatefulSetStrategyType && u.RollingUpdate != nil {
		orInt32(&u.RollingUpdate.Partition, 0)
	}
	if s.Spec.PersistentVolumeClaimRetentionPolicy == nil {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	for _, p := range [...]*appsv1.PersistentVolumeClaimRetentionPolicyType{
		&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, &s.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled} {
		if *p == "" {
			*p = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
		}
	}
	orInt32(&s.Spec.Replicas, 1)
	orInt32(&s.Spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&s.Spec.Template.Spec)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
		defaultClaim(c)
	}
}

var daemonSets = GoType[appsv1.DaemonSet, appsv1.DaemonSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), Resource: "daemonsets", Singular: "daemonset",
	ShortNames: []string{"ds"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultDaemonSet),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(d *appsv1.DaemonSet) {
			d.Status, d.Generation = appsv1.DaemonSetStatus{}, 1
			setTemplateGeneration(d, max(validation.TemplateGeneration(d), 1))
		}),
		ValidateCreate: check(validation.DaemonSet),
		Main: Update{
			Prepare:  Over(prepareDaemonSet),
			Validate: Compare(validation.DaemonSetUpdate), again: []metaCheck{onUpdate},
		},
		ForStatus: Update{
			Prepare: Over(func(d, old *appsv1.DaemonSet) {
				d.Spec = old.Spec
				setTemplateGeneration(d, validation.TemplateGeneration(old))
			}),
			Validate: Compare(validation.DaemonSetStatus), again: []metaCheck{onUpdate},
		},
	},
})

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

var controllerRevisions = GoType[appsv1.ControllerRevision, appsv1.ControllerRevisionList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), Resource: "controllerrevisions", Singular: "controllerrevision",
	Namespaced: true,
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		ValidateCreate: check(validation.ControllerRevision),
		Main:           Update{Validate: Compare(validation.ControllerRevisionUpdate), again: []metaCheck{onUpdate, onCreate}},
	},
})
