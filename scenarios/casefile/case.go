package casefile

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Case is a world in which controllers are tested: its objects, its processes, the user's actions, and what must hold
// at the end. [Case.Explore] runs it under many schedules and checks each against the laws. A Case is compiled into a
// scenario file. Failures are written as such files, so every tool for files works on them.
type Case struct {
	// Controllers are the controllers under test. Each runs as a process that has its name.
	Controllers []host.Controller
	// Beside are further controllers. They may stay idle.
	Beside []host.Controller
	// With names controllers of this module to run beside them, as the verb
	// controllers does: "gc", "namespace", "replicaset@controllerref".
	With []string

	// CRDs are files and directories with CustomResourceDefinitions that exist from the start; other objects in them
	// are ignored. Installed is YAML of objects that also exist from the start, such as those of install manifests. A
	// minimized failure keeps all of both.
	CRDs      []string
	Installed string

	// Files are YAML files, and directories of them, with the initial objects of the world. CustomResourceDefinitions
	// come first.
	Files []string
	// World is YAML with more initial objects; Objects holds them as values. Objects that are not unstructured have
	// built-in kinds.
	World   string
	Objects []runtime.Object

	// Settled lets the world settle in the default schedule before the user acts. Without it everything races from the
	// first step on.
	Settled bool
	// For limits the virtual time of a world in which something never stops, such as retries for an object that no
	// controller can handle. After that time the world counts as settled. 0 means: until nothing more happens.
	For time.Duration
	// User lists the user's actions, in order. Each may happen at any time.
	User []Action
	// AtRest is checked, beside the laws, whenever the world has settled. An error is a violation. It only reads.
	AtRest scenarios.Func

	// Invariants must hold in this world beside the laws: when it has settled, or at each write of a program.
	Invariants []*law.Invariant

	// SameEnd enables the law same-end: at the end, the settled objects equal those of a quiet run of the same actions.
	// The comparison skips what differs between quiet runs that differ only in the order of actions. It also skips
	// names, uids, times, annotations, and the numbers and free texts of a status.
	SameEnd bool

	// Server, if set, configures the world's server. Convert and Webhooks of [fakeapi.Options] answer for conversion
	// and admission webhooks.
	Server *fakeapi.Options

	Laws   []*law.Law     // nil means all
	Faults map[string]int // how many faults of each name a run may have; see [host.FaultNames]
	Strict bool           // lost races count as violations, too

	// Schedules is the number of drawn schedules; 0 means 1000. Exhaustive enumerates all schedules instead, which only
	// small worlds allow. Flags override both.
	Schedules  int
	Exhaustive bool
	// Time limits how long schedules are drawn; 0 means no limit. At least one is drawn.
	Time time.Duration
	// Accept, if set, returns the reason why a failure is known, or "" for an unknown one. Package simtest logs a known
	// failure and does not fail the test.
	Accept func(f *scenarios.Counterexample) (reason string)

	_ struct{}
}

// Action is one action of the user: a line of a scenario file, manifests to apply, or a function.
type Action struct {
	Verb      string // "delete widget/a --cascade=orphan"
	Manifests string // YAML, as in World
	Name      string // of the function: one word
	Do        scenarios.Func
}

// Verb is an action written as a line of a scenario file.
func Verb(line string) Action { return Action{Verb: line} }

// Apply is an action that creates the objects of manifests, or merges them into existing ones. It can recreate an owner
// under its old name.
func Apply(manifests string) Action { return Action{Manifests: manifests} }

// Do is an action written in Go. The name is one word; schedules and files use it.
func Do(name string, f func(user host.Client) error) Action { return Action{Name: name, Do: f} }

// atRest is the name of [Case.AtRest] in files.
const atRest = "at-rest"

// laws returns the laws of the case and its invariants; nil means all laws.
func (c *Case) laws() []*law.Law {
	if len(c.Invariants) == 0 {
		return c.Laws
	}
	laws := slices.Clone(c.Laws)
	if c.Laws == nil {
		laws = builtin.With(law.All(), slices.Concat(c.Controllers, c.Beside)...)
	}
	for _, v := range c.Invariants {
		laws = append(laws, v.Law())
	}
	return laws
}

// Registry returns what the case's files may name: its own controllers and functions, and all of this module's.
func (c *Case) Registry() *scenarios.Registry {
	g := &scenarios.Registry{Controllers: slices.Concat(c.Controllers, c.Beside), Laws: c.laws(), Funcs: map[string]scenarios.Func{},
		Server: c.Server}
	for _, a := range c.User {
		if a.Do != nil {
			g.Funcs[a.Name] = a.Do
		}
	}
	if c.AtRest != nil {
		g.Funcs[atRest] = c.AtRest
	}
	return builtin.Complete(g)
}
