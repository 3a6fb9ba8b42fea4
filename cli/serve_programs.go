package cli

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// playedBy reads the flag --programs: which controller of the table each program is to be judged
// as, by the name that its user agent begins with. That is nobody's who acts in the server already.
func playedBy(g *scenarios.Registry, words []string, runs []host.Controller) (map[string]host.Controller, error) {
	played := map[string]host.Controller{}
	for _, word := range words {
		name, controller, ok := strings.Cut(word, "=")
		if !ok || name == "" || strings.Contains(name, "/") {
			return nil, usage("--programs: %s is no NAME=CONTROLLER: a user agent up to its slash, and a "+
				"controller of the table", word)
		}
		if _, twice := played[name]; twice {
			return nil, usage("--programs: %s is named twice", name)
		}
		if name == law.User || name == law.Server {
			return nil, usage("--programs: %s is what the server calls %s: give the program another user agent", name,
				map[string]string{law.User: "whoever has no user agent", law.Server: "itself"}[name])
		}
		if slices.ContainsFunc(runs, func(c host.Controller) bool { return c.Name == name }) {
			return nil, usage("--programs: %s is a controller that the server runs: give the program another user "+
				"agent, or leave it out of --controllers", name)
		}
		chosen, what := g.Choose([]string{controller})
		switch {
		case what != "":
			return nil, usage("--programs: %s", what)
		case len(chosen) != 1 || chosen[0].For.Empty():
			return nil, usage("--programs: %s is not one controller that syncs a kind", controller)
		}
		played[name] = chosen[0]
	}
	return played, nil
}
