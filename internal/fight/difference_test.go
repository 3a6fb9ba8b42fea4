package fight_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/fight"
)

func TestDifference(t *testing.T) {
	data := func(version string, d map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{ResourceVersion: version, Generation: int64(len(version)),
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: version}}}, Data: d}
	}
	beat := func(at string, ready bool) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"beat": at, "ready": ready}}}
	}
	for _, c := range []struct {
		name          string
		a, b          any
		times         bool
		path, was, is string
	}{
		{"what the server moves", data("1", nil), data("22", nil), true, "", "", ""},
		{"a field", data("1", map[string]string{"n": "1"}), data("2", map[string]string{"n": "2"}), false,
			"data.n", `"1"`, `"2"`},
		{"the first of two", data("1", nil), data("2", map[string]string{"a": "1", "b": "2"}), false,
			"data.a", "none", `"1"`},
		{"a time", beat("2017-03-01T00:00:00Z", true), beat("2017-03-01T00:00:10Z", true), true,
			"status.beat", `"2017-03-01T00:00:00Z"`, `"2017-03-01T00:00:10Z"`},
		{"a time and more", beat("2017-03-01T00:00:00Z", true), beat("2017-03-01T00:00:10Z", false), false,
			"status.beat", `"2017-03-01T00:00:00Z"`, `"2017-03-01T00:00:10Z"`},
		{"times in JSON", data("1", map[string]string{"lock": `{"holder":"a","at":"2017-03-01T00:00:00Z"}`}),
			data("2", map[string]string{"lock": `{"holder":"a","at":"2017-03-01T00:00:10Z"}`}), true,
			"data.lock", `"{\"holder\":\"a\",\"at\":\"2017-03-01T00:00:00Z\"}"`,
			`"{\"holder\":\"a\",\"at\":\"2017-03-01T00:00:10Z\"}"`},
		{"times and more in JSON", data("1", map[string]string{"lock": `{"holder":"a","at":"2017-03-01T00:00:00Z"}`}),
			data("2", map[string]string{"lock": `{"holder":"b","at":"2017-03-01T00:00:10Z"}`}), false,
			"data.lock", `"{\"holder\":\"a\",\"at\":\"2017-03-01T00:00:00Z\"}"`,
			`"{\"holder\":\"b\",\"at\":\"2017-03-01T00:00:10Z\"}"`},
		{"a time, the first", &corev1.Pod{}, &corev1.Pod{Status: corev1.PodStatus{StartTime: &metav1.Time{}}}, false,
			"status.startTime", "none", "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fight.OnlyTimes(c.a, c.b); got != c.times {
				t.Errorf("only times: %v", got)
			}
			state, shape := fight.State(c.a)
			otherState, otherShape := fight.State(c.b)
			if same := state == otherState; same != (c.times && !strings.Contains(c.name, "JSON")) {
				t.Errorf("the same state: %v", same)
			}
			if same := shape == otherShape; same != (c.times || c.name == "a field") {
				t.Errorf("the same shape: %v", same)
			}
			path, was, is := fight.FirstDifference(c.a, c.b)
			if path != c.path || was != c.was || is != c.is {
				t.Errorf("got %s %s %s, want %s %s %s", path, was, is, c.path, c.was, c.is)
			}
		})
	}
}

func TestOnlyOrder(t *testing.T) {
	env := func(size int64, names ...string) *unstructured.Unstructured {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"name": name, "value": name + name})
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"env": list, "size": size}}}
	}
	args := func(list ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"args": list}}}
	}
	pod := func(names ...string) *corev1.Pod {
		c := corev1.Container{Name: "main"}
		for _, name := range names {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: name + name})
		}
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
	}
	data := func(key string) *corev1.ConfigMap { return &corev1.ConfigMap{Data: map[string]string{key: "1"}} }
	for name, c := range map[string]struct {
		a, b any
		want bool
	}{
		"another key with a dot":      {data("x.a"), data("x.b"), false},
		"the same":                    {env(1, "a", "b"), env(1, "a", "b"), false},
		"another order":               {env(1, "a", "b", "c"), env(1, "c", "a", "b"), true},
		"another order, and a number": {env(1, "a", "b"), env(2, "b", "a"), false},
		"another element":             {env(1, "a", "b"), env(1, "a", "c"), false},
		"one element more":            {env(1, "a", "b"), env(1, "b", "a", "c"), false},
		"a list of texts":             {args("a", "b"), args("b", "a"), true},
		"other texts":                 {args("a", "b"), args("b", "b"), false},
		"a list with names as keys":   {pod("a", "b"), pod("b", "a"), true},
		"another value under a key":   {pod("a", "b"), pod("b", "c"), false},
	} {
		if got := fight.OnlyOrder(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
