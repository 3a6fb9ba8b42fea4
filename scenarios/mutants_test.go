package scenarios_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// Every law kills a mutant that is made for it. Exceptions are the first three laws, which the server enforces, same-end,
// which a case must enable and TestSameEnd in package scenarios tests, and observed-generation: no reference controller
// reads its object again before it writes the status. TestObservedGeneration in scenarios/conformance tests it.
func TestEveryLawHasAMutantOfItsOwn(t *testing.T) {
	others := []string{"API-1", "API-2", "API-3", "EXACT-13", "EXACT-14"}
	g := builtin.Registry()
	killers := map[string]bool{}
	for _, m := range g.Mutants {
		killers[m.Law] = true
	}
	for _, l := range g.Laws {
		if !killers[l.ID] && !slices.Contains(others, l.ID) {
			t.Errorf("no mutant is made for the law %s %s", l.ID, l.Name)
		}
	}
}

// For every mutant, a scenario has a step with its law as the result. The test of all scenarios checks these steps.
func TestEveryMutantIsKilledByItsLaw(t *testing.T) {
	g := builtin.Registry()
	killed := killers(t)
	for _, m := range g.Mutants {
		law := ""
		for _, l := range g.Laws {
			if l.ID == m.Law {
				law = l.Name
			}
		}
		switch by := killed[m.Name]; {
		case len(by) == 0:
			t.Errorf(`no scenario has a step "mutant %s"`, m.Name)
		case law != "" && !slices.Contains(by, law):
			t.Errorf("%s is meant for %s %s, and is killed by %s", m.Name, m.Law, law, strings.Join(by, ", "))
		}
	}
}

// killers returns, for each mutant in a step of the scenario library, the laws that kill it.
func killers(t *testing.T) map[string][]string {
	t.Helper()
	killed := map[string][]string{}
	library := scenarios.Library()
	err := fs.WalkDir(library, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(library, name)
		if err != nil {
			return err
		}
		f, err := scenarios.Parse(name, text)
		if err != nil {
			return err
		}
		for _, s := range f.Steps {
			if law, is := strings.CutPrefix(s.Golden, "killed by "); is && s.Verb == "mutant" {
				law, _, _ = strings.Cut(law, " ")
				killed[s.Word(0)] = append(killed[s.Word(0)], strings.TrimRight(law, ":\n"))
			}
		}
		return nil
	})
	must(t, err)
	return killed
}

// Complete adds what every world needs, and keeps what the registry contains.
func TestComplete(t *testing.T) {
	mine := host.Controller{Name: "replicaset"}
	g := builtin.Complete(&scenarios.Registry{Controllers: []host.Controller{{Name: "sloppy"}, mine, {Name: "rc"}}})
	for spec, want := range map[string]string{
		"sloppy": "sloppy", "gc": "garbagecollector", "kubelet": "kubelet", "namespace": "namespace",
		"replicaset": "replicaset", "replicaset@selector": "replicaset", "rc": "rc", "replication": "replication",
	} {
		c, what := g.Controller(spec)
		if what != "" || c.Name != want {
			t.Errorf("%s: found %q; %s", spec, c.Name, what)
		}
	}
	if c, _ := g.Controller("replicaset"); c.Era != "" {
		t.Errorf("replicaset is that of this module, era %s", c.Era)
	}
	if g.Reaper == nil || len(g.Laws) == 0 || len(g.Mutants) != 0 {
		t.Errorf("laws %d, mutants %d, reaper %v", len(g.Laws), len(g.Mutants), g.Reaper != nil)
	}
}
