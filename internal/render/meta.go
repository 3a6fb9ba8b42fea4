package render

import (
	"slices"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func removedFinalizers(before metav1.Object) []string {
	fs := before.GetFinalizers()
	if len(fs) == 0 {
		return nil
	}
	return []string{"finalizers: -" + strings.Join(fs, " -")}
}

// metaChanges lists changes of finalizers, deletion, labels and annotations.
func metaChanges(before, after metav1.Object) []string {
	var out []string
	var fs []string
	for _, f := range after.GetFinalizers() {
		if !slices.Contains(before.GetFinalizers(), f) {
			fs = append(fs, "+"+f)
		}
	}
	for _, f := range before.GetFinalizers() {
		if !slices.Contains(after.GetFinalizers(), f) {
			fs = append(fs, "-"+f)
		}
	}
	if len(fs) > 0 {
		out = append(out, "finalizers: "+strings.Join(fs, " "))
	}
	switch was, is := before.GetDeletionTimestamp(), after.GetDeletionTimestamp(); {
	case was == nil && is != nil:
		out = append(out, "deletionTimestamp set")
	case was != nil && is != nil && !was.Equal(is):
		out = append(out, "deletionTimestamp moved")
	}
	out = append(out, MapChanges("labels", before.GetLabels(), after.GetLabels())...)
	return append(out, MapChanges("annotations", before.GetAnnotations(), after.GetAnnotations())...)
}

// MapChanges describes how two maps differ, in one line; none if they are equal.
func MapChanges(what string, before, after map[string]string) []string {
	var words []string
	for k, v := range after { //detcheck:ordered sorted below
		if old, ok := before[k]; !ok {
			words = append(words, "+"+k+"="+v)
		} else if old != v {
			words = append(words, k+"="+old+" -> "+v)
		}
	}
	for k := range before { //detcheck:ordered sorted below
		if _, ok := after[k]; !ok {
			words = append(words, "-"+k)
		}
	}
	if len(words) == 0 {
		return nil
	}
	sort.Strings(words)
	return []string{what + ": " + strings.Join(words, ", ")}
}
