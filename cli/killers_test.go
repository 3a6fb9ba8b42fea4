package cli

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/sim/law"
)

// Every law has a mutant that breaks it and that it is the one to name. The server
// itself keeps the first three: no controller can get by it.
func TestEveryLawHasAMutantOfItsOwn(t *testing.T) {
	theServers := []string{"API-1", "API-2", "API-3"}
	killers := map[string]bool{}
	for _, m := range Builtin().Mutants {
		killers[m.Law] = true
	}
	for _, l := range law.All() {
		if !killers[l.ID] && !slices.Contains(theServers, l.ID) {
			t.Errorf("no mutant is killed by %s %s as its own", l.ID, l.Name)
		}
	}
}
