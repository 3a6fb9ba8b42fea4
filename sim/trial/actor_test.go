package trial

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

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
