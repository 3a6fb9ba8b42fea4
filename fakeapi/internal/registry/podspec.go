package registry

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// Objects keep what the real server's conversion to its internal form and back leaves of
// them, and what its strategies leave of fields whose feature is off.

func defaultPod(p *corev1.Pod) {
	presetPod(&p.Spec)
	coredefaults.SetObjectDefaults_Pod(p)
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	settlePodSpec(&p.Spec)
	alignAddresses(&p.Status)
}

// What defaults of Pods point to. Stored objects share it; nobody changes a stored object.
var (
	linked          = corev1.DefaultEnableServiceLinks
	thirtySeconds   = int64(corev1.DefaultTerminationGracePeriodSeconds)
	securityContext = corev1.PodSecurityContext{}
)

// presetPod sets what upstream's defaults would set too, but allocate for, as a
// simulation creates many Pods.
func presetPod(s *corev1.PodSpec) {
	if s.EnableServiceLinks == nil {
		s.EnableServiceLinks = &linked
	}
	if s.TerminationGracePeriodSeconds == nil {
		s.TerminationGracePeriodSeconds = &thirtySeconds
	}
	if s.SecurityContext == nil {
		s.SecurityContext = &securityContext
	}
	for _, list := range [...][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if c := &list[i]; c.ImagePullPolicy == "" {
				c.ImagePullPolicy = pullPolicy(c.Image)
			}
		}
	}
}

// pullPolicy is that of a plain reference to an image: words of lower case letters and
// digits, each after one of "/.-", and perhaps a tag of such words. It is "" for others.
func pullPolicy(image string) corev1.PullPolicy {
	name, tag, tagged := strings.Cut(image, ":")
	switch {
	case !plainWords(name) || len(name) >= 64 || tagged && (!plainWords(tag) || strings.Contains(tag, "/")):
		return ""
	case !tagged || tag == "latest":
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func plainWords(s string) bool {
	word := false
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
			word = true
		case word && (b == '/' || b == '.' || b == '-'):
			word = false
		default:
			return false
		}
	}
	return word
}

// alignAddresses makes of a Pod's address and the list of its addresses one thing: the
// single one, which is the older field, goes before the list, and is the first of it.
func alignAddresses(s *corev1.PodStatus) {
	switch {
	case s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP):
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	case len(s.PodIPs) > 0:
		s.PodIP = s.PodIPs[0].IP
	}
}

func settleTemplate(t *corev1.PodTemplateSpec) { settlePodSpec(&t.Spec) }

// settlePodSpec settles what a Pod and a Pod template have in common.
func settlePodSpec(s *corev1.PodSpec) {
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = s.DeprecatedServiceAccount
	} else {
		s.DeprecatedServiceAccount = s.ServiceAccountName
	}
	s.SchedulingGroup = nil // the feature is off by default
	for i := range s.InitContainers {
		dropStopSignal(&s.InitContainers[i])
	}
	for i := range s.Containers {
		dropStopSignal(&s.Containers[i])
	}
	for i := range s.EphemeralContainers {
		dropStopSignal((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

// dropStopSignal: the feature is off by default.
func dropStopSignal(c *corev1.Container) {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return
	}
	c.Lifecycle.StopSignal = nil
	if *c.Lifecycle == (corev1.Lifecycle{}) {
		c.Lifecycle = nil
	}
}

// qosOf is the quality-of-service class of a new Pod.
func qosOf(p *corev1.Pod) corev1.PodQOSClass {
	if r := p.Spec.Resources; r != nil {
		return qosOfWhole(r)
	}
	any, guaranteed := false, true
	for _, list := range [...][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			r := &list[i].Resources
			for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				limit, request := r.Limits[name], r.Requests[name]
				any = any || limit.Sign() > 0 || request.Sign() > 0
				if limit.Sign() <= 0 || limit.Cmp(request) != 0 {
					guaranteed = false
				}
			}
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// qosOfWhole is the class of a Pod that asks for resources as a whole.
func qosOfWhole(r *corev1.ResourceRequirements) corev1.PodQOSClass {
	any, guaranteed := false, true
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, request := r.Limits[name], r.Requests[name]
		any = any || limit.Sign() > 0 || request.Sign() > 0
		guaranteed = guaranteed && limit.Sign() > 0 && limit.Cmp(request) == 0
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
