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

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/ref"
)

// identity is the name of the set and the ordinal that a pod's name says: "web", 3
// for web-3; -1 where it says none.
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

// nameOf is the name of a set's pod.
func nameOf(set *appsv1.StatefulSet, ordinal int) string {
	return set.Name + "-" + strconv.Itoa(ordinal)
}

// claimName is the name of the claim that a pod has by one of the set's templates.
func claimName(set *appsv1.StatefulSet, template string, ordinal int) string {
	return template + "-" + nameOf(set, ordinal)
}

// claims reports whether a claim has the name of one that a pod of a set has.
func claims(set *appsv1.StatefulSet, name string) bool {
	of, n := identity(name)
	return n >= 0 && slices.ContainsFunc(set.Spec.VolumeClaimTemplates,
		func(t corev1.PersistentVolumeClaim) bool { return of == t.Name+"-"+set.Name })
}

// first is the ordinal of a set's first pod.
func first(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// wanted is how many pods a set is to have.
func wanted(set *appsv1.StatefulSet) int {
	if set.Spec.Replicas == nil {
		return 1
	}
	return int(*set.Spec.Replicas)
}

// wants reports whether a set is to have a pod of this ordinal.
func wants(set *appsv1.StatefulSet, ordinal int) bool {
	return ordinal >= first(set) && ordinal < first(set)+wanted(set)
}

// member reports whether a pod's name is that of one of the set's pods, be its
// ordinal wanted or not (KIND-STS-1, RULES F59). Upstream takes web-01 for a member,
// too: one that is web-1, and that no update can give its name.
func member(set *appsv1.StatefulSet, name string, without *Without) bool {
	of, n := identity(name)
	return without.Member || of == set.Name && (name == nameOf(set, n) || without.Canonical) ||
		without.Prefix && strings.HasPrefix(of, set.Name+"-")
}

// selects reports whether a set's selector matches labels. One that is nil or
// empty matches nothing: no set that owns every pod was ever meant.
func selects(set *appsv1.StatefulSet, have map[string]string) bool {
	s := set.Spec.Selector
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && ref.Selects(s, have)
}

// selector is what a set selects; nil for one that selects nothing, or that an earlier
// version of the server stored and nobody can read.
func selector(set *appsv1.StatefulSet) labels.Selector {
	s, err := ref.Parse(set.Spec.Selector)
	if err != nil || set.Spec.Selector == nil || s.Empty() {
		return nil
	}
	return s
}

// newPod makes the pod of an ordinal, as a set is or was at a revision. What it can
// only be given at birth it has: a host name of its own in the set's domain.
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

// identified reports whether a pod's labels say who it is. Only its name is looked
// at: an index that is wrong is put right with it.
func identified(set *appsv1.StatefulSet, p *corev1.Pod) bool {
	return p.Labels[appsv1.StatefulSetPodNameLabel] == p.Name && p.Name == nameOf(set, ordinal(p))
}

// identify makes a pod say who it is.
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

// mounted reports whether a pod mounts the claims that are its own.
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

// mount makes a pod mount the claims that are its own, in place of other volumes of
// the same names.
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
