package validation

import (
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (p *podScope) validateContainers(path *field.Path) (errs field.ErrorList) {
	list := p.spec.Containers
	if len(list) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	for i := range list {
		c := &list[i]
		errs = append(errs, p.validateContainer(c, func() *field.Path { return path.Index(i) })...)
		if namedIn(list[:i], c.Name) {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), c.Name))
		}
		errs = append(errs, p.validateRunning(c, path, i)...)
		if c.RestartPolicy != nil || len(c.RestartPolicyRules) > 0 {
			errs = append(errs, validateRestarts(c, path.Index(i))...)
		}
	}
	return append(errs, duplicatePorts(list, path)...)
}

// validateRunning checks what is done with a container while it runs.
func (p *podScope) validateRunning(c *corev1.Container, path *field.Path, i int) (errs field.ErrorList) {
	if c.Lifecycle != nil {
		errs = append(errs, p.validateLifecycle(c.Lifecycle, path.Index(i).Child("lifecycle"))...)
	}
	if c.LivenessProbe == nil && c.ReadinessProbe == nil && c.StartupProbe == nil {
		return errs
	}
	return append(errs, p.validateProbes(c, path.Index(i))...)
}

func namedIn(list []corev1.Container, name string) bool {
	for i := range list {
		if list[i].Name == name {
			return true
		}
	}
	return false
}

func (p *podScope) validateInitContainers(path *field.Path) (errs field.ErrorList) {
	const without = "may not be set for init containers without restartPolicy=Always"
	list := p.spec.InitContainers
	for i := range list {
		c, at := &list[i], path.Index(i)
		errs = append(errs, p.validateContainer(c, func() *field.Path { return at })...)
		if c.RestartPolicy != nil || len(c.RestartPolicyRules) > 0 {
			errs = append(errs, validateRestarts(c, at)...)
		}
		if namedIn(p.spec.Containers, c.Name) || c.Name != "" && namedIn(list[:i], c.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		errs = append(errs, duplicatePorts(list[i:i+1], path)...)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			errs = append(errs, p.validateRunning(c, path, i)...)
			continue
		}
		for _, one := range [...]struct {
			name string
			set  bool
		}{{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil},
			{"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil}} {
			if one.set {
				errs = append(errs, field.Forbidden(at.Child(one.name), without))
			}
		}
		for j, policy := range c.ResizePolicy {
			if policy.RestartPolicy == corev1.RestartContainer {
				errs = append(errs, field.Invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"),
					policy.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
			}
		}
	}
	return errs
}

// ephemeralFields are those that an ephemeral container may have.
var ephemeralFields = map[string]bool{"Name": true, "Image": true, "Command": true, "Args": true, "WorkingDir": true,
	"EnvFrom": true, "Env": true, "VolumeMounts": true, "VolumeDevices": true,
	"TerminationMessagePath": true, "TerminationMessagePolicy": true, "ImagePullPolicy": true,
	"SecurityContext": true, "Stdin": true, "StdinOnce": true, "TTY": true}

func (p *podScope) validateEphemeral(path *field.Path) (errs field.ErrorList) {
	const not = "cannot be set for an Ephemeral Container"
	for i := range p.spec.EphemeralContainers {
		e, at := &p.spec.EphemeralContainers[i], path.Index(i)
		c := (*corev1.Container)(&e.EphemeralContainerCommon)
		errs = append(errs, p.validateContainer(c, func() *field.Path { return at })...)
		errs = append(errs, paddedImage(c, at)...)
		if namedIn(p.spec.Containers, e.Name) || namedIn(p.spec.InitContainers, e.Name) || p.ephemeralNamed(e.Name, i) {
			errs = append(errs, field.Duplicate(at.Child("name"), e.Name))
		}
		if t := e.TargetContainerName; t != "" && !namedIn(p.spec.Containers, t) && !namedIn(p.spec.InitContainers, t) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), t))
		}
		errs = append(errs, onlyFields(e.EphemeralContainerCommon, ephemeralFields, not, at)...)
		for j := range e.VolumeMounts {
			if e.VolumeMounts[j].SubPath != "" {
				errs = append(errs, field.Forbidden(at.Child("volumeMounts").Index(j).Child("subPath"), not))
			}
			if e.VolumeMounts[j].SubPathExpr != "" {
				errs = append(errs, field.Forbidden(at.Child("volumeMounts").Index(j).Child("subPathExpr"), not))
			}
		}
	}
	return errs
}

func (p *podScope) ephemeralNamed(name string, before int) bool {
	for i := range before {
		if p.spec.EphemeralContainers[i].Name == name {
			return true
		}
	}
	return false
}

// onlyFields checks that a struct has values in some of its fields alone.
func onlyFields(value any, fields map[string]bool, not string, path *field.Path) (errs field.ErrorList) {
	v := reflect.ValueOf(value)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !fields[name] && !v.Field(i).IsZero() {
			errs = append(errs, field.Forbidden(path.Child(strings.ToLower(name[:1])+name[1:]), not))
		}
	}
	return errs
}

// validateContainer checks what all containers have in common.
func (p *podScope) validateContainer(c *corev1.Container, path func() *field.Path) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(path().Child("name"), ""))
	} else if msgs := utilvalidation.IsDNS1123Label(c.Name); len(msgs) > 0 {
		errs = append(errs, label(c.Name, path().Child("name"))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(path().Child("image"), ""))
	}
	if c.TerminationMessagePolicy != corev1.TerminationMessageReadFile {
		errs = append(errs, amongSome(c.TerminationMessagePolicy, path().Child("terminationMessagePolicy"),
			corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	}
	if len(c.Ports) > 0 {
		errs = append(errs, validatePorts(c.Ports, path().Child("ports"))...)
	}
	for i := range c.Env {
		errs = append(errs, validateEnv(&c.Env[i], path().Child("env").Index(i))...)
	}
	if len(c.EnvFrom) > 0 {
		errs = append(errs, validateEnvFrom(c.EnvFrom, path().Child("envFrom"))...)
	}
	if len(c.VolumeMounts) > 0 {
		errs = append(errs, p.validateMounts(c, path().Child("volumeMounts"))...)
	}
	if len(c.VolumeDevices) > 0 {
		errs = append(errs, p.validateDevices(c, path().Child("volumeDevices"))...)
	}
	switch c.ImagePullPolicy {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		errs = append(errs, pullPolicy(c.ImagePullPolicy, path().Child("imagePullPolicy"))...)
	}
	if r := &c.Resources; len(r.Limits) > 0 || len(r.Requests) > 0 || len(r.Claims) > 0 {
		errs = append(errs, validateRequirements(r, containerResource, p.spec.ResourceClaims,
			path().Child("resources"))...)
	}
	if len(c.ResizePolicy) > 0 {
		errs = append(errs, p.validateResize(c.ResizePolicy, path().Child("resizePolicy"))...)
	}
	if c.SecurityContext != nil {
		errs = append(errs, p.validateSecurity(c.SecurityContext, path().Child("securityContext"))...)
	}
	return errs
}

func pullPolicy(policy corev1.PullPolicy, path *field.Path) field.ErrorList {
	return amongSome(policy, path, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func validatePorts(ports []corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	var names map[string]bool
	for i := range ports {
		p, at := &ports[i], path.Index(i)
		if p.Name != "" {
			wrong := named(p.Name, at.Child("name"), plain(utilvalidation.IsValidPortName))
			if len(wrong) == 0 && names[p.Name] {
				wrong = field.ErrorList{field.Duplicate(at.Child("name"), p.Name)}
			}
			if names == nil {
				names = map[string]bool{}
			}
			names[p.Name] = names[p.Name] || len(wrong) == 0
			errs = append(errs, wrong...)
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, portNumber(p.ContainerPort, at, "containerPort")...)
		}
		if p.HostPort != 0 {
			errs = append(errs, portNumber(p.HostPort, at, "hostPort")...)
		}
		errs = append(errs, amongSome(p.Protocol, at.Child("protocol"), corev1.ProtocolSCTP, corev1.ProtocolTCP,
			corev1.ProtocolUDP)...)
	}
	return errs
}

func portNumber(n int32, path *field.Path, name string) (errs field.ErrorList) {
	for _, msg := range utilvalidation.IsValidPortNum(int(n)) {
		errs = append(errs, field.Invalid(path.Child(name), n, msg))
	}
	return errs
}

// duplicatePorts: a port of the host is one container's.
func duplicatePorts(list []corev1.Container, path *field.Path) (errs field.ErrorList) {
	var taken map[string]bool
	for i := range list {
		for j, port := range list[i].Ports {
			if port.HostPort == 0 {
				continue
			}
			text := string(port.Protocol) + "/" + port.HostIP + "/" + strconv.Itoa(int(port.HostPort))
			if taken[text] {
				errs = append(errs, field.Duplicate(path.Index(i).Child("ports").Index(j).Child("hostPort"), text))
			}
			if taken == nil {
				taken = map[string]bool{}
			}
			taken[text] = true
		}
	}
	return errs
}

// paddedImage is asked of Pods alone, not of templates.
func paddedImage(c *corev1.Container, path *field.Path) field.ErrorList {
	if !padded(c.Image) {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("image"), c.Image, "must not have leading or trailing whitespace")}
}

func padded(text string) bool { return strings.TrimSpace(text) != text }
