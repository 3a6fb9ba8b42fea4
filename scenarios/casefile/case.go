// Package casefile converts a case to a scenario file. A [Case] describes a world in Go: its objects, the controllers
// under test, the user's actions, and what must hold at the end. [Case.Explore] runs the file under many schedules.
//
// Package simtest is the front end for go test. It also supports property tests and fuzzing.
package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Case describes a world in which controllers are tested: its objects, its processes, the user's actions, and what must
// hold at the end. [Case.Explore] runs it under many schedules, and checks each run against the laws. A Case is
// compiled to a scenario file. Failures are written as scenario files too, so every tool for these files can be used.
type Case struct {
	// Controllers are the controllers under test. Each runs as a process with the controller's name.
	Controllers []host.Controller
	// Beside are other controllers. They are not under test, so they may do nothing.
	Beside []host.Controller
	// With names controllers of this module that run too, in the syntax of the verb controllers: "gc", "namespace",
	// "replicaset@controllerref". They are not under test: of their violations, only fights are reported.
	With []string

	// CRDs are files and directories with CustomResourceDefinitions that exist from the start; other objects in them
	// are ignored. Installed is YAML with other objects that exist from the start, for example those of install
	// manifests. When a failure is minimized, these objects are not removed.
	CRDs      []string
	Installed string

	// Files are YAML files, or directories of them, with the initial objects of the world. A CRD must come before
	// objects of its kind.
	Files []string
	// World is YAML with more initial objects. Objects are more initial objects, as Go values. An object that is not
	// unstructured must have a built-in kind.
	World   string
	Objects []runtime.Object

	// SettleFirst lets the world settle in the default schedule before the user acts. Otherwise the user's actions race
	// with the controllers from the first step.
	SettleFirst bool
	// For limits the virtual time of each settle of the world. After that time the world counts as settled. This is for
	// worlds in which something never stops, such as retries. 0 means that the world runs until nothing more happens.
	For time.Duration
	// User lists the user's actions in order. Each action may happen at any time after the previous action.
	User []Action
	// Settled is called at the end of each run whose world has settled, in addition to the laws. It must not write. If
	// it returns an error, this is a violation.
	Settled scenarios.Func

	// Invariants must hold in this world in addition to the laws. Each is checked whenever the world has settled, or at
	// each write of a program.
	Invariants []*law.Invariant

	// SameEnd enables the law same-end: at the end, the settled objects must equal those after a quiet run, which does
	// the same actions without faults. Fields that differ between quiet runs are ignored. Names, UIDs, times,
	// annotations, and numbers and messages in a status are ignored too.
	SameEnd bool

	// Server, if not nil, configures the world's server. Its functions Convert and Webhooks act as conversion and
	// admission webhooks.
	Server *fakeapi.Options

	Laws   []*law.Law     // nil means all laws; invariants are always checked
	Faults map[string]int // the maximal number of each fault in a run; [host.FaultNames] lists the names
	Strict bool           // a violation counts even if the process could not know of it (a lost race)

	// Schedules is the number of random schedules; 0 means 1000. If Exhaustive is set, all schedules are run instead,
	// which is possible only for small worlds. Flags override both fields.
	Schedules  int
	Exhaustive bool
	// Time limits the real time for running random schedules; 0 means no limit. At least one schedule is run.
	Time time.Duration
	// Accept, if not nil, returns the reason why a failure is accepted, or "" if the failure is not accepted. Package
	// simtest logs an accepted failure, but does not fail the test.
	Accept func(f *scenarios.Counterexample) (reason string)

	_ struct{}
}

// Action is one action of the user: a line of a scenario file, manifests to apply, or a function.
type Action struct {
	Verb      string // "delete widget/a --cascade=orphan"
	Manifests string // YAML, as in World
	Name      string // the name of the function: one word
	Do        scenarios.Func
}

// settledCheck is the name of the function [Case.Settled] in files.
const settledCheck = "settled"

// Registry returns what the case's file may use: the case's controllers and functions, and those of this module.
func (c *Case) Registry() *scenarios.Registry {
	g := &scenarios.Registry{Controllers: slices.Concat(c.Controllers, c.Beside), Laws: c.Laws, Funcs: map[string]scenarios.Func{},
		Server: c.Server}
	for _, a := range c.User {
		if a.Do != nil {
			g.Funcs[a.Name] = a.Do
		}
	}
	if c.Settled != nil {
		g.Funcs[settledCheck] = c.Settled
	}
	g = builtin.Complete(g)
	for _, spec := range c.With {
		x, _ := g.Controller(spec) // (*Case).check reports an unknown name
		for i := range g.Controllers {
			if c := &g.Controllers[i]; c.Name == x.Name && c.Era == x.Era {
				c.Contract.Exempt = true
			}
		}
	}
	g.Laws = slices.Clip(g.Laws)
	for i := range c.Controllers {
		for _, l := range c.Controllers[i].Contract.Laws() {
			if !slices.ContainsFunc(g.Laws, func(k *law.Law) bool { return k.ID == l.ID }) {
				g.Laws = append(g.Laws, l)
			}
		}
	}
	for _, v := range c.Invariants {
		g.Laws = append(g.Laws, v.Law())
	}
	return g
}

// mistake returns an error of one line about the case. The error names the type simtest.Case.
func mistake(format string, args ...any) error {
	return &scenarios.Error{File: "simtest.Case", Text: fmt.Sprintf(format, args...), Code: scenarios.ExitUsage}
}

// check finds mistakes that parsing the compiled file would miss, or would report without the name of the field.
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
			return mistake("Controllers[%d]: controller %s: For is empty: no law would judge it; name the "+
				"kind it reconciles", i, x.Name)
		}
		if k, ok := seen[x.Name]; ok {
			return mistake("Controllers[%d] and [%d] are both named %s: each runs as a process of its name, so "+
				"change one Name", k, i, x.Name)
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

// checkInvariants checks the case's invariants. Their IDs must differ from those of the controllers' invariants.
func (c *Case) checkInvariants() error {
	if err := law.CheckInvariants(c.Invariants); err != nil {
		return mistake("Invariants: %v", err)
	}
	own := map[string]*law.Invariant{}
	for i := range c.Controllers {
		for _, v := range c.Controllers[i].Contract.Invariants {
			if w := own[v.ID]; w != nil && (v.When != w.When || v.Sentence != w.Sentence) {
				return mistake("Controllers: two have different invariants with the ID %s: give one another ID", v.ID)
			}
			own[v.ID] = v
		}
	}
	for _, v := range c.Invariants {
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
				return mistake("User[%d]: manifests stand alone: make the rest the next action", i)
			}
			continue
		case a.Name == "" && a.Do == nil && verb == "":
			return mistake("User[%d] is empty: write Verb(\"delete cm/a\"), or Do(name, func)", i)
		case a.Do == nil && a.Name != "":
			return mistake("User[%d]: the function of Do(%q, nil) is nil", i, a.Name)
		case a.Do == nil && (strings.ContainsAny(a.Verb, "\r\n") || verb[0] == '#' || verb[0] == '-'):
			return mistake("User[%d]: Verb(%q): one line of a scenario file, VERB ARGUMENTS; make the rest the next "+
				"action", i, a.Verb)
		case a.Do == nil:
			if v := scenarios.FindVerb(verb); v != nil && v.Explores() {
				return mistake("User[%d]: %s explores, which Check does itself: set Schedules, Exhaustive and "+
					"Faults", i,
					verb)
			}
			continue
		case a.Name == "" || strings.ContainsAny(a.Name, " \t\r\n\"'#=") || a.Name[0] == '-':
			return mistake("User[%d]: the name in Do(%q, ...) must be one word: it occurs in files and schedules",
				i, a.Name)
		case a.Name == settledCheck && c.Settled != nil:
			return mistake("User[%d]: the name %s is reserved for Settled: choose another", i, a.Name)
		}
		if k, ok := seen[a.Name]; ok {
			return mistake("User[%d] and [%d] are both named %s: files identify functions by name, so rename one", k, i,
				a.Name)
		}
		seen[a.Name] = i
	}
	return nil
}

func (c *Case) checkBounds() error {
	if c.For < 0 {
		return mistake("For is %s: it must not be negative", c.For)
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
