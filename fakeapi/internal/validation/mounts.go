package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (p *podScope) validateMounts(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], path.Index(i)
		errs = append(errs, required(m.Name, at.Child("name"))...)
		if p.volumes[m.Name] == nil {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		errs = append(errs, required(m.MountPath, at.Child("mountPath"))...)
		if slices.ContainsFunc(c.VolumeMounts[:i],
			func(o corev1.VolumeMount) bool { return o.MountPath == m.MountPath }) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == m.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), m.Name, "must not already exist in volumeDevices"))
		}
		if lastDevice(c.VolumeDevices, m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath,
				"must not already exist as a path in volumeDevices"))
		}
		if m.SubPath != "" {
			errs = append(errs, descending(m.SubPath, path.Child("subPath"))...)
		}
		if m.SubPathExpr != "" {
			if m.SubPath != "" {
				errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr,
					"subPathExpr and subPath are mutually exclusive"))
			}
			errs = append(errs, descending(m.SubPathExpr, path.Child("subPathExpr"))...)
		}
		errs = append(errs, validatePropagation(m, c.SecurityContext, path)...)
	}
	return errs
}

// lastDevice says whether a device has a path: of two devices of one name the last counts.
func lastDevice(devices []corev1.VolumeDevice, path string) bool {
	for i := range devices {
		if devices[i].DevicePath == path &&
			!slices.ContainsFunc(devices[i+1:], func(d corev1.VolumeDevice) bool { return d.Name == devices[i].Name }) {
			return true
		}
	}
	return false
}

func lastMount(mounts []corev1.VolumeMount, path string) bool {
	for i := range mounts {
		if mounts[i].MountPath == path &&
			!slices.ContainsFunc(mounts[i+1:], func(m corev1.VolumeMount) bool { return m.Name == mounts[i].Name }) {
			return true
		}
	}
	return false
}

// validatePropagation checks what of a mount others see, and who may write below it.
func validatePropagation(m *corev1.VolumeMount, security *corev1.SecurityContext,
	path *field.Path) (errs field.ErrorList) {
	if mode := m.MountPropagation; mode != nil {
		at := path.Child("mountPropagation")
		errs = append(errs, among(mode, at, corev1.MountPropagationBidirectional,
			corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)...)
		privileged := security != nil && security.Privileged != nil && *security.Privileged
		if *mode == corev1.MountPropagationBidirectional && !privileged {
			errs = append(errs, field.Forbidden(at,
				"Bidirectional mount propagation is available only to privileged containers"))
		}
	}
	if m.RecursiveReadOnly == nil {
		return errs
	}
	at := path.Child("recursiveReadOnly")
	switch *m.RecursiveReadOnly {
	case corev1.RecursiveReadOnlyDisabled:
		return errs
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
	default:
		return append(errs, field.NotSupported(at, *m.RecursiveReadOnly, []corev1.RecursiveReadOnlyMode{
			corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible}))
	}
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at,
			"may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

func (p *podScope) validateDevices(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	names, paths := map[string]bool{}, map[string]bool{}
	for i, d := range c.VolumeDevices {
		at := path.Index(i)
		errs = append(errs, required(d.Name, at.Child("name"))...)
		if names[d.Name] {
			errs = append(errs, field.Invalid(at.Child("name"), d.Name, "must be unique"))
		}
		if v := p.volumes[d.Name]; v == nil {
			errs = append(errs, field.NotFound(at.Child("name"), d.Name))
		} else if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			errs = append(errs, field.Invalid(at.Child("name"), d.Name,
				"can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		errs = append(errs, required(d.DevicePath, at.Child("devicePath"))...)
		if paths[d.DevicePath] {
			errs = append(errs, field.Invalid(at.Child("devicePath"), d.DevicePath, "must be unique"))
		}
		if len(noBacksteps(d.DevicePath, path)) > 0 {
			errs = append(errs, field.Invalid(at.Child("devicePath"), d.DevicePath, "can not contain backsteps ('..')"))
		} else {
			paths[d.DevicePath] = true
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), d.Name, "must not already exist in volumeMounts"))
		}
		if lastMount(c.VolumeMounts, d.DevicePath) {
			errs = append(errs, field.Invalid(at.Child("devicePath"), d.DevicePath,
				"must not already exist as a path in volumeMounts"))
		}
		names[d.Name] = d.Name != ""
	}
	return errs
}
