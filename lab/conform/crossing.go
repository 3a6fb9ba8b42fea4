package conform

import (
	"slices"
)

// crossing is what the worlds are made of in which a controller goes from one generation
// to another: two objects of its kind, apart or with one selector, and what they have.
type crossing struct {
	kind string // of the dependents, as files name it
	each int    // how many the first has
	more int    // how many the second has
	kept bool   // a plain delete leaves them, by the default of the owner's kind

	// fight is how two with one selector end in a generation that goes by selectors: in a
	// fight that is found ("true"), at rest ("false"), or in one that goes on for longer
	// than anybody wants to look ("").
	fight string
	// leave is what its manifest says for its Pods to be left alone: those of old generations
	// are of no revision, and a rolling update replaces them.
	leave string
	// against is who selects the same where two of one kind do not come into each other's
	// way; nil for a second one of its own.
	against *against
	// never says why no two of them can select the same; "" where they can.
	never string
}

// against is an object of another controller.
type against struct {
	controller string
	named      string // "rc/rival"
	owner      string // manifest
	wants      int
}

const onDelete = "updateStrategy: {type: OnDelete}, "

// rivalSet is a ReplicaSet that wants so many.
func rivalSet(n string) string {
	return "\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: rival}\nspec: {replicas: " + n +
		", selector: {matchLabels: {app: web}}, template: " + podTemplate + "}\n"
}

// crossings has a row for each controller with several generations, beside its row in
// standings.
var crossings = map[string]crossing{
	"replicaset": {kind: "pods", each: 2, more: 1, fight: "true", against: &against{"replication", "rc/rival", `
apiVersion: v1
kind: ReplicationController
metadata: {name: rival}
spec: {replicas: 1, selector: {app: web}, template: ` + podTemplate + `}
`, 1}},
	"replication": {kind: "pods", each: 2, more: 1, kept: true, fight: "true",
		against: &against{"replicaset", "rs/rival", rivalSet("1"), 1}},
	"deployment": {kind: "replicasets", each: 1, more: 1},
	"statefulset": {kind: "pods", each: 2, more: 1, fight: "true", leave: onDelete,
		against: &against{"replicaset", "rs/rival", rivalSet("0"), 0}},
	"daemonset": {kind: "pods", each: 2, more: 2, fight: "false", leave: onDelete},
	"job":       {kind: "pods", each: 2, more: 2, kept: true},
	"cronjob": {kind: "jobs", each: 1, more: 1,
		never: "a Job is its maker's by uid in each generation: no two select it"},
}

// lawless are the generations from before ControllerRef, which break the laws: that is what
// they are here for.
var lawless = []string{"selector", "gated", "gated-without-gc"}

// refers says whether a controller goes by ControllerRef in a generation. Of the gated
// ones those do that the proposal's checklist has a tick for.
func refers(controller, generation string) bool {
	return !slices.Contains(lawless, generation) ||
		generation == "gated" && controller != "daemonset" && controller != "job"
}
