package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WarnPod warns of what a Pod's spec is unlikely to mean (k8s.io/kubernetes, pkg/api/pod/warnings.go).
func WarnPod(p *corev1.Pod) []string { return warnPodSpec(nil, &p.Spec, p.Annotations) }

// WarnTemplate is WarnPod for the template that is at a path.
func WarnTemplate(t *corev1.PodTemplateSpec, path *field.Path) []string {
	return warnPodSpec(path, &t.Spec, t.Annotations)
}

// deadAnnotations are annotations of Pods that nothing reads any more.
var deadAnnotations = [...]struct{ key, text string }{
	{"scheduler.alpha.kubernetes.io/critical-pod",
		`non-functional in v1.16+; use the "priorityClassName" field instead`},
	{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
}

// warnPodSpec looks at a spec, in the real server's order.
func warnPodSpec(at *field.Path, s *corev1.PodSpec, annotations map[string]string) []string {
	all := warnPlacement(at, s)
	for _, a := range deadAnnotations {
		if _, ok := annotations[a.key]; ok {
			all = append(all, fmt.Sprintf("%s: %s", at.Child("metadata", "annotations").Key(a.key), a.text))
		}
	}
	all = append(all, warnVolumes(at, s.Volumes)...)
	all = append(all, warnOverlaps(s.Volumes)...)
	all = append(all, warnTwice(at, s)...)
	for _, name := range byteResources {
		all = append(all, warnFraction(s.Overhead, name, func() *field.Path { return at.Child("spec", "overhead") })...)
	}
	all = append(all, warnContainers(at, s, annotations)...)
	all = append(all, warnPorts(at, s)...)
	all = append(all, warnPortNames(at, s)...)
	if g := s.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		all = append(all, fmt.Sprintf("%s: must be >= 0; negative values are invalid and will be treated as 1",
			at.Child("spec", "terminationGracePeriodSeconds")))
	}
	all = append(all, warnAffinity(at, s.Affinity)...)
	if s.DNSConfig != nil {
		for i, ip := range s.DNSConfig.Nameservers {
			all = append(all, utilvalidation.GetWarningsForIP(at.Child("spec", "dnsConfig", "nameservers").Index(i),
				ip)...)
		}
	}
	for i := range s.HostAliases {
		all = append(all, utilvalidation.GetWarningsForIP(at.Child("spec", "hostAliases").Index(i).Child("ip"),
			s.HostAliases[i].IP)...)
	}
	return all
}

const since17 = "deprecated since v1.17; "

// oldNodeLabels are labels of nodes that others have replaced.
var oldNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      since17 + `use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        since17 + `use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              since17 + `use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  "deprecated since v1.9",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// warnNodeTerm warns of old labels in a term, and of values that no label has, where asked.
func warnNodeTerm(t *corev1.NodeSelectorTerm, values bool, path *field.Path) (all []string) {
	for i := range t.MatchExpressions {
		e, at := &t.MatchExpressions[i], path.Child("matchExpressions").Index(i)
		if text, old := oldNodeLabels[e.Key]; old {
			all = append(all, fmt.Sprintf("%s: %s is %s", at.Child("key"), e.Key, text))
		}
		for j := 0; values && j < len(e.Values); j++ {
			for _, msg := range utilvalidation.IsValidLabelValue(e.Values[j]) {
				all = append(all, fmt.Sprintf("%s: %s is invalid, %s", at.Child("values").Index(j), e.Values[j], msg))
			}
		}
	}
	return all
}

func warnPlacement(at *field.Path, s *corev1.PodSpec) (all []string) {
	if len(s.NodeSelector) > 0 {
		for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
			if text, old := oldNodeLabels[key]; old {
				all = append(all, fmt.Sprintf("%s: %s", at.Child("spec", "nodeSelector").Key(key), text))
			}
		}
	}
	if a := s.Affinity; a != nil && a.NodeAffinity != nil {
		path := at.Child("spec", "affinity", "nodeAffinity")
		if must := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; must != nil {
			for i := range must.NodeSelectorTerms {
				all = append(all, warnNodeTerm(&must.NodeSelectorTerms[i], false,
					path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i))...)
			}
		}
		may := a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		for i := range may {
			all = append(all, warnNodeTerm(&may[i].Preference, true,
				path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"))...)
		}
	}
	for i := range s.TopologySpreadConstraints {
		c := &s.TopologySpreadConstraints[i]
		path := at.Child("spec", "topologySpreadConstraints").Index(i)
		if text, old := oldNodeLabels[c.TopologyKey]; old {
			all = append(all, fmt.Sprintf("%s: %s is %s", path.Child("topologyKey"), c.TopologyKey, text))
		}
		if c.LabelSelector == nil {
			all = append(all, fmt.Sprintf("%s: %s", path.Child("labelSelector"), matchesNothing))
		}
	}
	return all
}

const matchesNothing = "a null labelSelector results in matching no pod"

func warnAffinity(at *field.Path, a *corev1.Affinity) (all []string) {
	if a == nil {
		return nil
	}
	warn := func(name string, must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm) {
		path := at.Child("spec", "affinity", name)
		for i := range must {
			if must[i].LabelSelector == nil {
				all = append(all, fmt.Sprintf("%s: %s", path.Child("requiredDuringSchedulingIgnoredDuringExecution").
					Index(i).Child("labelSelector"), matchesNothing))
			}
		}
		for i := range may {
			if may[i].PodAffinityTerm.LabelSelector == nil {
				all = append(all, fmt.Sprintf("%s: %s", path.Child("preferredDuringSchedulingIgnoredDuringExecution").
					Index(i).Child("podAffinityTerm", "labelSelector"), matchesNothing))
			}
		}
	}
	if p := a.PodAffinity; p != nil {
		warn("podAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution,
			p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		warn("podAntiAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution,
			p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return all
}

// warnTwice warns of host aliases and pull secrets that are given twice, or for nothing.
func warnTwice(at *field.Path, s *corev1.PodSpec) (all []string) {
	for i := range s.HostAliases {
		ip := s.HostAliases[i].IP
		if slices.ContainsFunc(s.HostAliases[:i], func(o corev1.HostAlias) bool { return o.IP == ip }) {
			all = append(all, fmt.Sprintf("%s: duplicate ip %q", at.Child("spec", "hostAliases").Index(i).Child("ip"),
				ip))
		}
	}
	path := func(i int) *field.Path { return at.Child("spec", "imagePullSecrets").Index(i).Child("name") }
	for i, ref := range s.ImagePullSecrets {
		if slices.Contains(s.ImagePullSecrets[:i], ref) {
			all = append(all, fmt.Sprintf("%s: duplicate name %q", path(i), ref.Name))
		}
	}
	for i, ref := range s.ImagePullSecrets {
		if ref.Name == "" {
			all = append(all, fmt.Sprintf("%s: invalid empty name %q", path(i), ref.Name))
		}
	}
	return all
}

// appArmorOf is the profile that an annotation means, nil when it means none.
func appArmorOf(annotation string) *corev1.AppArmorProfile {
	name, local := strings.CutPrefix(annotation, "localhost/")
	switch {
	case annotation == "unconfined":
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case annotation == "runtime/default":
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case local && name != "":
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
	}
	return nil
}

// warnAppArmor warns of an annotation in a template in whose place there is a field. Of a Pod it is
// warned when the field is made of it.
func warnAppArmor(at *field.Path, s *corev1.PodSpec, c *corev1.Container, annotations map[string]string) []string {
	key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
	annotation, ok := annotations[key]
	if !ok || at == nil || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
		return nil
	}
	if s.SecurityContext != nil && s.SecurityContext.AppArmorProfile != nil &&
		equality.Semantic.DeepEqual(s.SecurityContext.AppArmorProfile, appArmorOf(annotation)) {
		return nil
	}
	return []string{fmt.Sprintf(`%s: deprecated since v1.30; use the "appArmorProfile" field instead`,
		at.Child("metadata", "annotations").Key(key))}
}
