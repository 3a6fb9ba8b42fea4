package scenarios_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

func registry() *scenarios.Registry { return builtin.Registry() }

// All scenarios of the project pass. Two runs of each have the same hash.
func TestScenarios(t *testing.T) {
	g := registry()
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		t.Run(strings.TrimSuffix(filepath.ToSlash(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			res := scenarios.RunFile(path, scenarios.Options{Registry: g, Twice: true})
			for _, e := range res.Errors {
				t.Error(e)
			}
			if res.Page != nil {
				t.Log("\n" + res.Page.Text())
			}
		})
		return nil
	})
	must(t, err)
}

const duel = `
-- world.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: web-b}
spec:
  replicas: 3
  selector: {app: web}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: bystander}
spec: {containers: [{name: c, image: i}]}
`

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, script string) *scenarios.File {
	t.Helper()
	f, err := scenarios.Parse("duel.txtar", []byte(script+duel))
	must(t, err)
	return f
}

func TestVerdicts(t *testing.T) {
	start := "judge never-fight\ncontrollers replicaset@selector replication@selector\napply world.yaml\n"
	good := "controllers replicaset replication\napply world.yaml\n"
	cases := []struct {
		name, script string
		code         int
		want         string
	}{
		{"fight without a bang", start + "settle\n", scenarios.ExitNotSettled, "not settled after"},
		{"limit", good + "settle limit=1\n", scenarios.ExitNotSettled, "not settled after 1 write"},
		{"law", strings.Replace(start, "never-fight", "take-ownership", 1) + "settle limit=3\n",
			scenarios.ExitNotSettled, "not settled"},
		{"bang without cause", good + "! settle\n", scenarios.ExitFail, "expected to fail (!)"},
		{"golden", good + "settle quiet\nowners\n----\nrs/web-a  nothing\n", scenarios.ExitFail, "output differs"},
		{"empty golden", good + "settle quiet\nowners\n----\n", scenarios.ExitFail, "there is no text beneath ----"},
		{"refused", good + "delete pod/nobody\n", scenarios.ExitFail, "refused: 404 NotFound"},
		{"refused with a bang", good + "! delete pod/nobody\n----\nrefused: 404 NotFound\n", scenarios.ExitPass, ""},
		{"expectation", good + "settle quiet\nexpect 9 pods\n", scenarios.ExitFail, "9 pods expected, 6 are there"},
		{"expectation with a bang", good + "settle quiet\n! expect 9 pods\n", scenarios.ExitPass, ""},
		{"mutant survives", good + "settle quiet\nmutant replicaset/skip-recheck schedules=3\n", scenarios.ExitFail,
			"the mutant survived 4 schedules"},
		{"mutant of what does not run",
			strings.Replace(good, "replicaset ", "", 1) + "settle quiet\nmutant replicaset/skip-recheck\n",
			scenarios.ExitUsage, "which the file does not run"},
		{"mutant by a law that nobody knows", good + "settle quiet\nmutant replicaset/skip-recheck laws=nonsense\n",
			scenarios.ExitUsage, "nonsense"},
		{"schedule that does not fit", "schedule s\n" + good + "settle\n-- s --\nthreelaws schedule 1\nwork nobody",
			scenarios.ExitUsage, "the schedule does not fit the file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res := scenarios.Interpret(parse(t, c.script), scenarios.Options{Registry: registry()})
			if res.ExitCode != c.code {
				t.Errorf("exit code %d, want %d: %v", res.ExitCode, c.code, res.Errors)
			}
			if c.want != "" && (len(res.Errors) == 0 || !strings.Contains(res.Errors[0].Error(), c.want)) {
				t.Errorf("errors are %v, want %q", res.Errors, c.want)
			}
		})
	}
}

// Forms of verbs that no scenario of the project uses.
func TestRareVerbs(t *testing.T) {
	f := parse(t, `controllers replicaset replication gc kubelet
step
! step deliver nobody Pod
apply world.yaml
mark before
settle quiet
settle for=10s
restart replicaset from=before
duplicate replicaset
crash replicaset#2
restart replicaset#2 from=2
settle quiet
switch replicaset selector
switch all controllerref
scale rc/web-b replicas=1
settle quiet
laws since=switch dont-interfere
----
dont-interfere  ok

hash`)
	res := scenarios.Interpret(f, scenarios.Options{Registry: registry(), Twice: true})
	for _, e := range res.Errors {
		t.Error(e)
	}
}
