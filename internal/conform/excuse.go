package conform

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// The controllers that have clauses of their own, by name.
const (
	collector = "garbagecollector"
	drainer   = "namespace"
)

// excused says why a clause is none of a controller's, "" where it is.
func excused(c *clause.Clause, s *Sheet, g *scenarios.Registry) string {
	switch c.About {
	case clause.Keyed:
		return unless(s.For.Kind != "", "it syncs no kind of its own")
	case clause.Owners:
		return unless(len(s.Owns) > 0 && s.For.Kind != "", "it has no dependents")
	case clause.Claimers:
		return unless(s.Selector != nil, "it selects nothing")
	case clause.Wanting:
		return unless(s.Replicas != nil, "it does not say how many dependents there are to be")
	case clause.Identified:
		return unless(s.Identity != nil, "two of its dependents may be alike")
	case clause.Counting:
		return unless(len(s.Counts) > 0, "its status counts no dependents")
	case clause.Finalizing:
		return unless(len(s.Finalizers) > 0 || s.Name == collector, "it puts no finalizers on objects")
	case clause.Collector:
		return unless(s.Name == collector, "it is about the garbage collector")
	case clause.Drainer:
		return unless(s.Name == drainer, "it is about the namespace controller")
	case clause.Named:
		return unless(slices.Contains(c.Only, s.Name), "it is about "+strings.Join(c.Only, " and "))
	case clause.Generations:
		return ageless(c, s, g)
	}
	return ""
}

// ageless says why what is demanded of upgrades is none of a controller's.
func ageless(c *clause.Clause, s *Sheet, g *scenarios.Registry) string {
	overlap := strings.HasPrefix(c.ID, "DOWNGRADE") || strings.HasPrefix(c.ID, "UPGRADE") && c.ID != "UPGRADE-1"
	switch {
	case s.Name == "kubelet":
		return "its variants are other nodes, not other ages: nobody upgrades one to another"
	case !s.Newest:
		return "what it is upgraded to is asked"
	case generationsOf(g, s.Name) < 2:
		return "it has one generation"
	case overlap:
		return crossings[s.Name].never
	}
	return ""
}

func unless(its bool, why string) string {
	if its {
		return ""
	}
	return why
}

func generationsOf(g *scenarios.Registry, name string) int {
	n := 0
	for _, c := range g.Controllers {
		if c.Name == name && c.Generation != "" {
			n++
		}
	}
	return n
}

// lawOf tells the law of a clause.
func lawOf(id string) func(*law.Law) bool { return func(l *law.Law) bool { return l.ID == id } }

// unasked says why nothing asks a clause of a controller.
var unasked = map[[2]string]string{
	{"kubelet", "FIN-1"}:         "no Pod that it ends has finalizers",
	{"podgc", "WRITE-8"}:         "no error comes to its queue: what one round fails to do the next finds again",
	{"resourcequota", "WRITE-4"}: "the law asks of each live read whether it lists, and there is none",
}

// reason says why nothing asked a clause of a controller, "" for none.
func reason(s *Sheet, id string) string {
	if !s.Newest {
		return "the worlds that older generations are held to do not come to it"
	}
	return unasked[[2]string{s.Name, id}]
}
