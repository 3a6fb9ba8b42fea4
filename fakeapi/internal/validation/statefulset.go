package validation

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// StatefulSet checks the spec of a new StatefulSet.
func StatefulSet(s *appsv1.StatefulSet) field.ErrorList { return validateStateful(&s.Spec, nil) }

func validateStateful(spec, old *appsv1.StatefulSetSpec) (errs field.ErrorList) {
	switch spec.PodManagementPolicy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	default:
		errs = append(errs, field.Invalid(specPath.Child("podManagementPolicy"), spec.PodManagementPolicy,
			"must be 'OrderedReady' or 'Parallel'"))
	}
	errs = append(errs, validateStatefulUpdate(&spec.UpdateStrategy)...)
	policy := specPath.Child("persistentVolumeClaimRetentionPolicy")
	for _, p := range [...]struct {
		name  string
		value appsv1.PersistentVolumeClaimRetentionPolicyType
	}{{"whenDeleted", spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted},
		{"whenScaled", spec.PersistentVolumeClaimRetentionPolicy.WhenScaled}} {
		if p.value != appsv1.RetainPersistentVolumeClaimRetentionPolicyType &&
			p.value != appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
			errs = append(errs, field.NotSupported(policy.Child(p.name), p.value, []string{"Retain", "Delete"}))
		}
	}
	for i := range spec.VolumeClaimTemplates {
		if old == nil {
			errs = append(errs, validateClaimSpec(&spec.VolumeClaimTemplates[i].Spec,
				specPath.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
		}
	}
	errs = append(errs, nonNegative(int64(*spec.Replicas), specPath, "replicas")...)
	errs = append(errs, nonNegative(int64(spec.MinReadySeconds), specPath, "minReadySeconds")...)
	if spec.Ordinals != nil {
		errs = append(errs, nonNegative(int64(spec.Ordinals.Start), specPath, "ordinals.start")...)
	}
	if old == nil && spec.ServiceName != "" {
		errs = append(errs, label(spec.ServiceName, specPath.Child("serviceName"))...)
	}
	more, ok := validateSelector(spec.Selector, &spec.Template, "empty selector is invalid for statefulset", "")
	errs = append(errs, more...)
	path := specPath.Child("template")
	if ok {
		errs = append(errs, validateTemplate(statefulTemplate(spec), path)...)
		errs = append(errs, metav1validation.ValidateLabels(spec.Template.Labels, path.Child("labels"))...)
		errs = append(errs, apivalidation.ValidateAnnotations(spec.Template.Annotations, path.Child("annotations"))...)
	}
	return append(errs, alwaysRestarts(&spec.Template, path, "StatefulSet")...)
}

// statefulTemplate is the template with the volumes of the claim templates, and without
// the names that each Pod gets of its own.
func statefulTemplate(spec *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	if len(spec.VolumeClaimTemplates) == 0 && spec.Template.Spec.Hostname == "" && spec.Template.Spec.Subdomain == "" {
		return &spec.Template
	}
	t := spec.Template
	t.Spec.Hostname, t.Spec.Subdomain = "", ""
	var volumes []corev1.Volume
	names := map[string]bool{}
	for i := range spec.VolumeClaimTemplates {
		name := spec.VolumeClaimTemplates[i].Name
		if names[name] {
			continue
		}
		names[name] = true
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	for _, v := range t.Spec.Volumes {
		if !names[v.Name] {
			volumes = append(volumes, v)
		}
	}
	t.Spec.Volumes = volumes
	return &t
}

func validateStatefulUpdate(u *appsv1.StatefulSetUpdateStrategy) (errs field.ErrorList) {
	path := specPath.Child("updateStrategy")
	rolling := path.Child("rollingUpdate")
	r := u.RollingUpdate
	switch u.Type {
	case appsv1.OnDeleteStatefulSetStrategyType:
		if r != nil {
			shown := shownPartition{MaxUnavailable: r.MaxUnavailable}
			if r.Partition != nil {
				shown.Partition = *r.Partition
			}
			errs = append(errs, field.Invalid(rolling, shown, "only allowed for updateStrategy 'RollingUpdate'"))
		}
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if r == nil {
			break
		}
		errs = append(errs, nonNegative(int64(*r.Partition), rolling, "partition")...)
		if r.MaxUnavailable != nil {
			at := rolling.Child("maxUnavailable")
			errs = append(errs, countOrPercent(r.MaxUnavailable, at)...)
			if amount(r.MaxUnavailable) == 0 {
				errs = append(errs, field.Invalid(at, *r.MaxUnavailable, "cannot be 0"))
			}
			errs = append(errs, atMostAll(r.MaxUnavailable, at)...)
		}
	default:
		errs = append(errs, field.Invalid(path, asShown(u),
			"must be 'RollingUpdate' or 'OnDelete'"))
	}
	return errs
}

// StatefulSetUpdate checks a change: most of the spec is for ever.
func StatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	errs := validateStateful(&s.Spec, &old.Spec)
	c := s.Spec
	c.Replicas, c.Template, c.UpdateStrategy = old.Spec.Replicas, old.Spec.Template, old.Spec.UpdateStrategy
	c.MinReadySeconds, c.Ordinals, c.RevisionHistoryLimit = old.Spec.MinReadySeconds, old.Spec.Ordinals,
		old.Spec.RevisionHistoryLimit
	c.PersistentVolumeClaimRetentionPolicy = old.Spec.PersistentVolumeClaimRetentionPolicy
	if !equality.Semantic.DeepEqual(c, old.Spec) {
		errs = append(errs, field.Forbidden(specPath,
			"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "+
				"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))
	}
	return errs
}

// StatefulSetStatus checks a write to the status.
func StatefulSetStatus(s, old *appsv1.StatefulSet) (errs field.ErrorList) {
	st := &s.Status
	for _, c := range [...]count{{"replicas", st.Replicas}, {"readyReplicas", st.ReadyReplicas},
		{"currentReplicas", st.CurrentReplicas},
		{"updatedReplicas", st.UpdatedReplicas}, {"availableReplicas", st.AvailableReplicas}} {
		errs = append(errs, nonNegative(int64(c.n), statusPath, c.name)...)
	}
	errs = append(errs, nonNegative(st.ObservedGeneration, statusPath, "observedGeneration")...)
	if st.CollisionCount != nil {
		errs = append(errs, nonNegative(int64(*st.CollisionCount), statusPath, "collisionCount")...)
	}
	errs = append(errs, notAbove(st.Replicas, "cannot be greater than status.replicas",
		count{"readyReplicas", st.ReadyReplicas},
		count{"currentReplicas", st.CurrentReplicas}, count{"updatedReplicas", st.UpdatedReplicas},
		count{"availableReplicas", st.AvailableReplicas})...)
	errs = append(errs, notAbove(st.ReadyReplicas, "cannot be greater than status.readyReplicas",
		count{"availableReplicas", st.AvailableReplicas})...)
	return append(errs, notLowered(st.CollisionCount, old.Status.CollisionCount)...)
}
