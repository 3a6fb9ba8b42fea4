package cli

import "testing"

// Every mutant of this module has a scenario that names it. That the scenario kills it
// is seen where all scenarios are run.
func TestEveryMutantHasAScenario(t *testing.T) {
	p, err := new(shelf).pins("../scenarios/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Builtin().Mutants {
		if len(p.mutants[m.Name]) == 0 {
			t.Errorf(`no file under scenarios/testdata has a step "mutant %s"`, m.Name)
		}
	}
}
