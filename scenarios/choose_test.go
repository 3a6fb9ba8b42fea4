package scenarios_test

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// A list of controllers means what it means to kube-controller-manager.
func TestChoose(t *testing.T) {
	g := &scenarios.Registry{
		Controllers: []host.Controller{{Name: "a", Era: "old"}, {Name: "a", Era: "new"}, {Name: "b"},
			{Name: "kubelet"}},
		Managed: []string{"a", "b"}, Absent: []string{"c"}, Aliases: map[string]string{"a-controller": "a"},
	}
	for _, c := range []struct{ list, want string }{
		{"", ""},
		{"a", "a@new"},
		{"a-controller@old b", "a@old b"},
		{"*", "a@new b"},
		{"all", "a@new b kubelet"},
		{"* -b", "a@new"},
		{"-b *", "a@new"},
		{"* -b b", "a@new"},
		{"b * -b", "a@new b"},
		{"* kubelet", "a@new b kubelet"},
		{"* a@old", "a@old b"},
		{"*@old", "a@old b"},
		{"all@old -a", "b kubelet"},
		{"a a-controller", "! a is named twice"},
		{"-b", "! -b leaves out what nothing means: name * or all as well"},
		{"* -*", "! -* leaves nothing"},
		{"*@older", "! unknown era older; did you mean old?"},
		{"c", "! c is one of kube-controller-manager's controllers, and is not here"},
		{"* -c", "a@new b"},
		{"kubelt", "! unknown controller kubelt; did you mean kubelet?"},
	} {
		chosen, what := g.Choose(strings.Fields(c.list))
		got := ""
		for i := range chosen {
			got += " " + controllers.FullName(&chosen[i])
		}
		if what != "" {
			got = " ! " + what
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%q is%s, want %s", c.list, got, c.want)
		}
	}
}
