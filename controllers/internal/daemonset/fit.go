package daemonset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/placement"
)

// fits reports whether a node should run a pod of a set, and whether an existing one may stay. Only a NoExecute taint
// or labels evict a pod. The node's free resources do not matter.
func fits(set *appsv1.DaemonSet, node *corev1.Node, o *Options) (run, stay bool) {
	if o.Without.Eligible {
		return true, true
	}
	spec := &set.Spec.Template.Spec
	if spec.NodeName != "" && spec.NodeName != node.Name || !placement.Selected(spec, node) {
		return false, o.Without.Evict
	}
	if len(node.Spec.Taints) == 0 {
		return true, true
	}
	tolerated := tolerations(spec)
	if placement.Untolerated(node, tolerated, corev1.TaintEffectNoExecute) {
		return false, o.Without.Evict
	}
	return !placement.Untolerated(node, tolerated, corev1.TaintEffectNoSchedule), true
}

// always are taints that DaemonSet pods tolerate, because nodes in trouble need them too.
var always = []struct {
	key    string
	effect corev1.TaintEffect
}{
	{corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute},
	{corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute},
	{corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule}, // on the host network only
}

// tolerations returns those of a template and of every DaemonSet's pods. A template's temporary toleration becomes
// permanent.
func tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(spec.Tolerations)
	for _, taint := range always {
		if taint.key == corev1.TaintNodeNetworkUnavailable && !spec.HostNetwork {
			continue
		}
		want := corev1.Toleration{Key: taint.key, Operator: corev1.TolerationOpExists, Effect: taint.effect}
		found := false
		for i := range all {
			if all[i].MatchToleration(&want) {
				all[i], found = want, true
			}
		}
		if !found {
			all = append(all, want)
		}
	}
	return all
}

// bindTo replaces the node affinity of a pod's own spec by a node's name.
func bindTo(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}
}
