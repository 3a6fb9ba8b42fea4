package browser

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var axe = flag.String("axe", "", "axe.min.js of npm's axe-core")

// axe-core finds no fault in the page, in light and in dark mode.
func TestAccessible(t *testing.T) {
	if *axe == "" {
		fmt.Fprintln(os.Stderr, "NOT RUN: TestAccessible needs axe-core; make browser gets it from npm")
		t.Skip("NOT RUN: -axe names no axe.min.js; make browser gets it from npm")
	}
	program, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, fight(t))
	eval[bool](t, b, string(program)+";true")
	for _, theme := range []string{"light", "dark"} {
		faults := eval[[]string](t, b, "document.documentElement.dataset.theme = '"+theme+"'; table.open = true; "+
			"axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + "+
			"v.nodes.map((n) => n.target + ' ' + n.failureSummary).join('; ')))")
		for _, f := range faults {
			t.Errorf("%s: %s", theme, f)
		}
	}
}
