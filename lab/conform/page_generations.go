package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/controllers"
)

// GenerationsPage is docs/generations.md: the controllers in the order of their table, and the
// controllers of kube-controller-manager that are missing here.
func GenerationsPage() []byte {
	var b strings.Builder
	b.WriteString(`# Controllers and their generations

For whoever writes a scenario file: the names that it may give to controllers. A name alone means the last of its
generations. The current and earlier names in kube-controller-manager mean the same controllers.

| controller | its names in kube-controller-manager | generations |
| --- | --- | --- |
`)
	manager := controllers.KubeControllerManager()
	var names []string
	generations := map[string][]string{}
	for _, c := range controllers.Builtin() {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if c.Generation != "" {
			generations[c.Name] = append(generations[c.Name], "`"+c.Generation+"`")
		}
	}
	for _, name := range names {
		var theirs []string
		if slices.Contains(manager.Runs, name) {
			for alias, to := range manager.Aliases {
				if to == name {
					theirs = append(theirs, "`"+alias+"`")
				}
			}
			slices.Sort(theirs)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.Join(theirs, ", "),
			strings.Join(generations[name], ", "))
	}
	b.WriteString(switches)
	b.WriteString("\nOf kube-controller-manager these are not here, and are refused by name:\n\n")
	for _, name := range manager.Absent {
		if strings.HasSuffix(name, "-controller") && name != "resource-claim-controller" {
			fmt.Fprintf(&b, "- `%s`\n", name)
		}
	}
	return []byte(b.String())
}

// switches says what TestGenerations of package controllers asks of every pair.
var switches = strings.ReplaceAll(`
## From one to another

Each controller goes from each of its generations to each other one, in twenty schedules, half of them with a crash
(~go test ./controllers -run TestGenerations~; scenarios/testdata/upgrade has the same as files to read).

- **Nobody overlaps**: the switch creates and deletes nothing, in either direction. To a generation that goes by
  ControllerRef, each object of one that does not is adopted, and nothing else changes hands (UPGRADE-1).
- **Two owners want 2 and 3 of the same Pods**: up, what they did to each other ends; what is created less what is
  deleted is what was lacking of the 5, and each has its own in the end (UPGRADE-2 to -4). Down, to one that goes by
  selectors, two of different kinds fight without an end, and Pods are deleted (DOWNGRADE-1 and -2). Two of one kind
  may come to rest there, with 2 or 3 Pods: an event wakes the oldest alone.
- **Both run at once** (SKEW-1): they come to rest with as many Pods as are wanted, however often that changes, and two
  owners that overlap have their own where both generations go by ControllerRef.

What history holds in store all the same:

- A Deployment of ~selector~ names a ReplicaSet by another hash than the later ones. Both at once may make one each
  of a template: one of them comes to nothing, with the Pods that it made.
- The polling generations of CronJob have the seconds in the name of a Job and today's has the minutes: both at once may
  start two for one minute.
- A Pod from before revisions has none: StatefulSets and DaemonSets replace it under RollingUpdate. The pairs are asked
  with OnDelete.
- ~gated~ wakes the oldest ReplicaSet that selects a Pod. What another expected of it then goes stale after five
  minutes, and is looked at when that one changes.
- ~gated~ DaemonSets and Jobs, and all of ~gated-without-gc~, go by selectors. What two StatefulSets select
  names keep apart, and a CronJob selects nothing.
`, "~", "`")
