package validation

import (
	"reflect"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePodSecurity checks as whom a Pod runs, and with which settings of the kernel.
func validatePodSecurity(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	c := s.SecurityContext
	if reflect.ValueOf(*c).IsZero() {
		return nil // as it mostly is, and the paths of its fields need not be made then
	}
	errs = append(errs, groupID(c.FSGroup, path.Child("fsGroup"))...)
	errs = append(errs, userID(c.RunAsUser, path.Child("runAsUser"))...)
	errs = append(errs, groupID(c.RunAsGroup, path.Child("runAsGroup"))...)
	for i := range c.SupplementalGroups {
		errs = append(errs, groupID(&c.SupplementalGroups[i], path.Child("supplementalGroups").Index(i))...)
	}
	if s.ShareProcessNamespace != nil && *s.ShareProcessNamespace && s.HostPID {
		errs = append(errs, field.Invalid(path.Child("shareProcessNamespace"), true,
			"ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	errs = append(errs, validateSysctls(s, path.Child("sysctls"))...)
	errs = append(errs, among(c.FSGroupChangePolicy, path.Child("fsGroupChangePolicy"), corev1.FSGroupChangeAlways,
		corev1.FSGroupChangeOnRootMismatch)...)
	errs = append(errs, validateSeccomp(c.SeccompProfile, path.Child("seccompProfile"))...)
	errs = append(errs, validateWindows(c.WindowsOptions, path.Child("windowsOptions"))...)
	errs = append(errs, validateAppArmor(c.AppArmorProfile, path.Child("appArmorProfile"))...)
	errs = append(errs, among(c.SupplementalGroupsPolicy, path.Child("supplementalGroupsPolicy"),
		corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	return append(errs, among(c.SELinuxChangePolicy, path.Child("seLinuxChangePolicy"),
		corev1.SELinuxChangePolicyRecursive)...)
}

func userID(id *int64, path *field.Path) (errs field.ErrorList) {
	if id == nil {
		return nil
	}
	for _, msg := range utilvalidation.IsValidUserID(*id) {
		errs = append(errs, field.Invalid(path, *id, msg))
	}
	return errs
}

func groupID(id *int64, path *field.Path) (errs field.ErrorList) {
	if id == nil {
		return nil
	}
	for _, msg := range utilvalidation.IsValidGroupID(*id) {
		errs = append(errs, field.Invalid(path, *id, msg))
	}
	return errs
}

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func validateSysctls(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, one := range s.SecurityContext.Sysctls {
		at := path.Index(i).Child("name")
		switch {
		case one.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(one.Name) > 253 || !sysctlName.MatchString(one.Name):
			errs = append(errs, field.Invalid(at, one.Name,
				"must have at most 253 characters and match regex "+sysctlName.String()))
		case seen[one.Name]:
			errs = append(errs, field.Duplicate(at, one.Name))
		}
		seen[one.Name] = true
		switch of := sysctlOf(one.Name); {
		case s.HostNetwork && of == "net":
			errs = append(errs, field.Invalid(at, one.Name, "may not be specified when 'hostNetwork' is true"))
		case s.HostIPC && of == "ipc":
			errs = append(errs, field.Invalid(at, one.Name, "may not be specified when 'hostIPC' is true"))
		}
	}
	return errs
}

// sysctlOf is the namespace of the kernel that a setting is of: net, ipc or none.
func sysctlOf(name string) string {
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		name = strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	name, _, _ = strings.Cut(name, "*")
	switch name {
	case "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
		"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg":
		return "ipc"
	}
	switch {
	case strings.HasPrefix(name, "net."):
		return "net"
	case strings.HasPrefix(name, "fs.mqueue."):
		return "ipc"
	}
	return ""
}

func validateSeccomp(p *corev1.SeccompProfile, path *field.Path) (errs field.ErrorList) {
	if p == nil {
		return nil
	}
	if p.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = append(errs, among(&p.Type, path.Child("type"), corev1.SeccompProfileTypeLocalhost,
			corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)...)
	}
	at, local := path.Child("localhostProfile"), p.Type == corev1.SeccompProfileTypeLocalhost
	switch {
	case local && p.LocalhostProfile == nil:
		errs = append(errs, field.Required(at, "must be set when seccomp type is Localhost"))
	case local:
		errs = append(errs, descending(*p.LocalhostProfile, at)...)
	case p.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(at, asShown(p), "can only be set when seccomp type is Localhost"))
	}
	return errs
}

func validateAppArmor(p *corev1.AppArmorProfile, path *field.Path) (errs field.ErrorList) {
	const must = "must be set when AppArmor type is Localhost"
	if p == nil {
		return nil
	}
	at := path.Child("localhostProfile")
	switch p.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		switch {
		case p.LocalhostProfile == nil:
			return field.ErrorList{field.Required(at, must)}
		case strings.TrimSpace(*p.LocalhostProfile) != *p.LocalhostProfile:
			errs = append(errs, field.Invalid(at, *p.LocalhostProfile, "must not be padded with whitespace"))
		case *p.LocalhostProfile == "":
			errs = append(errs, field.Required(at, must))
		}
		if len(*p.LocalhostProfile) > 4095 {
			errs = append(errs, field.TooLong(at, "", 4095))
		}
		return errs
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if p.LocalhostProfile != nil {
			errs = append(errs, field.Invalid(at, p.LocalhostProfile,
				"can only be set when AppArmor type is Localhost"))
		}
		return errs
	case "":
		return field.ErrorList{field.Required(path.Child("type"), "type is required when appArmorProfile is set")}
	}
	return among(&p.Type, path.Child("type"), corev1.AppArmorProfileTypeLocalhost,
		corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
}

// validateSecurity checks as whom a container runs. Privileged ones are allowed.
func (p *podScope) validateSecurity(c *corev1.SecurityContext, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, userID(c.RunAsUser, path.Child("runAsUser"))...)
	errs = append(errs, groupID(c.RunAsGroup, path.Child("runAsGroup"))...)
	if c.ProcMount != nil {
		at := path.Child("procMount")
		errs = append(errs, among(c.ProcMount, at, corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		if p.usersOfHost() && *c.ProcMount == corev1.UnmaskedProcMount {
			errs = append(errs, field.Invalid(at, c.ProcMount, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, validateSeccomp(c.SeccompProfile, path.Child("seccompProfile"))...)
	if c.AllowPrivilegeEscalation != nil && !*c.AllowPrivilegeEscalation {
		const not = "cannot set `allowPrivilegeEscalation` to false and "
		if c.Privileged != nil && *c.Privileged {
			errs = append(errs, field.Invalid(path, asShown(c), not+"`privileged` to true"))
		}
		if c.Capabilities != nil && oneOf("CAP_SYS_ADMIN", c.Capabilities.Add) {
			errs = append(errs, field.Invalid(path, asShown(c), not+"`capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	errs = append(errs, validateWindows(c.WindowsOptions, path.Child("windowsOptions"))...)
	return append(errs, validateAppArmor(c.AppArmorProfile, path.Child("appArmorProfile"))...)
}

func (p *podScope) usersOfHost() bool { return p.spec.HostUsers == nil || *p.spec.HostUsers }

// validateHostUsers: who has users of his own shares no more of the host than its network.
func (p *podScope) validateHostUsers(path *field.Path) (errs field.ErrorList) {
	const not = "when `hostUsers` is false"
	if p.usersOfHost() {
		return nil
	}
	for _, one := range [...]struct {
		name string
		set  bool
	}{{"hostNetwork", p.spec.HostNetwork}, {"HostPID", p.spec.HostPID}, {"HostIPC", p.spec.HostIPC}} {
		if one.set {
			errs = append(errs, field.Forbidden(path.Child(one.name), not))
		}
	}
	p.each(path, func(c *corev1.Container, at place) {
		if len(c.VolumeDevices) > 0 {
			errs = append(errs, field.Forbidden(at.path().Child("volumeDevices"), not))
		}
	})
	return errs
}
