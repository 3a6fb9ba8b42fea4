package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	control     = regexp.MustCompile(`[[:cntrl:]]+`)
	netBIOS     = regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	dnsDomain   = regexp.MustCompile(`^` + dnsPart + `(?:\.` + dnsPart + `)*$`)
	dotsSpaces  = regexp.MustCompile(`^[\. ]+$`)
	notInUsers  = `["/\\:;|=,\+\*\?<>@\[\]]`
	notUserName = regexp.MustCompile(notInUsers)
)

const dnsPart = `[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`

// validateWindows checks what a Pod says to Windows.
func validateWindows(w *corev1.WindowsSecurityContextOptions, path *field.Path) (errs field.ErrorList) {
	if w == nil {
		return nil
	}
	if w.GMSACredentialSpecName != nil {
		errs = append(errs, named(*w.GMSACredentialSpecName, path.Child("gmsaCredentialSpecName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	if spec := w.GMSACredentialSpec; spec != nil {
		at := path.Child("gmsaCredentialSpec")
		if *spec == "" {
			errs = append(errs, field.Invalid(at, spec, "gmsaCredentialSpec cannot be an empty string"))
		} else if len(*spec) > 64<<10 {
			errs = append(errs, field.Invalid(at, spec, "gmsaCredentialSpec size must be under 64 KiB"))
		}
	}
	if w.RunAsUserName != nil {
		for _, msg := range windowsUser(*w.RunAsUserName) {
			errs = append(errs, field.Invalid(path.Child("runAsUserName"), w.RunAsUserName, "runAsUserName"+msg))
		}
	}
	return errs
}

// windowsUser says what is wrong with the name of a user, which may have a domain.
func windowsUser(name string) (wrong []string) {
	parts := strings.Split(name, `\`)
	switch {
	case name == "":
		return []string{" cannot be an empty string"}
	case control.MatchString(name):
		return []string{" cannot contain control characters"}
	case len(parts) > 2:
		return []string{" cannot contain more than one backslash"}
	}
	user := parts[len(parts)-1]
	if len(parts) == 2 {
		if len(parts[0]) >= 256 {
			wrong = append(wrong, "'s Domain length must be under 256 characters")
		}
		if !netBIOS.MatchString(parts[0]) && !dnsDomain.MatchString(parts[0]) {
			wrong = append(wrong, "'s Domain doesn't match the NetBios nor the DNS format")
		}
	}
	if user == "" {
		wrong = append(wrong, "'s User cannot be empty")
	} else if len(user) > 104 {
		wrong = append(wrong, "'s User length must not be longer than 104 characters")
	}
	if dotsSpaces.MatchString(user) {
		wrong = append(wrong, "'s User cannot contain only periods or spaces")
	}
	if notUserName.MatchString(user) {
		wrong = append(wrong, `'s User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return wrong
}

// validateHostProcess: of Windows containers all run as processes of the host, or none.
func (p *podScope) validateHostProcess(path *field.Path) (errs field.ErrorList) {
	var whole *bool
	if c := p.spec.SecurityContext; c != nil && c.WindowsOptions != nil {
		whole = c.WindowsOptions.HostProcess
	}
	all, hosts := 0, 0
	p.each(path, func(c *corev1.Container, at place) {
		all++
		own := whole
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil &&
			c.SecurityContext.WindowsOptions.HostProcess != nil {
			own = c.SecurityContext.WindowsOptions.HostProcess
		}
		if own != nil && whole != nil && *own != *whole {
			errs = append(errs, field.Invalid(at.path().Child("securityContext", "windowsOptions", "hostProcess"), *own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *whole)))
		}
		if own != nil && *own {
			hosts++
		}
	})
	if hosts > 0 && hosts != all {
		errs = append(errs, field.Invalid(path, "",
			"If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if hosts > 0 && !p.spec.HostNetwork {
		errs = append(errs, field.Invalid(path.Child("hostNetwork"), false,
			"hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return errs
}

// validateOS checks that nothing is asked of an operating system that it does not have.
func (p *podScope) validateOS(path *field.Path) (errs field.ErrorList) {
	os := p.spec.OS.Name
	switch os {
	case corev1.Linux, corev1.Windows:
	case "":
		return field.ErrorList{field.Required(path.Child("os", "name"), "")}
	default:
		return field.ErrorList{field.NotSupported(path.Child("os"), os, []corev1.OSName{corev1.Linux, corev1.Windows})}
	}
	forbid := func(set bool, msg string, at *field.Path) {
		if set {
			errs = append(errs, field.Forbidden(at, msg))
		}
	}
	const noWindows, no = "windows options cannot be set for a linux pod", "cannot be set for a windows pod"
	if c := p.spec.SecurityContext; c != nil && c != plainSecurity && os == corev1.Linux {
		forbid(c.WindowsOptions != nil, noWindows, path.Child("securityContext", "windowsOptions"))
	} else if c != nil && os == corev1.Windows {
		for _, one := range p.unixOnly() {
			forbid(one.set, no, path.Child(one.at[0], one.at[1:]...))
		}
	}
	p.each(path, func(c *corev1.Container, at place) {
		if s := c.SecurityContext; s != nil && os == corev1.Linux {
			forbid(s.WindowsOptions != nil, noWindows, at.path().Child("securityContext", "windowsOptions"))
		} else if s != nil {
			for _, one := range unixOnly(s) {
				forbid(one.set, no, at.path().Child("securityContext", one.at...))
			}
		}
	})
	return errs
}

type setting struct {
	at  []string
	set bool
}

// unixOnly are the settings of a Pod that Windows does not have.
func (p *podScope) unixOnly() []setting {
	s, c, in := p.spec, p.spec.SecurityContext, "securityContext"
	return []setting{
		{[]string{in, "appArmorProfile"}, c.AppArmorProfile != nil},
		{[]string{in, "seLinuxOptions"}, c.SELinuxOptions != nil},
		{[]string{"hostUsers"}, s.HostUsers != nil},
		{[]string{"hostPID"}, s.HostPID}, {[]string{"hostIPC"}, s.HostIPC},
		{[]string{in, "seccompProfile"}, c.SeccompProfile != nil},
		{[]string{in, "fsGroup"}, c.FSGroup != nil},
		{[]string{in, "fsGroupChangePolicy"}, c.FSGroupChangePolicy != nil},
		{[]string{in, "sysctls"}, len(c.Sysctls) > 0},
		{[]string{in, "shareProcessNamespace"}, s.ShareProcessNamespace != nil},
		{[]string{in, "runAsUser"}, c.RunAsUser != nil}, {[]string{in, "runAsGroup"}, c.RunAsGroup != nil},
		{[]string{in, "supplementalGroups"}, c.SupplementalGroups != nil},
		{[]string{in, "supplementalGroupsPolicy"}, c.SupplementalGroupsPolicy != nil},
		{[]string{in, "seLinuxChangePolicy"}, c.SELinuxChangePolicy != nil},
	}
}

func unixOnly(c *corev1.SecurityContext) []setting {
	return []setting{
		{[]string{"appArmorProfile"}, c.AppArmorProfile != nil}, {[]string{"seLinuxOptions"}, c.SELinuxOptions != nil},
		{[]string{"seccompProfile"}, c.SeccompProfile != nil}, {[]string{"capabilities"}, c.Capabilities != nil},
		{[]string{"readOnlyRootFilesystem"}, c.ReadOnlyRootFilesystem != nil},
		{[]string{"privileged"}, c.Privileged != nil},
		{[]string{"allowPrivilegeEscalation"}, c.AllowPrivilegeEscalation != nil},
		{[]string{"procMount"}, c.ProcMount != nil},
		{[]string{"runAsUser"}, c.RunAsUser != nil}, {[]string{"runAsGroup"}, c.RunAsGroup != nil},
	}
}
