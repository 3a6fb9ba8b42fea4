package law

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// TestMembersByName: which pods are a StatefulSet's the laws read off their names, and not from
// what the subject says that it would take.
func TestMembersByName(t *testing.T) {
	for _, c := range []struct {
		pod  string
		want bool
	}{
		{"web-0", true}, {"web-12", true}, {"web-db-0", false}, {"web", false}, {"web-", false}, {"web-01", false},
		{"web-x", false}, {"web-+1", false}, {"webs-0", false}, {"web-99999999999", false},
	} {
		s := byName()
		s.For.Group, s.Adoptable = "apps", func(_, _ runtime.Object) bool { return !c.want }
		owner, p := set("web", 1), pod(c.pod, nil)
		if got := s.willing(owner, "Pod", p); got != c.want {
			t.Errorf("%s: %v", c.pod, got)
		}
		if got := s.willing(owner, "Revision", p); got == c.want {
			t.Errorf("%s, no Pod: %v, which is not what it says itself", c.pod, got)
		}
	}
}
