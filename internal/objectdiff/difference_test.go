package objectdiff_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/threelaws/threelaws/internal/objectdiff"
)

func TestOf(t *testing.T) {
	box := func(name, image string) corev1.Container { return corev1.Container{Name: name, Image: image} }
	pod := func(c ...corev1.Container) *corev1.Pod { return &corev1.Pod{Spec: corev1.PodSpec{Containers: c}} }
	labels := func(l map[string]string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: l}} }
	cpu := func(s string) *corev1.Pod {
		return pod(corev1.Container{Name: "a", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{"cpu": resource.MustParse(s)}}})
	}
	at := func(t time.Time) *corev1.Pod {
		m := metav1.NewTime(t)
		return &corev1.Pod{Status: corev1.PodStatus{StartTime: &m}}
	}
	noon := time.Date(2017, time.March, 1, 12, 0, 0, 0, time.UTC)
	maps := func(v ...any) map[string]any { return map[string]any{"spec": map[string]any{"list": v}} }
	named := func(n string) map[string]any { return map[string]any{"name": n} }
	type hidden struct {
		Shown int `json:"shown"`
		not   int
	}
	for _, c := range []struct {
		name string
		a, b any
		want string
	}{
		{"nothing", pod(box("a", "i")), pod(box("a", "i")), ""},
		{"an entry by its name", pod(box("a", "i"), box("b", "i")), pod(box("b", "j"), box("a", "i")),
			`spec.containers[b].image "i" "j"`},
		{"an entry more", pod(box("a", "i")), pod(box("a", "i"), box("b", "")),
			`spec.containers[b] none {"name":"b","resources":{}}`},
		{"another order", pod(box("a", "i"), box("b", "i")), pod(box("b", "i"), box("a", "i")),
			`spec.containers ["a","b"] ["b","a"] (order)`},
		{"entries in the order of the list", pod(box("b", "i"), box("a", "i")),
			pod(box("d", ""), box("c", ""), box("b", "j"), box("a", "j")), `spec.containers[b].image "i" "j"
spec.containers[a].image "i" "j"
spec.containers[d] none {"name":"d","resources":{}}
spec.containers[c] none {"name":"c","resources":{}}`},
		{"another order of what is one in JSON", maps(map[string]any{"name": "a", "n": int64(1)}, named("b")),
			maps(named("b"), map[string]any{"name": "a", "n": float64(1)}), `spec.list ["a","b"] ["b","a"] (order)`},
		{"no map, an empty one", labels(nil), labels(map[string]string{}), ""},
		{"no map, a key", labels(nil), labels(map[string]string{"app.io/x": "1"}),
			`metadata.labels[app.io/x] none "1"`},
		{"a quantity in other words", cpu("1"), cpu("1000m"), ""},
		{"a quantity", cpu("1"), cpu("2"), `spec.containers[a].resources.limits.cpu "1" "2"`},
		{"a time in another zone", at(noon), at(noon.In(time.FixedZone("", 3600))), ""},
		{"a time", at(noon), at(noon.Add(time.Second)),
			`status.startTime "2017-03-01T12:00:00Z" "2017-03-01T12:00:01Z"`},
		{"a list of plain values", maps("a", "b"), maps("a"), `spec.list ["a","b"] ["a"]`},
		{"entries by their place", maps(map[string]any{"n": int64(1)}), maps(map[string]any{"n": int64(2)}),
			`spec.list[0].n 1 2`},
		{"another sort", maps("a"), map[string]any{"spec": "x"}, `spec {"list":["a"]} "x"`},
		{"fields of no JSON", map[string]any{"x": hidden{1, 2}}, map[string]any{"x": hidden{3, 4}}, `x.shown 1 3`},
		{"no map that is shown whole", map[string]any{"x": map[int]string(nil)},
			map[string]any{"x": map[int]string{1: "a"}}, `x null {"1":"a"}`},
		{"not there", map[string]any{}, map[string]any{"data": map[string]any{}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, l := range objectdiff.Of(c.a, c.b) {
				line := l.Path + " " + objectdiff.JSON(l.Was) + " " + objectdiff.JSON(l.Is)
				if l.Order {
					line += " (order)"
				}
				got = append(got, line)
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

// Of finds differences between two objects exactly when go-cmp and the objects' JSON do. The pairs are random objects,
// and a random object with a copy in which one part is changed.
func TestAgreesWithGoCmp(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(0.5).NumElements(0, 2).MaxDepth(8)
	same, differ := 0, 0
	for i := range 300 {
		for _, a := range []runtime.Object{&corev1.Pod{}, &appsv1.Deployment{}, &batchv1.Job{}, &corev1.Service{}} {
			fill.Fill(a)
			b := a.DeepCopyObject()
			switch b := b.(type) {
			case *corev1.Pod:
				fill.Fill(&b.Spec)
			case *appsv1.Deployment:
				fill.Fill(&b.Status.Conditions)
			case *batchv1.Job:
				if i%2 == 0 {
					fill.Fill(&b.Labels)
				}
			}
			leaves := objectdiff.Of(a, b)
			x, errX := json.Marshal(a)
			y, errY := json.Marshal(b)
			oneJSON := errX == nil && errY == nil && string(x) == string(y)
			equal := cmp.Equal(a, b, cmpopts.EquateEmpty()) || oneJSON
			if equal != (len(leaves) == 0) {
				t.Fatalf("%T %d: %v, go-cmp says %s", a, i, leaves, cmp.Diff(a, b, cmpopts.EquateEmpty()))
			}
			if equal {
				same++
			} else {
				differ++
			}
		}
	}
	if same < 100 || differ < 100 {
		t.Errorf("%d pairs the same, %d different: too few of one sort", same, differ)
	}
}
