package trial

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// What a controller declares the laws are told, under the same names.
func TestSubject(t *testing.T) {
	for h, l := range map[host.Profile]law.Profile{host.Ownership: law.Ownership, host.Writing: law.Writing,
		host.Upstream: law.Upstream} {
		s := subjectOf("autoscaler#1", host.Controller{
			Name: "autoscaler", Profile: h, Finalizers: []string{"example.com/x"},
			For:   appsv1.SchemeGroupVersion.WithKind("Deployment"),
			Tends: []schema.GroupVersionKind{appsv1.SchemeGroupVersion.WithKind("ReplicaSet")},
		})
		if s.Profile != l || s.Kind != "Deployment" || s.APIVersion != "apps/v1" ||
			!slices.Equal(s.Tends, []string{"ReplicaSet"}) || !slices.Equal(s.Finalizers, []string{"example.com/x"}) {
			t.Errorf("profile %d: %+v", h, s)
		}
	}
}

func TestServed(t *testing.T) {
	served := served(fakeapi.New(fakeapi.Options{}))
	for _, c := range []struct {
		apiVersion, kind string
		namespaced, ok   bool
	}{
		{"v1", "Pod", true, true},
		{corev1.SchemeGroupVersion.String(), "Namespace", false, true},
		{"apps/v1", "Pod", false, false},
		{"example.com/v1", "Widget", false, false},
	} {
		if namespaced, ok := served(c.apiVersion, c.kind); namespaced != c.namespaced || ok != c.ok {
			t.Errorf("%s %s: namespaced %v, served %v", c.apiVersion, c.kind, namespaced, ok)
		}
	}
}
