package upstream_test

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/threelaws/threelaws/controllers"
)

// The names of kube-controller-manager, current and earlier, are known here, and no other names. Both start the same
// controllers by default.
func TestManagerHasUpstreamsNames(t *testing.T) {
	want := map[string]string{}
	for _, name := range app.KnownControllers() {
		want[name] = name
	}
	maps.Copy(want, app.ControllerAliases())
	m := controllers.KubeControllerManager()
	known := slices.Concat(m.Runs, m.Absent, slices.Collect(maps.Keys(m.Aliases)))
	for name := range want {
		if !slices.Contains(known, name) {
			t.Errorf("the controller %s of kube-controller-manager is not known here", name)
		}
	}
	// Each controller of the table has an upstream name, or an alias that is an upstream name.
	for _, name := range slices.Concat(m.Runs, m.Absent) {
		if _, ok := want[name]; !ok && !slices.Contains(slices.Collect(maps.Values(m.Aliases)), name) {
			t.Errorf("%s is not a name of kube-controller-manager", name)
		}
	}
	of := map[string]string{} // our controllers, by upstream's name
	for alias, ours := range m.Aliases {
		name := want[alias]
		if name == "" {
			continue // a short name, such as "rs"
		}
		if before, ok := of[name]; ok && before != ours {
			t.Errorf("%s is the name of both %s and %s", name, before, ours)
		}
		of[name] = ours
	}
	off := app.ControllersDisabledByDefault()
	for name, ours := range of {
		if starts := slices.Contains(m.Runs, ours); starts == slices.Contains(off, name) {
			t.Errorf("%s is started here by default: %t", name, starts)
		}
	}
}
