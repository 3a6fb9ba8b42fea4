package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// label describes the outcome of a run: the violated law, a fight, or a world that does not settle. For any other run
// it counts the writes in explored settles, by verb, for each reconciled object or program.
func (r *Run) label(out *explore.Outcome) string {
	switch {
	case len(out.Findings) > 0 && out.Findings[0].Law != law.AlwaysSettles:
		return "breaks " + r.lawName(out.Findings[0].Law)
	case out.Fight:
		return "fights"
	case !out.Settled:
		return doesNotSettle
	}
	done := map[string]map[string]int{}
	var who []string
	h := &r.t.World.History
	cast := render.CastOf(h)
	for i := r.course.from; i < h.Len(); i++ {
		rec := h.At(i)
		if rec == nil || rec.Op != sim.Commit || rec.For.IsZero() && !r.byProgram(rec) || render.Replaced(h, rec) {
			continue
		}
		c := render.VerbOf(rec)
		if c.Noise {
			continue
		}
		name := cast.Actor(rec)
		if done[name] == nil {
			done[name] = map[string]int{}
			who = append(who, name)
		}
		done[name][c.Verb]++
	}
	slices.Sort(who)
	var parts []string
	for _, name := range who {
		parts = append(parts, name+" "+deeds(done[name]))
	}
	if len(parts) == 0 {
		return "nothing is written"
	}
	return strings.Join(parts, "; ")
}

// byProgram reports whether a hosted program wrote a record. For programs it is not known which object they reconciled.
func (r *Run) byProgram(rec *sim.Record) bool {
	p := r.t.Cluster.Process(rec.Process)
	return p != nil && p.IsProgram()
}

// doesNotSettle is the outcome of runs that violate EXACT-7.
const doesNotSettle = "does not settle"

func deeds(n map[string]int) string {
	var verbs []string
	for v := range n {
		verbs = append(verbs, v)
	}
	slices.Sort(verbs)
	var words []string
	for _, v := range verbs {
		words = append(words, third(v)+" "+strconv.Itoa(n[v]))
	}
	return strings.Join(words, ", ")
}

func third(v string) string {
	if strings.HasSuffix(v, "ch") {
		return v + "es"
	}
	return v + "s"
}

func (r *Run) lawName(id string) string {
	if l, _ := r.registry.law(id); l != nil {
		return l.Name
	}
	return id
}
