package fakeapi

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// For random objects and patches, the fast path for metadata has the same result as the general path.
func TestMetaPatchIsThePatch(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	fast := 0
	const n = 12000
	for i := range n {
		obj := randomPod(r)
		patch := randomMetaPatch(r)
		kind := types.StrategicMergePatchType
		if i%2 == 1 {
			kind = types.MergePatchType
		}
		c := &call{s: &Server{}, k: podKind, req: &Request{PatchType: kind, Patch: []byte(patch)}}
		got := c.patchMeta(newEntry("default/p", obj))
		if got == nil {
			continue
		}
		fast++
		want, err := c.patchWhole(obj)
		if err != nil || len(c.warnings) > 0 {
			t.Fatalf("%s %s: the general path returns %v, %q", kind, patch, err, c.warnings)
		}
		a, b := got.(*corev1.Pod), want.(*corev1.Pod)
		if a.UID != b.UID || a.ResourceVersion != b.ResourceVersion || !metadata.Same(a, b) {
			t.Fatalf("%s %s\nof %+v\nis %+v\nwant %+v", kind, patch, obj.ObjectMeta, a.ObjectMeta, b.ObjectMeta)
		}
	}
	if fast < n/2 {
		t.Fatalf("only %d of %d patches took the fast path", fast, n)
	}
}

func randomPod(r *rand.Rand) *corev1.Pod {
	p := pod("p")
	p.Namespace, p.UID, p.ResourceVersion = "default", "u", "7"
	p.SetGroupVersionKind(podKind.GVK)
	p.Labels, p.Annotations = nil, nil
	for i := range r.Intn(3) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[string(rune('a'+i))] = fmt.Sprint(r.Intn(3))
	}
	for _, i := range r.Perm(3)[:r.Intn(4)] {
		p.OwnerReferences = append(p.OwnerReferences,
			metav1.OwnerReference{APIVersion: "v1", Kind: "K", Name: fmt.Sprint("o", i),
				UID: types.UID(fmt.Sprint("u", i)), Controller: []*bool{nil, new(true), new(false)}[r.Intn(3)]})
	}
	for _, i := range r.Perm(3)[:r.Intn(4)] {
		p.Finalizers = append(p.Finalizers, fmt.Sprint("x/f", i))
	}
	podKind.Default(p)
	return p
}

func randomMetaPatch(r *rand.Rand) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if r.Intn(4) == 0 {
		add(`"uid":"u%d"`, r.Intn(2))
	}
	if r.Intn(6) == 0 {
		add(`"resourceVersion": "7"`)
	}
	if r.Intn(3) == 0 {
		add(`"labels":{"a":%s,"b":%s}`, pick(r, `"1"`, `null`), pick(r, `"0"`, `null`, `"é"`))
	}
	if r.Intn(8) == 0 {
		add(`"annotations":%s`, pick(r, `null`, `{}`, `{"z":"q"}`, `{"z":null}`))
	}
	if r.Intn(2) == 0 {
		add(`"ownerReferences":%s`, randomOwnersPatch(r))
	}
	switch r.Intn(4) {
	case 0:
		add(`"finalizers":[%s]`, strings.Join(shuffled(r, `"x/f0"`, `"x/f1"`, `"x/f2"`, `"x/f3"`), ","))
	case 1:
		add(`"$deleteFromPrimitiveList/finalizers":[%s]`, strings.Join(shuffled(r, `"x/f0"`, `"x/f1"`, `"x/f2"`), ","))
	case 2:
		if r.Intn(4) == 0 {
			add(`"finalizers":null`)
		}
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return `{"metadata": {` + strings.Join(parts, ", ") + `}}`
}

func randomOwnersPatch(r *rand.Rand) string {
	if r.Intn(10) == 0 {
		return "null"
	}
	var items []string
	for _, i := range r.Perm(5)[:r.Intn(4)] {
		switch r.Intn(5) {
		case 0:
			items = append(items, fmt.Sprintf(`{"$patch":"delete","uid":"u%d"}`, i))
		case 1:
			items = append(items, fmt.Sprintf(`{"uid":"u%d","controller":%s}`, i, pick(r, "true", "false", "null")))
		default:
			items = append(items, fmt.Sprintf(
				`{"apiVersion":"v1","kind":"K","name":"o%d","uid":"u%d","controller":%s,"blockOwnerDeletion":true}`,
				i, i, pick(r, "true", "false")))
		}
	}
	if r.Intn(8) == 0 {
		items = append(items, `{"$patch":"replace"}`)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func pick(r *rand.Rand, of ...string) string { return of[r.Intn(len(of))] }

func shuffled(r *rand.Rand, of ...string) []string {
	r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of[:r.Intn(len(of)+1)]
}

func TestReplicasPatchIsThePatch(t *testing.T) {
	labels := map[string]string{"app": "web"}
	spec := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("p").Spec}
	sel := &metav1.LabelSelector{MatchLabels: labels}
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web", Annotations: map[string]string{"a": "b"}}
	s := New(Options{})
	for _, obj := range []runtime.Object{
		&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: sel, Template: spec}},
		&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: sel, Template: spec}},
		&appsv1.StatefulSet{ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Selector: sel, Template: spec, ServiceName: "web"}},
		&corev1.ReplicationController{ObjectMeta: meta,
			Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &spec}},
	} {
		k := s.KindOf(obj)
		mustDo(t, s, &Request{Verb: Create, Kind: k, Namespace: "default", Object: obj})
		old := s.find(s.tables[k.ordinal], "default/web")
		for _, patch := range []string{`{"spec":{"replicas":3}}`, ` { "spec" : { "replicas" : 0 } } `,
			`{"spec":{"replicas":-1}}`, `{"spec":{"replicas":999999999}}`} {
			for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
				c := &call{s: s, k: k, req: &Request{PatchType: kind, Patch: []byte(patch)}}
				got := c.patchReplicas(old)
				if got == nil {
					t.Fatalf("%s: %s did not take the fast path", k.GVK.Kind, patch)
				}
				want, err := c.patchWhole(old.obj)
				if err != nil || len(c.warnings) > 0 {
					t.Fatalf("%s %s: the general path returns %v, %q", k.GVK.Kind, patch, err, c.warnings)
				}
				if equal, _ := same.Object(got, want); !equal ||
					got.GetObjectKind().GroupVersionKind() != want.GetObjectKind().GroupVersionKind() {
					t.Fatalf("%s %s\nis   %+v\nwant %+v", k.GVK.Kind, patch, got, want)
				}
			}
		}
	}
}

// A configuration that is decoded as JSON has the same meaning as YAML.
func TestPlainJSONIsYAML(t *testing.T) {
	for text, fast := range map[string]bool{
		`{"a": [1, -0, true, null, "1", "~", {"<<": {"b": 2}, "": "{}"}]}`: true, "{\n\"a\": {}}\n": true,
		`{"a": "é"}`: false, `{"a": "\u0041"}`: false, "{\"a\":\t1}": false, `{"a": 1.0}`: false, `{"a": [1e2]}`: false,
		`{"a": 9223372036854775808}`: false, `{"a": 1, "a": 2}`: false, `[]`: false, `null`: false, `a: 1`: false,
		`{"` + strings.Repeat("k", 2000) + `": 1}`: false, `{a: 1}`: false, `{"a": 1,}`: false,
	} {
		got, want := decodePlain([]byte(text)), map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(text), &want); (got != nil) != fast || fast && (err != nil ||
			!reflect.DeepEqual(got, want)) {
			t.Errorf("%.40s: %v, want %v, %v", text, got, want, err)
		}
	}
}
