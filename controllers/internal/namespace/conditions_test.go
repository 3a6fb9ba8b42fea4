package namespace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// remaining returns objects of n resources, each with a finalizer of its own.
func remaining(n int) *contents {
	left := &contents{resources: map[schema.GroupResource]int{}, finalizers: map[string]int{}}
	for i := range n {
		left.resources[schema.GroupResource{Group: "g", Resource: fmt.Sprintf("r%d", i)}] = 1
		left.finalizers[fmt.Sprintf("example.com/f%d", i)] = 1
	}
	return left
}

// A condition is written if any part is wrong. It gets a new time if its status changes.
func TestConditions(t *testing.T) {
	then, now := time.Unix(1000, 0), time.Unix(2000, 0)
	right, _ := conditions(nil, remaining(1), then)
	for name, c := range map[string]struct {
		change func(*corev1.NamespaceCondition)
		want   time.Time // zero: it is not written
	}{
		"as it is":       {func(*corev1.NamespaceCondition) {}, time.Time{}},
		"another status": {func(c *corev1.NamespaceCondition) { c.Status = corev1.ConditionUnknown }, now},
		"another reason": {func(c *corev1.NamespaceCondition) { c.Reason = "Why" }, then},
		"other words":    {func(c *corev1.NamespaceCondition) { c.Message = "because" }, then},
	} {
		for i := range right {
			old := append([]corev1.NamespaceCondition(nil), right...)
			c.change(&old[i])
			got, changed := conditions(old, remaining(1), now)
			want := right[i]
			if !c.want.IsZero() {
				want.LastTransitionTime = metav1.NewTime(c.want)
			}
			if changed == c.want.IsZero() || got[i] != want {
				t.Errorf("%s: %s: changed %t, to %+v", want.Type, name, changed, got[i])
			}
		}
	}
}

func TestRemainingIsReported(t *testing.T) {
	got, _ := conditions(nil, remaining(9), time.Unix(1000, 0))
	var resources, finalizers []string
	for i := range 9 {
		resources = append(resources, fmt.Sprintf("r%d.g has 1 resource instances", i))
		finalizers = append(finalizers, fmt.Sprintf("example.com/f%d in 1 resource instances", i))
	}
	for i, want := range map[int]string{3: "Some resources are remaining: " + strings.Join(resources, ", "),
		4: "Some content in the namespace has finalizers remaining: " + strings.Join(finalizers, ", ")} {
		if got[i].Message != want {
			t.Errorf("%s: %s", got[i].Type, got[i].Message)
		}
	}
}

// Finalizers of other programs in its spec keep a namespace after the finalizer "kubernetes" is removed.
func TestKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		finalizers []corev1.FinalizerName
		kept       bool
	}{
		"none":         {nil, false},
		"its own":      {[]corev1.FinalizerName{"kubernetes"}, false},
		"others', too": {[]corev1.FinalizerName{"a.b/c", "kubernetes"}, false},
		"others'":      {[]corev1.FinalizerName{"a.b/c"}, true},
	} {
		ns := &corev1.Namespace{Spec: corev1.NamespaceSpec{Finalizers: c.finalizers}}
		if got := New(Without{}).Contract.FinalizerReason(ns, nil); (got != "") != c.kept {
			t.Errorf("%s: kept by %q", name, got)
		}
	}
	if got := New(Without{}).Contract.FinalizerReason(&corev1.Pod{}, nil); got != "" {
		t.Errorf("a pod is kept by %q", got)
	}
}
