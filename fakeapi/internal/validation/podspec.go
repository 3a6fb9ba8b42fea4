package validation

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePodSpec checks what tests of ownership and controllers can get wrong
// in a Pod: names, images, policies, ports, volumes, node and deadline. What they ask
// for is held against their limits; other resources, probes, affinity and security
// settings are stored unchecked.
func validatePodSpec(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	var names map[string]bool
	if len(s.Volumes) > 0 {
		names = make(map[string]bool, len(s.Volumes))
	}
	for i := range s.Volumes {
		errs = append(errs, validateVolumeName(s.Volumes[i].Name, names,
			path.Child("volumes").Index(i).Child("name"))...)
	}
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	errs = append(errs, validateContainers(s.Containers, names, path.Child("containers"))...)
	if len(s.InitContainers) > 0 {
		errs = append(errs, validateContainers(s.InitContainers, names, path.Child("initContainers"))...)
	}
	switch s.RestartPolicy {
	case corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	default:
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), s.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure,
				corev1.RestartPolicyNever}))
	}
	switch s.DNSPolicy {
	case corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone:
	default:
		errs = append(errs, field.NotSupported(path.Child("dnsPolicy"), &s.DNSPolicy,
			[]corev1.DNSPolicy{corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault,
				corev1.DNSNone}))
	}
	if len(s.NodeSelector) > 0 {
		errs = append(errs, metav1validation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	}
	if s.ServiceAccountName != "" {
		for _, msg := range apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false) {
			errs = append(errs, field.Invalid(path.Child("serviceAccountName"), s.ServiceAccountName, msg))
		}
	}
	if s.NodeName != "" {
		for _, msg := range apivalidation.NameIsDNSSubdomain(s.NodeName, false) {
			errs = append(errs, field.Invalid(path.Child("nodeName"), s.NodeName, msg))
		}
	}
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *d,
			utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	return errs
}

func validateVolumeName(name string, seen map[string]bool, path *field.Path) (errs field.ErrorList) {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	case seen[name]:
		errs = append(errs, field.Duplicate(path, name))
	}
	seen[name] = true
	for _, msg := range utilvalidation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

func validateContainers(list []corev1.Container, volumes map[string]bool, path *field.Path) (errs field.ErrorList) {
	for i := range list {
		errs = append(errs, validateContainer(&list[i], volumes, path, i)...)
		for j := range i {
			if list[j].Name == list[i].Name {
				errs = append(errs, field.Duplicate(path.Index(i).Child("name"), list[i].Name))
				break
			}
		}
	}
	return errs
}

// validateContainer makes no path unless it has something to say.
func validateContainer(c *corev1.Container, volumes map[string]bool, path *field.Path, i int) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(path.Index(i).Child("name"), ""))
	} else {
		for _, msg := range utilvalidation.IsDNS1123Label(c.Name) {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), c.Name, msg))
		}
	}
	if c.Image == "" {
		errs = append(errs, field.Required(path.Index(i).Child("image"), ""))
	}
	switch c.TerminationMessagePolicy {
	case corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError:
	default:
		errs = append(errs, field.NotSupported(path.Index(i).Child("terminationMessagePolicy"),
			c.TerminationMessagePolicy,
			[]corev1.TerminationMessagePolicy{corev1.TerminationMessageReadFile,
				corev1.TerminationMessageFallbackToLogsOnError}))
	}
	for j := range c.Ports {
		errs = append(errs, validatePort(&c.Ports[j], path.Index(i).Child("ports").Index(j))...)
	}
	for j := range c.Env {
		if c.Env[j].Name == "" {
			errs = append(errs, field.Required(path.Index(i).Child("env").Index(j).Child("name"), ""))
		}
	}
	for j := range c.VolumeMounts {
		m := &c.VolumeMounts[j]
		at := path.Index(i).Child("volumeMounts").Index(j)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if !volumes[m.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
	}
	switch c.ImagePullPolicy {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		errs = append(errs, field.NotSupported(path.Index(i).Child("imagePullPolicy"), c.ImagePullPolicy,
			[]corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}))
	}
	return append(errs, validateRequests(&c.Resources, func() *field.Path {
		return path.Index(i).Child("resources")
	})...)
}

func validatePort(p *corev1.ContainerPort, path *field.Path) (errs field.ErrorList) {
	if p.Name != "" {
		for _, msg := range utilvalidation.IsValidPortName(p.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), p.Name, msg))
		}
	}
	if p.ContainerPort == 0 {
		errs = append(errs, field.Required(path.Child("containerPort"), ""))
	} else {
		for _, msg := range utilvalidation.IsValidPortNum(int(p.ContainerPort)) {
			errs = append(errs, field.Invalid(path.Child("containerPort"), p.ContainerPort, msg))
		}
	}
	switch p.Protocol {
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
	default:
		errs = append(errs, field.NotSupported(path.Child("protocol"), p.Protocol,
			[]corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}))
	}
	return errs
}
