package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim/host"
)

// Choose returns the controllers that a list means, as --controllers of
// kube-controller-manager does: "name" or "name@era" is that one, "*" those
// that the controller manager runs unless told otherwise, "all" every one of the
// table, "-name" leaves one out that "*" or "all" means. "*@era" and
// "all@era" take that era where there is one, and the newest elsewhere.
// Of what is both named and left out the first mention counts (KCM-1).
// The string says what is wrong, "" when nothing is.
func (g *Registry) Choose(specs []string) ([]host.Controller, string) {
	var chosen []host.Controller
	var out []string
	for _, spec := range specs {
		name, minus := strings.CutPrefix(spec, "-")
		c, what := g.Controller(name)
		if minus && slices.Contains(g.Absent, name) {
			continue // it does not run, as is asked for
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

// meant are the names that "*" or "all" stands for.
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

// inGeneration is a controller in an era, or in its newest where it does not
// have it.
func (g *Registry) inEra(name, era string) host.Controller {
	if c, what := g.Controller(name + "@" + era); what == "" {
		return c
	}
	c, _ := g.Controller(name)
	return c
}

// inOrder sorts controllers as the table has them: what a list names beside "*" does
// not start before the rest.
func (g *Registry) inOrder(chosen []host.Controller) []host.Controller {
	names := g.meant("all")
	slices.SortStableFunc(chosen, func(a, b host.Controller) int {
		return slices.Index(names, a.Name) - slices.Index(names, b.Name)
	})
	return chosen
}
