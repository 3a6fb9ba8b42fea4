package validation

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	if isLabel(name) {
		return nil
	}
	if msgs := utilvalidation.IsDNS1123Label(name); len(msgs) > 0 {
		return []string{fmt.Sprintf("%s%v", text, msgs)}
	}
	return nil
}

// isLabel reports whether a name is made of lower case letters and digits, with a dash between
// them here and there, as nearly all are: a DNS label, without the expression that says so.
func isLabel(name string) bool {
	if name == "" || len(name) > utilvalidation.DNS1123LabelMaxLength {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-' && i > 0 && i < len(name)-1:
		default:
			return false
		}
	}
	return true
}

// WarnNode warns of fields of nodes that are no more.
func WarnNode(n *corev1.Node) (warnings []string) {
	if n.Spec.ConfigSource != nil {
		warnings = append(warnings, "spec.configSource: the feature is removed")
	}
	if n.Spec.DoNotUseExternalID != "" {
		warnings = append(warnings, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, block := range n.Spec.PodCIDRs {
		warnings = append(warnings, utilvalidation.GetWarningsForCIDR(specPath.Child("podCIDRs").Index(i), block)...)
	}
	return warnings
}

const mountableSecrets = "kubernetes.io/enforce-mountable-secrets"

// WarnAccount warns of an annotation that old did not have; old is nil for a new account.
func WarnAccount(a, old *corev1.ServiceAccount) []string {
	_, now := a.Annotations[mountableSecrets]
	if old != nil {
		if _, was := old.Annotations[mountableSecrets]; was {
			return nil
		}
	}
	if !now {
		return nil
	}
	return []string{"metadata.annotations[" + mountableSecrets + "]: deprecated in v1.32+; prefer separate " +
		"namespaces to isolate access to mounted secrets"}
}

// WarnJobSpec warns of a Job too large to be tracked, and of its template.
func WarnJobSpec(s *batchv1.JobSpec, path *field.Path) (warnings []string) {
	if s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion && s.Completions != nil &&
		*s.Completions > 100_000 && s.Parallelism != nil && *s.Parallelism > 10_000 {
		warnings = append(warnings,
			fmt.Sprintf("%s: In Indexed Jobs with a number of completions higher than 10^5 and a "+
				"parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big "+
				"number of indexes fail", path))
	}
	return append(warnings, WarnTemplate(&s.Template, path.Child("template"))...)
}

// WarnCronJob warns of the Jobs that it makes.
func WarnCronJob(c *batchv1.CronJob) []string {
	return WarnJobSpec(&c.Spec.JobTemplate.Spec, specPath.Child("jobTemplate", "spec"))
}

// WarnTimeZone warns of a time zone in a schedule.
func WarnTimeZone(c *batchv1.CronJob) []string {
	if !strings.Contains(c.Spec.Schedule, "TZ") {
		return nil
	}
	return []string{"cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see " +
		"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"}
}

// WarnStateful warns of the template, of claims, and of keeping all revisions; of the template
// only when the spec has changed. at is where a claim's spec is, which differs in updates.
func WarnStateful(s *appsv1.StatefulSet, changed bool, at string) (warnings []string) {
	if changed {
		warnings = WarnTemplate(&s.Spec.Template, specPath.Child("template"))
	}
	for i := range s.Spec.VolumeClaimTemplates {
		path := specPath.Child("volumeClaimTemplates").Index(i)
		if at != "" {
			path = path.Child(at)
		}
		warnings = append(warnings, WarnClaimSpec(&s.Spec.VolumeClaimTemplates[i].Spec, path)...)
	}
	return append(warnings, WarnRevisions(s)...)
}

// WarnStaticName warns of a name that the API is not to manage.
func WarnStaticName(m metav1.Object) []string {
	const suffix = ".static.k8s.io"
	if !strings.HasSuffix(m.GetName(), suffix) {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: names ending with %q are reserved for static manifest-based "+
		"configurations and cannot be managed via the API", suffix)}
}
