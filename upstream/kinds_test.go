package upstream

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
)

// What the server's table of kinds says of all its kinds is what kube-apiserver's
// strategies say.
func TestTableOfKinds(t *testing.T) {
	all := Strategies()
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		if all[k.GVK] == nil {
			t.Logf("%s has no strategy: its rules are the server's own", k.GVK)
			continue
		}
		s := all[k.GVK].(*strategy)
		if k.Namespaced != s.main.NamespaceScoped() {
			t.Errorf("%s: namespaced is %v", k.GVK, k.Namespaced)
		}
		if k.CreateOnUpdate != s.main.AllowCreateOnUpdate() {
			t.Errorf("%s: create on update is %v", k.GVK, k.CreateOnUpdate)
		}
		if k.MustVersion == s.main.AllowUnconditionalUpdate() {
			t.Errorf("%s: an update must have a version is %v", k.GVK, k.MustVersion)
		}
		if _, status := s.sub["status"]; k.Status != status {
			t.Errorf("%s: a status subresource is %v", k.GVK, k.Status)
		}
	}
}

// Every way to change an object has a strategy, so that none is judged by two
// sets of rules.
func TestSubresourcesHaveStrategies(t *testing.T) {
	all := Strategies()
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		if all[k.GVK] == nil {
			continue
		}
		for _, sub := range []string{"status", "approval", "finalize", "ephemeralcontainers", "resize"} {
			if has := all[k.GVK].(*strategy).sub[sub] != nil; has != k.Serves(sub) {
				t.Errorf("%s: %s is served: %v, and has a strategy: %v", k.GVK, sub, k.Serves(sub), has)
			}
		}
	}
}
