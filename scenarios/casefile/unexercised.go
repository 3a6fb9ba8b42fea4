package casefile

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Unexercised lists, one per line, what an exploration without violations did not exercise:
//   - a controller under test that wrote nothing in any schedule,
//   - a controller whose kind had no object in any settled world, if the case has no function Settled,
//   - a controller whose worlds a time limit cut off,
//   - a controller that never reconciled a key that names an object of its kind,
//   - a controller with Replicas whose BlocksCreate explained, each time, why it had too few objects,
//   - a user action that was always refused,
//   - an exhaustive search that was cut short.
//
// In each of these cases, a pass proves nothing.
func (c *Case) Unexercised(x *scenarios.Exploration) []string {
	var all []string
	if v := x.Coverage; v != nil && !v.Complete {
		all = append(all, fmt.Sprintf("not everything was covered: %s", v.Stopped))
	}
	for i := range c.Controllers {
		name, kind := c.Controllers[i].Name, c.Controllers[i].For.Kind
		if !x.Wrote[name] {
			all = append(all,
				fmt.Sprintf("%s wrote nothing in any of %d schedules: the case does not exercise it", name,
					x.Schedules))
		} else if kind != "" && !x.Settled[name] && x.Middle != "" {
			all = append(all, fmt.Sprintf("not judged: cut off in the middle of %s; give the world more time, or less",
				x.Middle))
		} else if kind != "" && !x.Settled[name] && x.Unsettled == x.Schedules {
			continue // no schedule settled, which is reported elsewhere
		} else if kind != "" && !x.Settled[name] && c.Settled == nil {
			all = append(all,
				fmt.Sprintf("no %s is left at the end of any of %d schedules: %s was not checked when settled; add "+
					"one that the user does not delete", kind, x.Schedules, name))
		} else if kind != "" && !x.Keyed[name] && !c.Controllers[i].Hosted() {
			all = append(all,
				fmt.Sprintf("no key that %s synced names a %s: how many it makes and deletes for each was not checked; "+
					"keys are namespace/name", name, kind))
		} else if c.Controllers[i].Contract.BlocksCreate != nil && c.Controllers[i].Contract.Replicas != nil && !asked(x, name, "NOFIGHT-3") {
			all = append(all, fmt.Sprintf("%s has too few objects at the end of each of %d schedules, and "+
				"BlocksCreate excuses it each time: creation of the missing objects was not checked; end the cause "+
				"of the block", name,
				x.Schedules))
		}
	}
	for _, v := range x.Vain {
		when := fmt.Sprintf("in each of %d schedules", x.Schedules)
		if x.Schedules == 1 {
			when = "in the only schedule"
		}
		all = append(all, fmt.Sprintf("%s was refused %s: %s", v.Text, when, v.Why))
	}
	return all
}

// declarations lists fields of a Contract, each with the first law that uses the field.
var declarations = []struct {
	name, law string
	says      func(c *host.Controller) bool
}{
	{"Replicas", "NOFIGHT-3", func(c *host.Controller) bool { return c.Contract.Replicas != nil }},
	{"MaxActive", "EXACT-2", func(c *host.Controller) bool { return c.Contract.MaxActive != nil }},
	{"Identity", "EXACT-3", func(c *host.Controller) bool { return c.Contract.Identity != nil }},
	{"Finalizers", "EXACT-6", func(c *host.Controller) bool { return len(c.Contract.Finalizers) > 0 }},
	{"FinalizerReason", "FIN-3", func(c *host.Controller) bool { return c.Contract.FinalizerReason != nil }},
	{"Counts", "EXACT-8", func(c *host.Controller) bool { return len(c.Contract.Counts) > 0 }},
	{"Once, of a count,", "EXACT-12", func(c *host.Controller) bool {
		return slices.ContainsFunc(c.Contract.Counts, func(n law.Count) bool { return n.Once })
	}},
	{"RetryOf", "WRITE-8", func(c *host.Controller) bool { return c.Contract.RetryOf != nil }},
}

// asked reports whether a law was evaluated for a controller in any schedule.
func asked(x *scenarios.Exploration, controller, id string) bool {
	return slices.ContainsFunc(x.Said, func(s scenarios.Said) bool {
		return s.Controller == controller && s.Law == id && s.Exercised > 0
	})
}

// AlsoUnexercised lists, one per line, other things that an exploration did not exercise:
//   - invariants and declarations of a controller under test that no law evaluated,
//   - created objects of a kind that the controller does not declare: their owner was not checked,
//   - writes in a reconcile of a key that names no object of the controller's kind: their owner was not checked,
//   - kinds whose names exist in two API groups.
//
// These are often not mistakes.
func (c *Case) AlsoUnexercised(x *scenarios.Exploration) []string {
	var all []string
	under := map[string]*host.Controller{}
	for i := range c.Controllers {
		ctl := &c.Controllers[i]
		under[ctl.Name] = ctl
		for _, v := range ctl.Contract.Invariants {
			if !asked(x, ctl.Name, v.ID) && c.Laws == nil {
				all = append(all, fmt.Sprintf("%s, of %s: no schedule exercised this invariant", v.ID, ctl.Name))
			}
		}
		for _, d := range declarations {
			if l := law.ByID(d.law); d.says(ctl) && !asked(x, ctl.Name, d.law) && (c.Laws == nil ||
				slices.Contains(c.Laws, l)) {
				all = append(all, fmt.Sprintf("%s %s, of %s: no schedule exercised %s", d.law,
					l.Name, ctl.Name, d.name))
			}
		}
	}
	for _, b := range x.Beside {
		switch ctl := under[b.Controller]; {
		case ctl == nil:
		case !b.Unkeyed:
			all = append(all, fmt.Sprintf("LAW-1, of %s: the owner of the %s that it creates, since that is not in "+
				"its Owns; name it there, or in MayEdit if it has no owner", ctl.Name, b.Kind))
		default:
			all = append(all, fmt.Sprintf("LAW-2, of %s: the owner for which it wrote a %s in a reconcile of a key "+
				"that names no %s", ctl.Name, b.Kind, ctl.For.Kind))
		}
	}
	for _, kind := range x.Alike {
		all = append(all, "the API group of "+kind+", which two groups have: laws distinguish kinds by name only")
	}
	return all
}
