package evidence_test

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/lab/evidence"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

func library(t *testing.T) []*scenarios.File {
	t.Helper()
	files, err := evidence.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every clause has a law with a mutant, a scenario, a test or a recorded case.
func TestEveryClauseIsCovered(t *testing.T) {
	for _, c := range evidence.Coverage(library(t), builtin.Registry()) {
		if lacks := c.Lacks(); lacks != "" {
			t.Errorf("%s: %s", c.ID, lacks)
		}
	}
}

// No controller violates a clause without an excuse. Every clause that applies to a controller is evaluated, or there
// is a reason. Every item of the proposal's checklist is ticked.
func TestControllersKeepTheClauses(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores the worlds of all controllers, which takes minutes")
	}
	files, g := library(t), builtin.Registry()
	r, err := evidence.Examine(t.Context(), files, g, evidence.Options{Schedules: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Wrong() {
		t.Error(line)
	}
	for line := range strings.Lines(string(evidence.ChecklistPage(r, evidence.Coverage(files, g), g, "../.."))) {
		if strings.HasPrefix(line, "| [ ]") {
			t.Error("not ticked: ", line)
		}
	}
}

// Each known bug is found again by the first seed.
func TestKnownBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches for every known bug")
	}
	bugs, err := evidence.Bugs(library(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if err := b.Measure(t.Context(), builtin.Registry(), 1); err != nil {
			t.Error(err)
		}
		if b.Found == 0 {
			t.Errorf("%s: bug %s is not found", b.File.Name, b.ID)
		}
	}
}

// pin returns a file that covers a clause without a law by an expectation.
func pin(t *testing.T, name, expect string) *scenarios.File {
	t.Helper()
	return pinOf(t, "replicaset", name, expect)
}

// pinOf returns such a file for a controller in an era.
func pinOf(t *testing.T, controller, name, expect string) *scenarios.File {
	t.Helper()
	f, err := scenarios.Parse(name, []byte("# KIND-RS\ncontrollers "+controller+"\napply rs.yaml\nsettle\n"+expect+`
-- rs.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: registry.example/web}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A clause without a law is held in an era if every file that covers it passes.
func TestPinThatFailsBreaksItsClause(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores the worlds of a controller")
	}
	right, wrong := pin(t, "right", "expect pod/web-1"), pin(t, "wrong", "expect pod/another")
	older := pinOf(t, "replicaset@controllerref", "older", "expect pod/web-1")
	for _, x := range []struct {
		files []*scenarios.File
		want  evidence.State
	}{
		{[]*scenarios.File{right}, evidence.Held},
		{[]*scenarios.File{older}, evidence.Unexercised}, // a file for another era proves nothing
		{[]*scenarios.File{right, wrong}, evidence.Breaking},
	} {
		g := builtin.Registry()
		r, err := evidence.Examine(t.Context(), x.files, g,
			evidence.Options{Controller: "replicaset", Era: "current", Schedules: 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Sheets[0].Rows {
			if row.ID == "KIND-RS" && row.State != x.want {
				var names []string
				for _, f := range x.files {
					names = append(names, f.Name)
				}
				t.Errorf("with the files [%s]: %s, want %s", strings.Join(names, " "), row.State, x.want)
			}
		}
	}
}
