package claimprotection

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A claim created for a pod is in use until that pod has ended; any other until the pod is gone.
func TestUses(t *testing.T) {
	yes, none := true, int64(0)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "p-v",
		OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: "p", UID: "p", Controller: &yes}}}}
	own := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}
	shared := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p-v"}}
	for name, c := range map[string]struct {
		volume corev1.VolumeSource
		change func(*corev1.Pod)
		want   bool
	}{
		"its own":         {own, func(*corev1.Pod) {}, true},
		"another's":       {own, func(p *corev1.Pod) { p.UID = "q" }, false},
		"its own, done":   {own, func(p *corev1.Pod) { p.DeletionGracePeriodSeconds = &none }, false},
		"shared":          {shared, func(*corev1.Pod) {}, true},
		"shared, done":    {shared, func(p *corev1.Pod) { p.DeletionGracePeriodSeconds = &none }, true},
		"shared, no node": {shared, func(p *corev1.Pod) { p.Spec.NodeName = "" }, false},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p"}, Spec: corev1.PodSpec{NodeName: "n",
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: c.volume}}}}
		if c.change(p); uses(p, claim) != c.want {
			t.Errorf("%s: used %t", name, !c.want)
		}
	}
}
