package simtest_test

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim"
)

// generator makes random worlds. The objects, the user's actions and the schedule come from one stream of choices.
type generator struct {
	Controllers string         // in the syntax of the verb controllers: "replicaset replication gc"
	Faults      map[string]int // the maximal number of faults in a run, by name
	Sets        int            // the maximal number of ReplicaSets and ReplicationControllers, at least 1
	Orphans     int            // the maximal number of Pods without an owner
	Actions     int            // the maximal number of user actions
}

// labelSets contains labels for selectors and pods. The second set includes the first, so selectors overlap completely,
// partly or not at all.
var labelSets = []string{"app: web", "app: web, tier: front", "app: db"}

// file makes a random scenario with one settle. The objects exist before the controllers start. The user's actions race
// with the controllers.
func (w generator) file(c sim.Choices) (*scenarios.File, error) {
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

// drawing builds a file.
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

// run makes a random world and runs it once.
func (w generator) run(g *scenarios.Registry, c sim.Choices) (*simtest.Drawn, error) {
	f, err := w.file(c)
	if err != nil {
		return nil, err
	}
	if err := f.Check(g); err != nil {
		return nil, fmt.Errorf("a generated file is wrong: %w\n%s", err, f.Format())
	}
	return simtest.Run(&scenarios.Script{File: f, Registry: g, Until: len(f.Steps), Faults: w.Faults}, c), nil
}
