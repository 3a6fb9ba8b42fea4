package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim/host"
)

// Choose returns the controllers that a list selects, as --controllers of kube-controller-manager does:
//   - "name" or "name@era" is one controller,
//   - "*" is every controller that runs by default,
//   - "all" is every controller of the table,
//   - "-name" excludes one that "*" or "all" includes,
//   - "*@era" and "all@era" take that era where it exists, and the newest elsewhere.
//
// If a name is both included and excluded, the first mention wins (KCM-1). The string is the error text, or "".
func (g *Registry) Choose(specs []string) ([]host.Controller, string) {
	var chosen []host.Controller
	var out []string
	for _, spec := range specs {
		name, minus := strings.CutPrefix(spec, "-")
		c, what := g.Controller(name)
		if minus && slices.Contains(g.Absent, name) {
			continue // disabled explicitly
		}
		switch {
		case what != "" && !isWildcard(name) || minus && isWildcard(name):
			if minus && isWildcard(name) {
				what = spec + " leaves nothing"
			}
			return nil, what
		case minus:
			out = append(out, c.Name)
		case isWildcard(name):
		case slices.Contains(out, c.Name):
		case slices.ContainsFunc(chosen, func(d host.Controller) bool { return d.Name == c.Name }):
			return nil, c.Name + " is named twice"
		default:
			chosen = append(chosen, c)
		}
	}
	for _, spec := range specs {
		if !isWildcard(spec) {
			continue
		}
		word, era, _ := strings.Cut(spec, "@")
		if all := g.Eras(); era != "" && !slices.Contains(all, era) {
			return nil, "unknown era " + era + suggest(era, all)
		}
		for _, name := range g.meant(word) {
			named := slices.ContainsFunc(chosen, func(d host.Controller) bool { return d.Name == name })
			if !named && !slices.Contains(out, name) {
				chosen = append(chosen, g.inEra(name, era))
			}
		}
		return g.inOrder(chosen), ""
	}
	if len(out) > 0 {
		return nil, "-" + out[0] + " leaves out what nothing means: name * or all as well"
	}
	return chosen, ""
}

func isWildcard(spec string) bool {
	word, _, _ := strings.Cut(spec, "@")
	return word == "*" || word == "all"
}

// meant returns the names that "*" or "all" stands for.
func (g *Registry) meant(word string) []string {
	if word == "*" && g.Managed != nil {
		return g.Managed
	}
	var names []string
	for i := range g.Controllers {
		if name := g.Controllers[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// inEra returns a controller in an era, or in its newest era if it does not have that one.
func (g *Registry) inEra(name, era string) host.Controller {
	if c, what := g.Controller(name + "@" + era); what == "" {
		return c
	}
	c, _ := g.Controller(name)
	return c
}

// inOrder sorts controllers in the table's order. A name listed beside "*" thus does not start before the others.
func (g *Registry) inOrder(chosen []host.Controller) []host.Controller {
	names := g.meant("all")
	slices.SortStableFunc(chosen, func(a, b host.Controller) int {
		return slices.Index(names, a.Name) - slices.Index(names, b.Name)
	})
	return chosen
}
