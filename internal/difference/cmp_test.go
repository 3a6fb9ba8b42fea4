package difference_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/threelaws/threelaws/internal/difference"
)

// Two objects differ here where go-cmp and their JSON say that they do, and nowhere
// else: objects at random, and each with one copy of which one part is another.
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
			leaves := difference.Of(a, b)
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
