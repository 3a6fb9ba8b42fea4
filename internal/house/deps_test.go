package house

import (
	"os/exec"
	"strings"
	"testing"
)

// mostForeign is how many packages of other modules the simulator may depend on: a
// user of the library has them all.
const mostForeign = 336

// The library's dependencies stay small. The host for whole programs is not counted: it is the
// wire and all of client-go's informers, and who runs a program has those.
func TestSimulatorDependsOnLittle(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./sim",
		"./sim/host", "./sim/law", "./sim/trial")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for p := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(p, module) {
			n++
		}
	}
	if n == 0 || n > mostForeign {
		t.Errorf("sim/... depends on %d packages of other modules, want at most %d; if what is new is "+
			"worth it (a group of the API), raise mostForeign and say why in the commit", n, mostForeign)
	}
}
