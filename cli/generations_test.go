package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/controllers"
)

const generationsPage = "../docs/generations.md"

// docs/generations.md says what there is: UPDATE=1 rewrites it.
func TestGenerationsPage(t *testing.T) {
	want := generationsText()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(generationsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(generationsPage); err != nil || string(got) != want {
		t.Errorf("%s is out of date (%v): UPDATE=1 go test ./cli -run GenerationsPage", generationsPage, err)
	}
}

// generationsText is the page: a row for each controller of the table, in its order,
// and what of kube-controller-manager is not here.
func generationsText() string {
	var b strings.Builder
	b.WriteString(`# Controllers and their generations

Written by a test from the table of controllers. A name alone means the last of its generations. The names of
kube-controller-manager, and their earlier ones, name the same controllers.

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
	b.WriteString("\nOf kube-controller-manager these are not here, and are refused by name:\n\n")
	for _, name := range manager.Absent {
		if strings.HasSuffix(name, "-controller") && name != "resource-claim-controller" {
			fmt.Fprintf(&b, "- `%s`\n", name)
		}
	}
	return b.String()
}
