package statefulset

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestOversteps: of a set web of three pods, by their names, one that ends with a mark is not available.
func TestOversteps(t *testing.T) {
	named := func(name string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimRight(name, "!+")}}
		if !strings.HasSuffix(name, "!") {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		if strings.HasSuffix(name, "+") {
			p.Status.Phase = corev1.PodFailed
		}
		return p
	}
	parallel := func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }
	byHand := func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }
	rolling := func(f func(u *appsv1.RollingUpdateStatefulSetStrategy)) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
			f(s.Spec.UpdateStrategy.RollingUpdate)
		}
	}
	two, n := int32(2), intstr.FromInt32(2)
	split := rolling(func(u *appsv1.RollingUpdateStatefulSetStrategy) { u.Partition = &two })
	twice := rolling(func(u *appsv1.RollingUpdateStatefulSetStrategy) { u.MaxUnavailable = &n })
	for _, x := range []struct {
		name, others, was, is string
		set                   func(*appsv1.StatefulSet)
		want                  string
	}{
		{"the highest", "web-0 web-1", "web-2", "", nil, ""},
		{"beside one of another name", "web-0 web-1 db-0!", "web-2", "", nil, ""},
		{"the next", "web-0 web-2", "web-1", "", nil, ""},
		{"the next too early", "web-0 web-2!", "web-1", "", nil, "deleted while web-2 is not available"},
		{"the next while one is missing", "web-0", "web-1", "", nil, "deleted while web-2"},
		{"the highest while a lower is not available", "web-0! web-1", "web-2", "", nil, "while web-0 is not"},
		{"... which does not wait", "web-0! web-1", "web-2", "", parallel, ""},
		{"the next too early, in parallel", "web-0 web-2!", "web-1", "", parallel, "while web-2 is not"},
		{"one that has ended", "web-0 web-2!", "web-1+", "", nil, ""},
		{"two at a time", "web-0 web-2!", "web-1", "", twice, ""},
		{"three at a time", "web-1! web-2!", "web-0", "", twice, "while web-1 is not"},
		{"by hand", "web-0 web-1", "web-2", "", byHand, "replaces none by itself"},
		{"above the partition", "web-0 web-1", "web-2", "", split, ""},
		{"below the partition", "web-0 web-2", "web-1", "", split, "leaves the first 2 alone"},

		{"not wanted", "web-0 web-1 web-2", "web-3", "", nil, ""},
		{"not wanted, before a higher", "web-0 web-1 web-2 web-4", "web-3", "", nil, "before those above it"},
		{"not wanted, before the others are available", "web-0 web-1! web-2", "web-3", "", nil, "while web-1 is not"},
		{"not wanted, in parallel", "web-0! web-4", "web-3", "", parallel, ""},
		{"none of the set's", "web-0!", "else-1", "", nil, ""},
		{"made", "web-0", "", "web-1!", nil, ""},
		{"made too early", "web-0!", "", "web-1!", nil, "made while web-0 is not available"},
		{"made in parallel", "web-0!", "", "web-1!", parallel, ""},
		{"written", "web-0!", "web-1", "web-1", nil, ""},
	} {
		three := int32(3)
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		set.Spec.Replicas = &three
		if x.set != nil {
			x.set(set)
		}
		others := []runtime.Object{&appsv1.ControllerRevision{}}
		for _, name := range strings.Fields(x.others) {
			others = append(others, named(name))
		}
		var was, is runtime.Object
		if x.was != "" {
			was = named(x.was)
		}
		if x.is != "" {
			is = named(x.is)
		}
		got := oversteps(set, others, was, is, time.Time{}, nil)
		if (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// A selector that is none, and one that asks for nothing, selects no pod.
func TestSelects(t *testing.T) {
	web := map[string]string{"app": "web"}
	asks := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Exists"}}}
	for _, c := range []struct {
		selector *metav1.LabelSelector
		labels   map[string]string
		want     bool
	}{
		{nil, web, false}, {&metav1.LabelSelector{}, web, false}, {&metav1.LabelSelector{MatchLabels: web}, web, true},
		{&metav1.LabelSelector{MatchLabels: web}, nil, false}, {asks, web, true}, {asks, nil, false},
	} {
		set := &appsv1.StatefulSet{}
		set.Spec.Selector = c.selector
		if got := selects(set, c.labels); got != c.want {
			t.Errorf("%v selects %v: %v", c.selector, c.labels, got)
		}
	}
}
