package scenarios_test

import (
	"os"
	"testing"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/controllers/mutants"
	"github.com/threelaws/threelaws/controllers/reaper"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// registry is the one the command line passes in.
func registry() *scenarios.Registry {
	g := &scenarios.Registry{Controllers: controllers.Builtin(), Laws: law.All(), Aliases: controllers.Aliases(), Reaper: reaper.Controller}
	for _, m := range mutants.All() {
		g.Mutants = append(g.Mutants, scenarios.Mutant{Name: m.Name, Summary: m.Sentence, Clause: m.Clause, Law: m.Law, Controller: m.Controller()})
	}
	return g
}

func TestTry(t *testing.T) {
	p := os.Getenv("TRY")
	if p == "" {
		return
	}
	res := scenarios.RunFile(p, scenarios.Options{Registry: registry()})
	for _, s := range res.Steps {
		t.Logf("%s\n%s", s.Step, s.Output)
	}
	for _, e := range res.Errors {
		t.Log(e)
	}
	if res.Page != nil {
		t.Log("\n" + res.Page.Text())
	}
	t.Log(res.Verdict, res.ExitCode, res.Hash)
}
