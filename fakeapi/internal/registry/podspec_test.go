package registry_test

import (
	"math/rand"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// presetPod sets the same default values as upstream's code.
func TestPresetsAreUpstreamsDefaults(t *testing.T) {
	pods := registry.Builtin[slices.IndexFunc(registry.Builtin, func(k *registry.Row) bool { return k.GVK.Kind == "Pod" })]
	r := rand.New(rand.NewSource(1))
	parts := []string{"a", "b9", "latest", ":", ":", "/", ".", "-", "_", "A", "@sha256:1", "localhost", "x.io/", "5000", ""}
	for range 20000 {
		image := ""
		for range 1 + r.Intn(6) {
			image += parts[r.Intn(len(parts))]
		}
		want := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
		got := want.DeepCopy()
		coredefaults.SetObjectDefaults_Pod(want)
		pods.Default(got)
		if !equality.Semantic.DeepEqual(want, got) {
			t.Fatalf("image %q: %+v, want %+v", image, got.Spec, want.Spec)
		}
	}
}
