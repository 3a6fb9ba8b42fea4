package typedpatch_test

import (
	"encoding/json"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"github.com/threelaws/threelaws/fakeapi/internal/typedpatch"
)

// What is merged is what apimachinery's way through maps makes of the same patch: those that
// kubelets make of two statuses, and those that nobody makes so well.
func TestMergeIsThePatch(t *testing.T) {
	for _, of := range []any{corev1.PodStatus{}, corev1.NodeStatus{}, appsv1.DeploymentStatus{},
		corev1.ServiceStatus{}, corev1.NamespaceStatus{}} {
		typ := reflect.TypeOf(of)
		t.Run(typ.Name(), func(t *testing.T) {
			r := rand.New(rand.NewSource(1))
			merged := 0
			const n = 1500
			for i := range n {
				was := random(r, typ)
				patch := between(was, changed(r, was))
				if i%3 == 0 {
					disturb(r, patch)
				}
				text, _ := json.Marshal(patch)
				if same(t, was, text) {
					merged++
				}
			}
			if merged < n/8 {
				t.Fatalf("only %d of %d patches were merged", merged, n)
			}
		})
	}
}

// The same of patches that chance makes seldom.
func TestMergeOfRarePatches(t *testing.T) {
	was := &corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "a"}, {Type: "b"}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c"}}, PodIPs: []corev1.PodIP{{IP: "1.2.3.4"}},
		AllocatedResources: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	for patch, merged := range map[string]bool{
		`{"phase":"Running","startTime":"2026-11-21T10:00:00Z","observedGeneration":3}`:                        true,
		`{"phase":null,"conditions":[{"type":"b","status":"True","lastProbeTime":null}]}`:                      true,
		`{"conditions":[{"type":"c"},{"type":"a"}],"$setElementOrder/conditions":[{"type":"a"},{"type":"c"}]}`: false,
		`{"conditions":[{"type":"c"},{"type":"a"}],"$setElementOrder/conditions":[{"type":"c"},{"type":"a"}]}`: true,
		`{"$setElementOrder/conditions":[{"type":"b"},{"type":"a"}]}`:                                          true,
		`{"conditions":[{"type":"b","$patch":"delete"}]}`:                                                      false,
		`{"conditions":null,"$setElementOrder/conditions":[]}`:                                                 false,
		`{"containerStatuses":[{"name":"d","allocatedResources":{"cpu":null}}]}`:                               false,
		`{"containerStatuses":[{"name":"d","allocatedResources":{"cpu":"1"}}]}`:                                true,
		`{"allocatedResources":{"cpu":null,"memory":"1Gi"}}`:                                                   true,
		`{"resources":{"limits":{"cpu":null}}}`:                                                                false,
		`{"restarts":1}`:                                                                                       false,
		`{"phase":1}`:                                                                                          false,
		`{"Phase":"Running"}`:                                                                                  false,
	} {
		if got := same(t, reflect.ValueOf(was), []byte(patch)); got != merged {
			t.Errorf("%s: merged here: %t", patch, got)
		}
	}
}

// same holds what is merged of a patch against apimachinery's way. It reports whether it was merged.
func same(t *testing.T, was reflect.Value, patch []byte) bool {
	t.Helper()
	got, want := again(was), reflect.New(was.Type().Elem())
	if !typedpatch.Merge(got.Elem(), read(patch)) {
		return false
	}
	original, err := runtime.DefaultUnstructuredConverter.ToUnstructured(was.Interface())
	if err == nil {
		original, err = strategicpatch.StrategicMergeMapPatch(original, read(patch), was.Elem().Interface())
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(original, want.Interface(), true)
	}
	a, _ := json.Marshal(want.Interface())
	b, _ := json.Marshal(got.Interface())
	if diff := cmp.Diff(string(a), string(b)); diff != "" || err != nil {
		t.Fatalf("%s: %v\nof %+v\n%s", patch, err, was, diff)
	}
	return true
}

// random is a status of a type, with lists whose elements differ by their keys.
func random(r *rand.Rand, t reflect.Type) reflect.Value {
	v := reflect.New(t)
	randfill.New().RandSource(rand.NewSource(r.Int63())).NilChance(.3).NumElements(0, 3).Funcs(
		func(s *string, c randfill.Continue) { *s = string(rune('a' + c.Intn(12))) },
		func(m *metav1.Time, c randfill.Continue) { *m = metav1.Unix(int64(c.Intn(3)), 0) },
		func(q *resource.Quantity, c randfill.Continue) { *q = *resource.NewQuantity(int64(c.Intn(3)), "") },
	).Fill(v.Interface())
	return again(v)
}

// again is a value as it comes out of the store.
func again(v reflect.Value) reflect.Value {
	text, _ := json.Marshal(v.Interface())
	to := reflect.New(v.Type().Elem())
	if err := json.Unmarshal(text, to.Interface()); err != nil {
		panic(err)
	}
	return to
}

// changed is a status with some fields of another one, and more elements in some lists, or others.
func changed(r *rand.Rand, was reflect.Value) reflect.Value {
	now, other := again(was), random(r, was.Type().Elem())
	for i := range now.Elem().NumField() {
		f, o := now.Elem().Field(i), other.Elem().Field(i)
		switch how := r.Intn(8); {
		case how < 3:
		case f.Kind() != reflect.Slice || how == 3:
			f.Set(o)
		case how < 6:
			f.Set(reflect.AppendSlice(f, o))
		case f.Len() > 0:
			f.Index(r.Intn(f.Len())).Set(random(r, f.Type().Elem()).Elem()) // perhaps another one, by its key
		}
	}
	return now
}

// between is the patch that a client makes of two statuses.
func between(was, now reflect.Value) map[string]any {
	a, _ := json.Marshal(was.Interface())
	b, _ := json.Marshal(now.Interface())
	text, err := strategicpatch.CreateTwoWayMergePatch(a, b, was.Elem().Interface())
	if err != nil {
		return map[string]any{}
	}
	return read(text)
}

// disturb makes a patch another one than clients make.
func disturb(r *rand.Rand, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		value := patch[key]
		switch list, _ := value.([]any); r.Intn(8) {
		case 0:
			patch[key] = nil
		case 1:
			delete(patch, key)
		case 6:
			if m, is := value.(map[string]any); is {
				disturb(r, m)
			}
		case 2:
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		case 3:
			for _, e := range list {
				if m, is := e.(map[string]any); is {
					disturb(r, m)
				}
			}
		case 4:
			if len(list) > 0 {
				patch[key] = append(list, list[r.Intn(len(list))])
			}
		case 5:
			patch[key] = []any{"x", int64(3), true, map[string]any{"a": nil}, 1.5, int64(1 << 40)}[r.Intn(6)]
		}
	}
}

// read decodes as the server does, which tells whole numbers from others.
func read(text []byte) map[string]any {
	m := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &m); err != nil {
		panic(err)
	}
	return m
}
