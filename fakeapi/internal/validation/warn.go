package validation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// WarnQuota warns of requests that are to be more than limits.
func WarnQuota(q *corev1.ResourceQuota) (warnings []string) {
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage,
		corev1.ResourceEphemeralStorage} {
		key := "requests." + name
		request, ok := q.Spec.Hard[key]
		if !ok && (name == corev1.ResourceCPU || name == corev1.ResourceMemory) {
			if request, ok = q.Spec.Hard[name]; ok {
				key = name
			}
		}
		limit, limited := q.Spec.Hard["limits."+name]
		if ok && limited && request.Cmp(limit) > 0 {
			warnings = append(warnings, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", key,
				request.String(), "limits."+name, limit.String()))
		}
	}
	return warnings
}

// WarnRevisions warns of a StatefulSet that keeps all its revisions.
func WarnRevisions(s *appsv1.StatefulSet) []string {
	if n := s.Spec.RevisionHistoryLimit; n != nil && *n < 0 {
		return []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 " +
			"is recommended"}
	}
	return nil
}

// WarnPodPrefix warns about names that make bad Pod names.
func WarnPodPrefix(m metav1.Object) []string {
	return warnName(m.GetName(), "metadata.name: this is used in Pod names and hostnames, which can result in "+
		"surprising behavior; a DNS label is recommended: ")
}

// WarnPodName warns of a name that is no good host name.
func WarnPodName(m metav1.Object) []string {
	return warnName(m.GetName(), "metadata.name: this is used in the Pod's hostname, which can result in surprising "+
		"behavior; a DNS label is recommended: ")
}

func warnName(name, text string) []string {
	if msgs := utilvalidation.IsDNS1123Label(name); len(msgs) > 0 {
		return []string{fmt.Sprintf("%s%v", text, msgs)}
	}
	return nil
}
