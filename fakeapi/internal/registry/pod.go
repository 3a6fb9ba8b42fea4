package registry

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var pods = kind[corev1.Pod, corev1.PodList](corev1.SchemeGroupVersion, validation.Pod, &Row{
	Counts: "Spec", ReturnDeleted: true, Default: On(defaultPod),
	Admit: admitPod, Plugin: "DefaultTolerationSeconds",
	PrepareCreate: On(preparePod),
	ForStatus:     Update{Prepare: Over(preparePodStatus)},
	other: map[string]*Update{"ephemeralcontainers": {Prepare: Over(prepareEphemeral),
		Judge: validation.EphemeralContainers, Owns: [][]any{{"spec", "ephemeralContainers"}}},
		"resize": {Prepare: Over(prepareResize), Judge: validation.PodResize, Owns: [][]any{
			{"spec", "containers", nil, "resources"}, {"spec", "containers", nil, "resizePolicy"},
			{"spec", "initContainers", nil, "resources"}, {"spec", "initContainers", nil, "resizePolicy"}}}},
	ResetByStatus: [][]any{{"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}},
	Grace:         podGrace,
	SelectableKeys: []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
		"spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"},
	Selectable: selects(selectPod),
})

func preparePod(p *corev1.Pod) {
	p.Status.Phase, p.Status.QOSClass = corev1.PodPending, qosOf(p)
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason:             corev1.PodReasonSchedulingGated,
			Message:            "Scheduling is blocked due to non-empty scheduling gates",
			LastTransitionTime: p.CreationTimestamp}}
	}
}

// preparePodStatus keeps the old owner references, as in the real server, because old kubelets corrupt them.
func preparePodStatus(p, old *corev1.Pod) {
	p.DeletionTimestamp = nil
	p.OwnerReferences = old.OwnerReferences
	if old.Status.NodeAllocatableResourceClaimStatuses == nil { // feature DRANodeAllocatableResources is off
		p.Status.NodeAllocatableResourceClaimStatuses = nil
	}
	if p.Status.QOSClass == "" {
		p.Status.QOSClass = old.Status.QOSClass
	}
}

// podGrace returns the grace period of a Pod in seconds. It is zero if no kubelet runs the Pod.
func podGrace(obj runtime.Object, asked *int64) int64 {
	p := obj.(*corev1.Pod)
	switch {
	case p.Spec.NodeName == "", p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
		return 0
	case asked != nil:
		return max(*asked, 0)
	case p.Spec.TerminationGracePeriodSeconds == nil:
		return 0
	case *p.Spec.TerminationGracePeriodSeconds < 0:
		return 1
	}
	return *p.Spec.TerminationGracePeriodSeconds
}

func selectPod(p *corev1.Pod, set fields.Set) {
	set["spec.nodeName"] = p.Spec.NodeName
	set["spec.restartPolicy"] = string(p.Spec.RestartPolicy)
	set["spec.schedulerName"] = p.Spec.SchedulerName
	set["spec.serviceAccountName"] = p.Spec.ServiceAccountName
	set["spec.hostNetwork"] = strconv.FormatBool(p.Spec.HostNetwork)
	set["status.phase"] = string(p.Status.Phase)
	set["status.podIP"] = ""
	if len(p.Status.PodIPs) > 0 {
		set["status.podIP"] = p.Status.PodIPs[0].IP
	}
	set["status.nominatedNodeName"] = p.Status.NominatedNodeName
}

var tolerationTime = int64(300)

// admitPod is the DefaultTolerationSeconds plugin. For updates it is also the Priority plugin.
func admitPod(obj, old runtime.Object) error {
	p := obj.(*corev1.Pod)
	if old != nil {
		was := old.(*corev1.Pod)
		if p.Spec.Priority == nil {
			p.Spec.Priority = was.Spec.Priority
		}
		if p.Spec.PreemptionPolicy == nil {
			p.Spec.PreemptionPolicy = was.Spec.PreemptionPolicy
		}
	}
	unready := [...]string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}
	for i, key := range unready {
		if !tolerates(p.Spec.Tolerations, key) {
			p.Spec.Tolerations = append(slices.Grow(p.Spec.Tolerations, len(unready)-i), corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: &tolerationTime,
			})
		}
	}
	return nil
}

func tolerates(tolerations []corev1.Toleration, key string) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
	})
}

// prepareEphemeral restores all fields of the Pod except the ephemeral containers, which the request may change.
func prepareEphemeral(p, old *corev1.Pod) {
	added := p.Spec.EphemeralContainers
	p.Spec, p.Status = old.Spec, old.Status
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = old.DeletionTimestamp, old.DeletionGracePeriodSeconds
	p.OwnerReferences, p.Finalizers = old.OwnerReferences, old.Finalizers
	p.Labels, p.Annotations = old.Labels, old.Annotations
	p.Spec.EphemeralContainers = added
	if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
		p.Generation = old.Generation + 1
	}
}

// prepareResize restores all fields except resources and resize policies. Validation refuses added containers.
func prepareResize(p, old *corev1.Pod) {
	if len(p.Spec.Containers) != len(old.Spec.Containers) || len(p.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return
	}
	asked := p.Spec
	p.Spec, p.Status = old.Spec, old.Status
	metav1.ResetObjectMetaForStatus(&p.ObjectMeta, &old.ObjectMeta)
	p.Spec.Resources = asked.Resources
	p.Spec.Containers = resized(asked.Containers, old.Spec.Containers)
	p.Spec.InitContainers = resized(asked.InitContainers, old.Spec.InitContainers)
	if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
		p.Generation = old.Generation + 1
	}
}

func resized(asked, old []corev1.Container) []corev1.Container {
	all := slices.Clone(old)
	for i := range all {
		if all[i].Name != asked[i].Name {
			return asked
		}
		all[i].Resources, all[i].ResizePolicy = asked[i].Resources, asked[i].ResizePolicy
	}
	return all
}

// defaultPod sets a Pod's defaults. It drops disabled fields, and fields that the real server's internal type lacks.
func defaultPod(p *corev1.Pod) {
	presetPod(&p.Spec)
	coredefaults.SetObjectDefaults_Pod(p)
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	settlePodSpec(&p.Spec)
	alignAddresses(&p.Status)
}

// Default values to which pointers in stored Pods point. Pods share these values, so they must not be changed.
var (
	linked          = corev1.DefaultEnableServiceLinks
	thirtySeconds   = int64(corev1.DefaultTerminationGracePeriodSeconds)
	securityContext = corev1.PodSecurityContext{}
)

// presetPod sets defaults without allocations, because a simulation creates many Pods.
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

// pullPolicy returns the default pull policy for a simple image reference: lower-case letters and digits, separated by
// "/", "." or "-", with an optional tag. For any other reference it returns "", and upstream's code sets the default.
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

// alignAddresses makes podIP and the first item of podIPs equal. If both are set, podIP decides.
func alignAddresses(s *corev1.PodStatus) {
	switch {
	case s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP):
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	case len(s.PodIPs) > 0:
		s.PodIP = s.PodIPs[0].IP
	}
}

// settlePodSpec sets defaults that Pods and Pod templates share, and drops fields of disabled features.
func settlePodSpec(s *corev1.PodSpec) {
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = s.DeprecatedServiceAccount
	} else {
		s.DeprecatedServiceAccount = s.ServiceAccountName
	}
	s.SchedulingGroup = nil // the feature GenericWorkload is off
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

func dropStopSignal(c *corev1.Container) {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return
	}
	c.Lifecycle.StopSignal = nil
	if *c.Lifecycle == (corev1.Lifecycle{}) {
		c.Lifecycle = nil
	}
}

// qosOf returns the quality-of-service class of a new Pod. Pod-level resources replace the resources of containers.
func qosOf(p *corev1.Pod) corev1.PodQOSClass {
	any, guaranteed := false, true
	count := func(r *corev1.ResourceRequirements) {
		for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, request := r.Limits[name], r.Requests[name]
			any = any || limit.Sign() > 0 || request.Sign() > 0
			guaranteed = guaranteed && limit.Sign() > 0 && limit.Cmp(request) == 0
		}
	}
	if r := p.Spec.Resources; r != nil {
		count(r)
	} else {
		for _, list := range [...][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				count(&list[i].Resources)
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
