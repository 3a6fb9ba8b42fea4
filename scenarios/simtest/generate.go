package simtest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim"
)

// Generator configures what is generated.
type Generator struct {
	Controllers string         // as after the verb controllers: "replicaset replication gc"
	Faults      map[string]int // how many faults of each name a run may have
	Sets        int            // the most ReplicaSets and ReplicationControllers, at least 1
	Orphans     int            // the most Pods without an owner
	Actions     int            // the most user actions
}

// labelSets are the labels of selectors and pods. The second contains the first, so selectors overlap fully, partly or
// not at all.
var labelSets = []string{"app: web", "app: web, tier: front", "app: db"}

// File draws a scenario: objects, user actions, one settle. The objects exist before the controllers run; the user's
// actions race with them.
func (w Generator) File(c sim.Choices) (*scenarios.File, error) {
	g := &drawing{choices: c}
	sets := 1 + c.Pick(max(w.Sets, 1), "sets")
	for i := range sets {
		g.set(i)
	}
	for i := range c.Pick(w.Orphans+1, "orphans") {
		g.orphan(i)
	}
	first := "settle quiet"
	if c.Pick(2, "explore the first syncs") == 1 {
		first = "settle limit=300"
	}
	fmt.Fprintf(&g.script, "# a generated world\n\ncontrollers %s\n\napply world.yaml\n\n%s\n\n", w.Controllers, first)
	for range c.Pick(w.Actions+1, "actions") {
		g.script.WriteString(g.action() + "\n\n")
	}
	g.script.WriteString("settle limit=300\n\n")
	return scenarios.Parse("generated.txtar",
		[]byte(g.script.String()+"-- world.yaml --\n"+strings.Join(g.objects, "---\n")))
}

// drawing collects a file.
type drawing struct {
	choices sim.Choices
	script  strings.Builder
	objects []string
	sets    []string // "rs/s0"
	pods    []string // "pod/p0"
}

func (g *drawing) pick(n int, label string) int { return g.choices.Pick(n, label) }

func (g *drawing) set(i int) {
	name := fmt.Sprintf("s%d", i)
	l := labelSets[g.pick(len(labelSets), "selector")]
	replicas := g.pick(4, "replicas")
	template := fmt.Sprintf(
		"  template:\n    metadata: {labels: {%s}}\n    spec: {containers: [{name: c, image: i}]}\n", l)
	if g.pick(2, "kind") == 0 {
		g.sets = append(g.sets, "rs/"+name)
		g.objects = append(g.objects,
			fmt.Sprintf("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %s, namespace: default}\nspec:\n  "+
				"replicas: %d\n  selector: {matchLabels: {%s}}\n%s", name, replicas, l, template))
		return
	}
	g.sets = append(g.sets, "rc/"+name)
	g.objects = append(g.objects,
		fmt.Sprintf("apiVersion: v1\nkind: ReplicationController\nmetadata: {name: %s, namespace: default}\nspec:\n  "+
			"replicas: %d\n  selector: {%s}\n%s", name, replicas, l, template))
}

func (g *drawing) orphan(i int) {
	name := fmt.Sprintf("p%d", i)
	g.pods = append(g.pods, "pod/"+name)
	finalizers := ""
	if g.pick(4, "finalizer") == 1 {
		finalizers = ", finalizers: [example.com/hold]"
	}
	g.objects = append(g.objects,
		fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default, labels: {%s}%s}\nspec: "+
			"{containers: [{name: c, image: i}]}\n",
			name, labelSets[g.pick(len(labelSets), "labels")], finalizers))
}

// action draws one user action.
func (g *drawing) action() string {
	set := g.sets[g.pick(len(g.sets), "set")]
	if len(g.pods) > 0 && g.pick(2, "to a pod") == 1 {
		pod := g.pods[g.pick(len(g.pods), "pod")]
		switch g.pick(4, "action") {
		case 0:
			return "label " + pod + " app=db"
		case 1:
			return "label " + pod + " app=web"
		case 2:
			return "delete " + pod
		default:
			return "patch " + pod + ` type=merge '{metadata: {finalizers: null}}'`
		}
	}
	switch g.pick(5, "action") {
	case 0:
		return fmt.Sprintf("scale %s replicas=%d", set, g.pick(4, "replicas"))
	case 1:
		return "delete " + set + " --cascade=orphan"
	case 2:
		return "delete " + set + " --cascade=foreground"
	case 3:
		return "delete " + set + " --cascade=background"
	default:
		return "apply world.yaml"
	}
}

// Drawn is the result of one world under one stream of choices.
type Drawn struct {
	File     *scenarios.File
	Outcome  *explore.Outcome
	Schedule explore.Schedule // the schedule, for shrinking

	program *scenarios.Script
}

// Run generates a world and runs it once, both from one stream of choices. The error is the generator's own.
func (w Generator) Run(g *scenarios.Registry, c sim.Choices) (*Drawn, error) {
	f, err := w.File(c)
	if err != nil {
		return nil, err
	}
	if err := f.Check(g); err != nil {
		return nil, fmt.Errorf("a generated file is wrong: %w\n%s", err, f.Format())
	}
	return run(&scenarios.Script{File: f, Registry: g, Until: len(f.Steps), Faults: w.Faults}, c), nil
}

// run runs a program once.
func run(p *scenarios.Script, c sim.Choices) *Drawn {
	rec := explore.Record(c)
	out := p.Run(rec)
	return &Drawn{File: p.File, Outcome: out, Schedule: rec.Schedule(), program: p}
}

// runs returns a function that runs the case once under a stream of choices. A mistake in the case is the error of
// every run.
func (c *Case) runs(name string) func(sim.Choices) (*Drawn, error) {
	p, err := c.plain().Script(name)
	if err != nil {
		return func(sim.Choices) (*Drawn, error) { return nil, err }
	}
	return func(ch sim.Choices) (v *Drawn, err error) {
		defer casefile.Catch(&err)
		return run(p, ch), nil
	}
}

// Failed describes what is wrong with a run of conforming controllers, or returns "": a violation, a fight, a world
// that does not settle.
func (v *Drawn) Failed() string {
	switch o := v.Outcome; {
	case len(o.Findings) > 0:
		return o.Findings[0].Law + " is broken: " + o.Findings[0].Text
	case o.Fight:
		return "the controllers fight"
	case !o.Settled:
		return "the world does not settle"
	}
	return ""
}

// draws is a stream of choices drawn by rapid, which shrinks them.
type draws struct{ t *rapid.T }

// Pick draws a number in [0, n).
func (d draws) Pick(n int, label string) int {
	if n <= 1 {
		return 0
	}
	return rapid.IntRange(0, n-1).Draw(d.t, label)
}

// Property checks generated worlds against every law, under schedules drawn by rapid.
func (w Generator) Property(g *scenarios.Registry) func(t *rapid.T) {
	return property(func(c sim.Choices) (*Drawn, error) { return w.Run(g, c) })
}

// Property checks the case against the laws under schedules drawn by rapid, which shrinks a failure:
//
//	rapid.Check(t, c.Property())
func (c *Case) Property() func(t *rapid.T) { return property(c.runs("rapid")) }

func property(run func(sim.Choices) (*Drawn, error)) func(t *rapid.T) {
	return func(t *rapid.T) {
		v, err := run(draws{t})
		if err != nil {
			t.Fatal(err)
		}
		if why := v.Failed(); why != "" {
			t.Fatalf("%s\n%s", why, v.File.Format())
		}
	}
}

// Fuzz checks the world that a fuzzer's bytes encode against every law. A failure is minimized and written to dir as a
// scenario file.
func (w Generator) Fuzz(g *scenarios.Registry, dir string) func(t *testing.T, data []byte) {
	return fuzz(func(c sim.Choices) (*Drawn, error) { return w.Run(g, c) }, func(*testing.T) string { return dir })
}

// Fuzz checks the case against the laws under the schedule that a fuzzer's bytes encode:
//
//	f.Fuzz(c.Fuzz())
//
// A failure is minimized and written to the directory that [Check] uses.
func (c *Case) Fuzz() func(t *testing.T, data []byte) {
	return fuzz(c.runs("fuzz"), failures)
}

func fuzz(run func(sim.Choices) (*Drawn, error), dir func(*testing.T) string) func(t *testing.T, data []byte) {
	return func(t *testing.T, data []byte) {
		v, err := run(&sim.Bytes{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		why := v.Failed()
		if why == "" {
			return
		}
		t.Errorf("%s\n%s", why, v.File.Format())
		t.Log(v.write(dir(t)))
	}
}

// write minimizes a failure and writes it; it returns the text to report.
func (v *Drawn) write(dir string) string {
	if len(v.Outcome.Findings) == 0 {
		return "no law was broken: nothing to make small"
	}
	small, err := v.program.Shrink(v.Outcome, v.Schedule)
	if err != nil {
		return err.Error()
	}
	path, err := casefile.Keep(dir, small)
	if err != nil {
		return err.Error()
	}
	left := ""
	if err := casefile.Leave(path, small.Page, small.Found); err != nil {
		left = "no page is left: " + err.Error() + "\n"
	}
	return small.Page.Text() + left + "written to " + path
}
