package controllers_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// image returns the template of most recorded cases, with the server's defaults.
func image(name string) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{}
	t.Labels = map[string]string{"app": "x"}
	grace := int64(30)
	t.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: name, ImagePullPolicy: corev1.PullIfNotPresent,
			TerminationMessagePath:   "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile}},
		DNSPolicy: corev1.DNSClusterFirst, RestartPolicy: corev1.RestartPolicyAlways,
		SchedulerName:   "default-scheduler",
		SecurityContext: &corev1.PodSecurityContext{}, TerminationGracePeriodSeconds: &grace,
	}
	return t
}

// The hashes are equal to those in recorded cases.
func TestHashIsUpstreams(t *testing.T) {
	for name, want := range map[string]string{"img:1": "5d57d9744c", "img:2": "5c98dd8b56"} {
		if got := template.Hash(image(name), nil); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	one := int32(1)
	if with := template.Hash(image("img:1"), &one); with == template.Hash(image("img:1"), nil) {
		t.Errorf("a collision changes nothing: %s", with)
	}
	old := template.OldHash(image("img:1"))
	if strings.Trim(old, "0123456789") != "" || old == "" {
		t.Errorf("the old hash %q is not a number", old)
	}
	if old == template.OldHash(image("img:2")) {
		t.Errorf("two templates have the old hash %s", old)
	}
}

func TestSameButForTheHash(t *testing.T) {
	plain := image("img:1")
	for _, c := range []struct {
		name   string
		change func(t *corev1.PodTemplateSpec)
		same   bool
	}{
		{"nothing", func(*corev1.PodTemplateSpec) {}, true},
		{"a hash", func(t *corev1.PodTemplateSpec) { t.Labels[template.HashLabel] = "5d57d9744c" }, true},
		{"empty annotations", func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{} }, true},
		{"a label", func(t *corev1.PodTemplateSpec) { t.Labels["extra"] = "1" }, false},
		{"a label less", func(t *corev1.PodTemplateSpec) { delete(t.Labels, "app") }, false},
		{"another label", func(t *corev1.PodTemplateSpec) { t.Labels["app"] = "y" }, false},
		{"an annotation", func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"a": "b"} }, false},
		{"an image", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "img:2" }, false},
	} {
		other := image("img:1")
		c.change(other)
		if template.Same(plain, other) != c.same || template.Same(other, plain) != c.same {
			t.Errorf("%s: not same=%v", c.name, c.same)
		}
	}
}

// Plain does not modify its argument.
func TestPlainChangesNothing(t *testing.T) {
	labels := map[string]string{"app": "x", template.HashLabel: "5d57d9744c"}
	if plain := template.Plain(labels); len(plain) != 1 || plain["app"] != "x" || len(labels) != 2 {
		t.Errorf("%v, of %v", plain, labels)
	}
}
