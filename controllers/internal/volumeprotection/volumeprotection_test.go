package volumeprotection

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

func TestGone(t *testing.T) {
	c := &controller{without: &Without{}, volumes: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}
	if err := c.Sync(context.Background(), "gone"); err != nil {
		t.Error(err)
	}
}

func TestKeeps(t *testing.T) {
	volume := func(phase corev1.PersistentVolumePhase) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{Status: corev1.PersistentVolumeStatus{Phase: phase}}
	}
	for name, c := range map[string]struct {
		obj  runtime.Object
		kept bool
	}{
		"bound":    {volume(corev1.VolumeBound), true},
		"released": {volume(corev1.VolumeReleased), false},
		"a claim":  {&corev1.PersistentVolumeClaim{}, false},
	} {
		if got := keeps(c.obj, nil) != ""; got != c.kept {
			t.Errorf("%s: kept %t", name, got)
		}
	}
}
