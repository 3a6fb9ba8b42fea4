package conform

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/controllers"
)

// ErasPage returns docs/use/eras.md: the controllers in the order of their table, and those of
// kube-controller-manager that are not implemented.
func ErasPage() []byte {
	var b strings.Builder
	b.WriteString(`# Controllers and their eras

For authors of scenario files: the names of the controllers and their eras. A name without an era means the last era.
The names in kube-controller-manager, current and earlier, work as well.

| controller | names in kube-controller-manager | eras |
| --- | --- | --- |
`)
	manager := controllers.KubeControllerManager()
	var names []string
	eras := map[string][]string{}
	for _, c := range controllers.Builtin() {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if c.Era != "" {
			eras[c.Name] = append(eras[c.Name], "`"+c.Era+"`")
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
			strings.Join(eras[name], ", "))
	}
	b.WriteString(switches)
	b.WriteString("\nThese controllers of kube-controller-manager are not implemented, and are refused by name:\n\n")
	for _, name := range manager.Absent {
		if strings.HasSuffix(name, "-controller") && name != "resource-claim-controller" {
			fmt.Fprintf(&b, "- `%s`\n", name)
		}
	}
	return []byte(b.String())
}

// switches says what happens between two eras.
//
//go:embed eras.md
var switches string
