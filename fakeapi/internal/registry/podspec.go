package registry

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// What defaults point to. Stored objects share it; nobody changes a stored object.
var (
	yes, no         = true, false
	thirtySeconds   = int64(corev1.DefaultTerminationGracePeriodSeconds)
	modeReadable    = int32(corev1.ConfigMapVolumeSourceDefaultMode)
	hour            = int64(3600)
	hostPathUnset   = corev1.HostPathUnset
	volumeFS        = corev1.PersistentVolumeFilesystem
	clusterInternal = corev1.ServiceInternalTrafficPolicyCluster
)

func defaultPod(p *corev1.Pod) {
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	roundUp(&p.Status.AllocatedResources)
	roundResources(p.Status.Resources)
	roundStatuses(p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses)
	for i := range p.Spec.Containers {
		requestLimits(&p.Spec.Containers[i].Resources)
	}
	for i := range p.Spec.InitContainers {
		requestLimits(&p.Spec.InitContainers[i].Resources)
	}
	if p.Spec.EnableServiceLinks == nil {
		p.Spec.EnableServiceLinks = &yes
	}
	defaultPodSpec(&p.Spec)
	alignAddresses(&p.Status)
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

// requestLimits makes requests of the limits that have none.
func requestLimits(r *corev1.ResourceRequirements) {
	if len(r.Limits) == 0 {
		return
	}
	all := make(corev1.ResourceList, len(r.Limits))
	maps.Copy(all, r.Limits)
	maps.Copy(all, r.Requests)
	r.Requests = all
}

// defaultPodSpec fills in what a Pod and a Pod template have in common.
func defaultPodSpec(s *corev1.PodSpec) {
	if s.DNSPolicy == "" {
		s.DNSPolicy = corev1.DNSClusterFirst
	}
	if s.RestartPolicy == "" {
		s.RestartPolicy = corev1.RestartPolicyAlways
	}
	if s.SecurityContext == nil {
		s.SecurityContext = validation.NoSecurity()
	}
	if s.TerminationGracePeriodSeconds == nil {
		s.TerminationGracePeriodSeconds = &thirtySeconds
	}
	if s.SchedulerName == "" {
		s.SchedulerName = corev1.DefaultSchedulerName
	}
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = s.DeprecatedServiceAccount
	} else {
		s.DeprecatedServiceAccount = s.ServiceAccountName
	}
	s.SchedulingGroup = nil // the feature is off by default
	roundUp(&s.Overhead)
	roundResources(s.Resources)
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i], s.HostNetwork)
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i], s.HostNetwork)
	}
	for i := range s.EphemeralContainers {
		defaultContainer((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon), false)
	}
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
}

func defaultContainer(c *corev1.Container, hostNetwork bool) {
	if c.TerminationMessagePath == "" {
		c.TerminationMessagePath = corev1.TerminationMessagePathDefault
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	}
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = corev1.PullIfNotPresent
		if imageTag(c.Image) == "latest" {
			c.ImagePullPolicy = corev1.PullAlways
		}
	}
	roundResources(&c.Resources)
	for i := range c.Ports {
		if c.Ports[i].Protocol == "" {
			c.Ports[i].Protocol = corev1.ProtocolTCP
		}
		if hostNetwork && c.Ports[i].HostPort == 0 {
			c.Ports[i].HostPort = c.Ports[i].ContainerPort
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil && from.FieldRef.APIVersion == "" {
			from.FieldRef.APIVersion = "v1"
		}
	}
	for _, p := range [...]*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(p)
	}
	if c.Lifecycle != nil && c.Lifecycle.StopSignal != nil {
		c.Lifecycle.StopSignal = nil // the feature is off by default
		if *c.Lifecycle == (corev1.Lifecycle{}) {
			c.Lifecycle = nil
		}
	}
	if c.Lifecycle != nil {
		for _, h := range [...]*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
}

// imageTag is the tag of an image reference: "latest" when it names neither a
// tag nor a digest.
func imageTag(image string) string {
	if image == "" {
		return ""
	}
	if strings.Contains(image, "@") {
		return ""
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if _, tag, ok := strings.Cut(name, ":"); ok {
		return tag
	}
	return "latest"
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	if p.TimeoutSeconds == 0 {
		p.TimeoutSeconds = 1
	}
	if p.PeriodSeconds == 0 {
		p.PeriodSeconds = 10
	}
	if p.SuccessThreshold == 0 {
		p.SuccessThreshold = 1
	}
	if p.FailureThreshold == 0 {
		p.FailureThreshold = 3
	}
	defaultHTTPGet(p.HTTPGet)
	if p.GRPC != nil && p.GRPC.Service == nil {
		p.GRPC.Service = new(string)
	}
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	if h == nil {
		return
	}
	if h.Path == "" {
		h.Path = "/"
	}
	if h.Scheme == "" {
		h.Scheme = corev1.URISchemeHTTP
	}
}

func defaultVolume(v *corev1.Volume) {
	switch {
	case v.VolumeSource == corev1.VolumeSource{}:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case v.Secret != nil && v.Secret.DefaultMode == nil:
		v.Secret.DefaultMode = &modeReadable
	case v.ConfigMap != nil && v.ConfigMap.DefaultMode == nil:
		v.ConfigMap.DefaultMode = &modeReadable
	case v.DownwardAPI != nil:
		if v.DownwardAPI.DefaultMode == nil {
			v.DownwardAPI.DefaultMode = &modeReadable
		}
		defaultDownward(v.DownwardAPI.Items)
	case v.Projected != nil:
		if v.Projected.DefaultMode == nil {
			v.Projected.DefaultMode = &modeReadable
		}
		for i := range v.Projected.Sources {
			src := &v.Projected.Sources[i]
			if src.DownwardAPI != nil {
				defaultDownward(src.DownwardAPI.Items)
			}
			if src.ServiceAccountToken != nil && src.ServiceAccountToken.ExpirationSeconds == nil {
				src.ServiceAccountToken.ExpirationSeconds = &hour
			}
		}
	case v.HostPath != nil && v.HostPath.Type == nil:
		v.HostPath.Type = &hostPathUnset
	case v.ISCSI != nil:
		orText(&v.ISCSI.ISCSIInterface, defaultInterface)
	case v.RBD != nil:
		defaultRBD(&v.RBD.RBDPool, &v.RBD.RadosUser, &v.RBD.Keyring)
	case v.AzureDisk != nil:
		defaultAzureDisk(v.AzureDisk)
	case v.ScaleIO != nil:
		defaultScaleIO(&v.ScaleIO.StorageMode, &v.ScaleIO.FSType)
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		defaultClaimSpec(&v.Ephemeral.VolumeClaimTemplate.Spec)
	}
}

func defaultDownward(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		if ref := items[i].FieldRef; ref != nil && ref.APIVersion == "" {
			ref.APIVersion = "v1"
		}
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
