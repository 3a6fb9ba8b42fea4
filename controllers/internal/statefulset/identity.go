package statefulset

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
)

// identity splits a name: web-3 gives "web" and 3. The ordinal is -1 if the name has none, or if it exceeds int32.
func identity(name string) (set string, ordinal int) {
	i := strings.LastIndexByte(name, '-')
	digits := name[i+1:]
	if i < 0 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", -1
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return name[:i], -1
	}
	return name[:i], int(n)
}

func ordinal(p *corev1.Pod) int {
	_, n := identity(p.Name)
	return n
}

func nameOf(set *appsv1.StatefulSet, ordinal int) string {
	return set.Name + "-" + strconv.Itoa(ordinal)
}

func claimName(set *appsv1.StatefulSet, template string, ordinal int) string {
	return template + "-" + nameOf(set, ordinal)
}

// claims reports whether name is the name of a claim of one of the set's pods.
func claims(set *appsv1.StatefulSet, name string) bool {
	of, n := identity(name)
	return n >= 0 && slices.ContainsFunc(set.Spec.VolumeClaimTemplates,
		func(t corev1.PersistentVolumeClaim) bool { return of == t.Name+"-"+set.Name })
}

func first(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

func wanted(set *appsv1.StatefulSet) int {
	if set.Spec.Replicas == nil {
		return 1
	}
	return int(*set.Spec.Replicas)
}

func wants(set *appsv1.StatefulSet, ordinal int) bool {
	return ordinal >= first(set) && ordinal < first(set)+wanted(set)
}

// member reports whether a pod's name is a name of the set's pods, even if its ordinal is not wanted (KIND-STS-1, RULES
// F59). Upstream also accepts web-01 as web-1, but no update can rename a pod.
func member(set *appsv1.StatefulSet, name string, without *Without) bool {
	of, n := identity(name)
	return without.Member || of == set.Name && (name == nameOf(set, n) || without.Canonical) ||
		without.Prefix && strings.HasPrefix(of, set.Name+"-")
}

func selects(set *appsv1.StatefulSet, have map[string]string) bool {
	return ref.SelectsSome(set.Spec.Selector, have)
}

// selector returns a set's selector. It is nil if it selects nothing or cannot be parsed.
func selector(set runtime.Object) labels.Selector {
	s, _ := ref.ParseSome(set.(*appsv1.StatefulSet).Spec.Selector)
	return s
}

// newPod returns a set's pod with an ordinal and a revision. Its host name and subdomain cannot be changed later.
func newPod(set *appsv1.StatefulSet, ordinal int, revision string) *corev1.Pod {
	p := pod.FromTemplate(&set.Spec.Template, set, metav1.NewControllerRef(set, Kind))
	p.Name = nameOf(set, ordinal)
	identify(set, p)
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, set.Spec.ServiceName
	mount(set, p)
	if revision != "" {
		p.Labels[appsv1.StatefulSetRevisionLabel] = revision
	}
	return p
}

// identified reports whether a pod's name is in its labels. It ignores the index label.
func identified(set *appsv1.StatefulSet, p *corev1.Pod) bool {
	return p.Labels[appsv1.StatefulSetPodNameLabel] == p.Name && p.Name == nameOf(set, ordinal(p))
}

func identify(set *appsv1.StatefulSet, p *corev1.Pod) {
	n := ordinal(p)
	p.Name = nameOf(set, n)
	p.Labels = maps.Clone(p.Labels)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[appsv1.StatefulSetPodNameLabel] = p.Name
	p.Labels[appsv1.PodIndexLabel] = strconv.Itoa(n)
}

func mounted(set *appsv1.StatefulSet, p *corev1.Pod) bool {
	for i := range set.Spec.VolumeClaimTemplates {
		template := set.Spec.VolumeClaimTemplates[i].Name
		claim := ""
		for j := range p.Spec.Volumes {
			if v := &p.Spec.Volumes[j]; v.Name == template && v.PersistentVolumeClaim != nil {
				claim = v.PersistentVolumeClaim.ClaimName
			}
		}
		if claim != claimName(set, template, ordinal(p)) {
			return false
		}
	}
	return true
}

// mount mounts the pod's own claims. They replace other volumes with the same names.
func mount(set *appsv1.StatefulSet, p *corev1.Pod) {
	own := map[string]bool{}
	var volumes []corev1.Volume
	for i := range set.Spec.VolumeClaimTemplates {
		template := set.Spec.VolumeClaimTemplates[i].Name
		own[template] = true
		v := corev1.Volume{Name: template}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: claimName(set, template, ordinal(p))}
		volumes = append(volumes, v)
	}
	for i := range p.Spec.Volumes {
		if !own[p.Spec.Volumes[i].Name] {
			volumes = append(volumes, p.Spec.Volumes[i])
		}
	}
	p.Spec.Volumes = volumes
}
