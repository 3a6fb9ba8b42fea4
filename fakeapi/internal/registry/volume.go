package registry

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var persistentVolumes = goType[corev1.PersistentVolume, corev1.PersistentVolumeList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("PersistentVolume"),
	Resource: "persistentvolumes", Singular: "persistentvolume", ShortNames: []string{"pv"},
	Status: true, ReturnDeleted: true, Default: On(defaultVolumeObject),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Admit:    protect("kubernetes.io/pv-protection"),
		PrepareCreate: On(func(v *corev1.PersistentVolume) {
			now := v.CreationTimestamp
			v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &now}
		}),
		ValidateCreate: Check(validation.PersistentVolume), WarnCreate: Warns(validation.WarnVolume),
		Main: Update{
			Prepare:  Over(func(v, old *corev1.PersistentVolume) { v.Status = old.Status }),
			Validate: Compare(validation.PersistentVolumeUpdate), again: checks{onCreate, onCreate},
			Warn: WarnsAgain(validation.WarnVolume),
		},
		ForStatus: Update{PrepareAt: preparePhase, again: checks{onUpdate}},
	},
})

// preparePhase notes when a volume came into its phase, unless who writes the
// status says when.
func preparePhase(obj, old runtime.Object, now time.Time) {
	v, was := obj.(*corev1.PersistentVolume), old.(*corev1.PersistentVolume)
	v.Spec = was.Spec
	at, before := v.Status.LastPhaseTransitionTime, was.Status.LastPhaseTransitionTime
	switch {
	case v.Status.Phase == was.Status.Phase && at == nil:
		v.Status.LastPhaseTransitionTime = before
	case v.Status.Phase != was.Status.Phase && (at == nil || at.Equal(before)):
		seconds := metadata.Seconds(now)
		v.Status.LastPhaseTransitionTime = &seconds
	}
}

func defaultVolumeObject(v *corev1.PersistentVolume) {
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumePending
	}
	if v.Spec.PersistentVolumeReclaimPolicy == "" {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	orDefault(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	defaultVolumeSpec(&v.Spec)
}

// defaultVolumeSpec fills in what a volume and one that is attached inline have in common.
func defaultVolumeSpec(spec *corev1.PersistentVolumeSpec) {
	roundUp(&spec.Capacity)
	if h := spec.HostPath; h != nil {
		orDefault(&h.Type, corev1.HostPathUnset)
	}
	if s := spec.ISCSI; s != nil {
		orText(&s.ISCSIInterface, defaultInterface)
	}
	if r := spec.RBD; r != nil {
		defaultRBD(&r.RBDPool, &r.RadosUser, &r.Keyring)
	}
	if d := spec.AzureDisk; d != nil {
		defaultAzureDisk(d)
	}
	if s := spec.ScaleIO; s != nil {
		defaultScaleIO(&s.StorageMode, &s.FSType)
	}
}

// What the sources of Pods' volumes and of PersistentVolumes have in common.
const defaultInterface = "default"

func defaultRBD(pool, user, keyring *string) {
	orText(pool, "rbd")
	orText(user, "admin")
	orText(keyring, "/etc/ceph/keyring")
}

func defaultAzureDisk(d *corev1.AzureDiskVolumeSource) {
	orDefault(&d.CachingMode, corev1.AzureDataDiskCachingReadWrite)
	orDefault(&d.FSType, "ext4")
	orDefault(&d.ReadOnly, false)
	orDefault(&d.Kind, corev1.AzureSharedBlobDisk)
}

func defaultScaleIO(mode, fs *string) {
	orText(mode, "ThinProvisioned")
	orText(fs, "xfs")
}

func orText(p *string, value string) {
	if *p == "" {
		*p = value
	}
}

var podTemplates = goType[corev1.PodTemplate, corev1.PodTemplateList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("PodTemplate"), Resource: "podtemplates", Singular: "podtemplate",
	Namespaced: true, ReturnDeleted: true,
	Default: On(func(t *corev1.PodTemplate) { defaultPodSpec(&t.Template.Spec) }),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, PrepareCreate: first,
		ValidateCreate: Check(validation.PodTemplate),
		WarnCreate: Warns(func(t *corev1.PodTemplate) []string {
			return validation.WarnTemplate(&t.Template, field.NewPath("template"))
		}),
		Main: Update{
			Prepare:  Recount(func(t *corev1.PodTemplate) any { return t.Template }),
			Validate: again(validation.PodTemplate), again: checks{onUpdate},
			Warn: WarnsChanged(func(t *corev1.PodTemplate) []string {
				return validation.WarnTemplate(&t.Template, field.NewPath("template"))
			}),
		},
	},
})
