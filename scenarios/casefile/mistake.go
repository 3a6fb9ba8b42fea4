package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// mistake is an error about the case, in one line. It uses the type's name in package simtest.
func mistake(format string, args ...any) error {
	return &scenarios.Error{File: "simtest.Case", Text: fmt.Sprintf(format, args...), Code: scenarios.ExitUsage}
}

// check finds mistakes in a case that the compiled file would not report, or would report under another name.
func (c *Case) check() error {
	for _, look := range []func() error{c.checkControllers, c.checkUser, c.checkBounds} {
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Case) checkControllers() error {
	if len(c.Controllers) == 0 {
		return mistake("Controllers is empty: there is nothing to try")
	}
	seen := map[string]int{}
	for i := range c.Controllers {
		x := &c.Controllers[i]
		if err := x.Check(); err != nil {
			return mistake("Controllers[%d]: %v", i, err)
		}
		if x.For.Empty() {
			return mistake("Controllers[%d]: controller %s: For is empty: no law would ask what it does; name the "+
				"kind it syncs", i, x.Name)
		}
		if k, ok := seen[x.Name]; ok {
			return mistake("Controllers[%d] and [%d] are both named %s: each runs as a process of its name, give one "+
				"another Name", k, i, x.Name)
		}
		seen[x.Name] = i
	}
	if err := c.checkInvariants(); err != nil {
		return err
	}
	g := c.Registry()
	for i, spec := range c.With {
		x, what := g.Controller(spec)
		if what != "" {
			return mistake("With[%d]: %s", i, what)
		}
		if _, ok := seen[x.Name]; ok {
			return mistake("With[%d]: %s runs already", i, x.Name)
		}
		seen[x.Name] = i
	}
	return nil
}

// checkInvariants checks the case's invariants, and whether one has the ID of a controller's invariant.
func (c *Case) checkInvariants() error {
	if err := law.CheckInvariants(c.Invariants); err != nil {
		return mistake("Invariants: %v", err)
	}
	for _, v := range c.Invariants {
		if law.ByID(v.ID) != nil {
			return mistake("Invariants: %s is a law: give the invariant an ID of its own", v.ID)
		}
		for i := range c.Controllers {
			if x := &c.Controllers[i]; slices.ContainsFunc(x.Contract.Invariants, func(w *law.Invariant) bool {
				return w.ID == v.ID
			}) {
				return mistake("Invariants: two invariants have the ID %s: controller %s declares one", v.ID, x.Name)
			}
		}
	}
	return nil
}

func (c *Case) checkUser() error {
	seen := map[string]int{}
	for i, a := range c.User {
		verb, _, _ := strings.Cut(strings.TrimSpace(a.Verb), " ")
		switch {
		case a.Manifests != "":
			if a.Name != "" || a.Do != nil || verb != "" {
				return mistake("User[%d]: manifests, and something else: what comes after is the next action", i)
			}
			continue
		case a.Name == "" && a.Do == nil && verb == "":
			return mistake("User[%d] is empty: write Verb(\"delete cm/a\"), or Do(name, func)", i)
		case a.Do == nil && a.Name != "":
			return mistake("User[%d]: the function of Do(%q, nil) is nil", i, a.Name)
		case a.Do == nil && (strings.ContainsAny(a.Verb, "\r\n") || verb[0] == '#' || verb[0] == '-'):
			return mistake("User[%d]: Verb(%q): one line of a scenario file, VERB ARGUMENTS; what comes after is the "+
				"next action", i, a.Verb)
		case a.Do == nil:
			if v := scenarios.FindVerb(verb); v != nil && v.Explores() {
				return mistake("User[%d]: %s explores: Check does, say how in Schedules, Exhaustive and Faults", i,
					verb)
			}
			continue
		case a.Name == "" || strings.ContainsAny(a.Name, " \t\r\n\"'#=") || a.Name[0] == '-':
			return mistake("User[%d]: the name in Do(%q, ...) is one word: it stands in files and schedules", i, a.Name)
		case a.Name == atRest && c.AtRest != nil:
			return mistake("User[%d]: the name %s is that of AtRest: give the action another", i, a.Name)
		}
		if k, ok := seen[a.Name]; ok {
			return mistake("User[%d] and [%d] are both named %s: files tell functions by name, give one another", k, i,
				a.Name)
		}
		seen[a.Name] = i
	}
	return nil
}

func (c *Case) checkBounds() error {
	if c.For < 0 {
		return mistake("For is %s: a world is given some time, or none", c.For)
	}
	if c.Schedules < 0 {
		return mistake("Schedules is %d: how many are drawn, 0 for 1000", c.Schedules)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Faults)) {
		if !slices.Contains(host.FaultNames, name) {
			_, what := scenarios.ParseFaults(name)
			return mistake("Faults: %s", what)
		}
		if n := c.Faults[name]; n < 0 {
			return mistake("Faults: %s is %d: how many a run may have", name, n)
		}
	}
	return nil
}
