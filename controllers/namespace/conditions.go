package namespace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// calm are the conditions of a deletion in which nothing is in the way, in the
// order in which they are written.
var calm = [...]corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered",
		Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions",
		Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted",
		Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers",
		Message: "All content-preserving finalizers finished"},
}

// conditions returns a namespace's conditions as they should be, and whether
// they differ from what they were. A condition that only says something else of
// the same status keeps its time.
func conditions(old []corev1.NamespaceCondition, left *contents, now time.Time) ([]corev1.NamespaceCondition, bool) {
	out, changed := slices.Clone(old), false
	for _, want := range calm {
		want.Status = corev1.ConditionFalse
		left.judge(&want)
		want.LastTransitionTime = metav1.NewTime(now)
		i := slices.IndexFunc(out, func(c corev1.NamespaceCondition) bool { return c.Type == want.Type })
		switch {
		case i < 0:
			out, changed = append(out, want), true
		case out[i].Status != want.Status || out[i].Reason != want.Reason || out[i].Message != want.Message:
			if out[i].Status == want.Status {
				want.LastTransitionTime = out[i].LastTransitionTime
			}
			out[i], changed = want, true
		}
	}
	return out, changed
}

// judge makes a condition say what is in the way. While pods alone are being
// deleted, what remains is not stated: most of it was not counted.
func (left *contents) judge(c *corev1.NamespaceCondition) {
	switch {
	case c.Type == corev1.NamespaceDeletionContentFailure && len(left.errs) > 0:
		texts := make([]string, len(left.errs))
		for i, err := range left.errs {
			texts[i] = err.Error()
		}
		slices.Sort(texts)
		c.Status, c.Reason = corev1.ConditionTrue, "ContentDeletionFailed"
		c.Message = fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(texts),
			strings.Join(texts, ", "))
	case left.podsFirst:
	case c.Type == corev1.NamespaceContentRemaining && len(left.resources) > 0:
		var texts []string
		for r, n := range left.resources { //detcheck:ordered sorted below
			texts = append(texts, fmt.Sprintf("%s.%s has %d resource instances", r.Resource, r.Group, n))
		}
		slices.Sort(texts)
		c.Status, c.Reason = corev1.ConditionTrue, "SomeResourcesRemain"
		c.Message = "Some resources are remaining: " + strings.Join(texts, ", ")
	case c.Type == corev1.NamespaceFinalizersRemaining && len(left.finalizers) > 0:
		var texts []string
		for f, n := range left.finalizers { //detcheck:ordered sorted below
			texts = append(texts, fmt.Sprintf("%s in %d resource instances", f, n))
		}
		slices.Sort(texts)
		c.Status, c.Reason = corev1.ConditionTrue, "SomeFinalizersRemain"
		c.Message = "Some content in the namespace has finalizers remaining: " + strings.Join(texts, ", ")
	}
}
