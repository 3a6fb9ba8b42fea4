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

// Case is a world in which controllers are tried: what it holds, what runs in
// it, what the user does meanwhile, and what must be so in the end. [Case.Explore]
// runs it under many schedules and holds each to the laws. A Case is compiled into a
// scenario file: a failure is written as one, and everything that works on files
// works on it.
type Case struct {
	// Controllers are under test: each runs as a process of its own, of its name.
	Controllers []host.Controller
	// Beside are further controllers, which need not do anything.
	Beside []host.Controller
	// With names controllers of this module to run beside them, as the verb
	// controllers does: "gc", "namespace", "replicaset@controllerref".
	With []string

	// CRDs are files, and directories of such, with CustomResourceDefinitions that exist before
	// anything happens; what else they hold is left out. Installed is YAML of what exists then as
	// well, as the objects of install manifests. A minimized failure keeps all of it.
	CRDs      []string
	Installed string

	// Files are YAML files, and directories of such, with what the world holds in
	// the beginning: CustomResourceDefinitions first, then objects.
	Files []string
	// World is more of it as text, Objects as values. Objects that are not
	// unstructured are of the built-in kinds.
	World   string
	Objects []runtime.Object

	// Settled brings the world to rest in the default schedule before the user
	// acts. Without it everything races from the first step on.
	Settled bool
	// For is how much virtual time the world is given where something in it goes on for
	// ever: an object that no controller can handle is tried again and again, each time
	// later. After that the world is taken for one at rest. 0 is until nothing more happens.
	For time.Duration
	// User is what the user does, in this order, at any time.
	User []Action
	// AtRest is what must hold, beside the laws, whenever the world has come to
	// rest: an error breaks it. It only reads.
	AtRest scenarios.Func

	// Invariants are what must hold in this world beside the laws: at rest, or at writes of programs.
	Invariants []*law.Invariant

	// SameEnd asks for the law same-end in the end: the settled objects are those of a quiet run of the same actions.
	// What differs between quiet runs in which only the order is drawn is left out, and so are names, uids, times,
	// annotations, and the numbers and free texts of a status.
	SameEnd bool

	// Server, if set, is what the world's server is like: Convert and Webhooks of
	// [fakeapi.Options] answer for the webhooks of definitions and of admission.
	Server *fakeapi.Options

	Laws   []*law.Law     // nil means all
	Faults map[string]int // how many faults of each name a run may have; see [host.FaultNames]
	Strict bool           // races lost are broken laws, too

	// Schedules is how many are drawn; 0 means 1000. Exhaustive enumerates all
	// instead, which only small worlds allow. Both are overruled by the flags.
	Schedules  int
	Exhaustive bool
	// Time is how long schedules are drawn; 0 for as long as all of them take. One is drawn in any case.
	Time time.Duration
	// Accept, if set, says why a failure is known, "" for one that is not. Package simtest logs a known failure, and
	// it fails no test.
	Accept func(f *scenarios.Counterexample) (reason string)

	_ struct{}
}

// Action is one thing the user does: a line of a scenario file, manifests that are
// applied, or a function.
type Action struct {
	Verb      string // "delete widget/a --cascade=orphan"
	Manifests string // YAML, as in World
	Name      string // of the function: one word
	Do        scenarios.Func
}

// Verb is an action written as a line of a scenario file.
func Verb(line string) Action { return Action{Verb: line} }

// Apply is an action that creates the objects of manifests, or merges them into those
// that exist: an owner that is made again under its name.
func Apply(manifests string) Action { return Action{Manifests: manifests} }

// Do is an action written in Go. The name is one word and stands for it in
// schedules and in files.
func Do(name string, f func(user host.Client) error) Action { return Action{Name: name, Do: f} }

// atRest is the name of [Case.AtRest] in files.
const atRest = "at-rest"

// laws are those of the case with its invariants; nil for all there are.
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

// Registry is what the case's files may name: its controllers and functions, and
// all of this module's.
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
