package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

const set = `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  selector:
    matchLabels: {app: x}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: i}]}
`

// Every mistake in a file is one line on stderr with file, line and the nearest
// valid word, exit code 2, and nothing is written.
func TestBadFiles(t *testing.T) {
	t.Setenv("CI", "")
	script := "apply world.yaml\ncontrollers replicaset\nsettle\n\n-- world.yaml --\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown verb", "aply world.yaml\n", ":1: unknown verb aply; did you mean apply?"},
		{"bad YAML", script + "a: [\n", ":6: "},
		{"unknown field", script + strings.Replace(set, "  selector:", "  replica: 1\n  selector:", 1),
			":10: unknown field spec.replica of ReplicaSet in world.yaml; did you mean replicas?"},
		{"selector", script + strings.Replace(set, "matchLabels: {app: x}", "matchLabels: {app: y}", 1),
			":10: spec.selector app=y does not match the template's labels app=x"},
		{"missing section", "apply word.yaml\n\n-- world.yaml --\n" + set,
			":1: apply: no section word.yaml; did you mean world.yaml?"},
		{"empty", "", ":1: the file is empty"},
		{"too large", strings.Repeat("# 45 bytes of comment, again and again, 10 MB\n", 10<<20/45),
			": the file is too large"},
		{"schedule of another version", "schedule s\nsettle\n\n-- s --\nthreelaws schedule 0\n",
			`:5: section s is a schedule of another version: "threelaws schedule 0", this program ` +
				`reads "threelaws schedule 1"`},
		{"schedule that does not fit", "schedule s\nsettle\n\n-- s --\nthreelaws schedule 1\nwork replicaset\n",
			":6: the schedule does not fit the file: work replicaset is never taken: the run is over before it"},
		{"schedule with a typo",
			"schedule s\napply w\ncontrollers replicaset\nsettle\n\n-- s --\nthreelaws schedule 1\n\n# the " +
				"list\ndeliver replicaset ReplicaSt\n-- w --\n" + set,
			":10: the schedule does not fit the file: deliver replicaset ReplicaSt cannot be taken at step 3; did " +
				"you mean deliver replicaset ReplicaSet?"},
		{"schedule with an unknown class",
			"schedule s\nsettle\n\n-- s --\nthreelaws schedule 1\ndelivr replicaset Pod\n",
			`:6: bad schedule: "delivr replicaset Pod": not an action: unknown class delivr; did you mean deliver?`},
		{"key twice", "apply w\n\n-- other --\n\n-- w --\napiVersion: v1\nkind: Pod\nkind: Pod\n",
			`:8: bad YAML in w: mapping key "kind" already defined at line 7`},
		{"YAML", set,
			":1: apiVersion: is YAML, not a verb: a scenario is a script with its manifests in sections below it"},
		{"YAML documents", "---\n" + set, ":1: --- is YAML, not a verb"},
		{"states without exhaustive", "explore states=10\n", ":1: explore: states=10 bounds strategy=exhaustive only"},
		{"unknown controller", "controllers replicatset\n",
			":1: controllers: unknown controller replicatset; did you mean replicaset?"},
		{"unknown era", "controllers replicaset@controlerref\n",
			":1: controllers: unknown era controlerref of replicaset; did you mean controllerref?"},
		{"not text", "settle\n\xff\xfe\n", ":2: the file is not text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "bad.txtar")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"run", "run --update", "explore --out " + dir, "replay", "show",
				"show --as tree"} {
				if strings.HasPrefix(command, "explore") && strings.HasPrefix(c.name, "schedule ") &&
					c.name != "schedule of another version" {
					continue // a schedule is not followed there
				}
				got := cli(t, append(strings.Fields(command), path)...)
				if got.code != scenarios.ExitUsage || got.out != "" {
					t.Errorf("%s: exit %d\n%s", command, got.code, got.out)
				}
				if !strings.HasPrefix(got.err, path+c.want) {
					t.Errorf("%s: %q, want %q", command, got.err, path+c.want)
				}
				if strings.Count(got.err, "\n") != 1 || !strings.HasSuffix(got.err, "\n") {
					t.Errorf("%s: not one line: %q", command, got.err)
				}
				if left, _ := os.ReadDir(dir); len(left) != 1 || read(t, path) != c.text {
					t.Errorf("%s: something was written", command)
				}
			}
		})
	}
}

// Every mistake on the command line is one line on stderr with the nearest
// valid word, and exit code 2.
func TestBadUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", `threelaws: no command is given; "threelaws help" lists them`},
		{"explor x", "threelaws: unknown command explor; did you mean explore?"},
		{"run --updat x", "threelaws: run: unknown flag --updat; did you mean --update?"},
		{"run -x x", "threelaws: run: unknown flag -x"},
		{"-x", "threelaws: unknown flag -x"},
		{"run testdata/setles.txtar",
			"testdata/setles.txtar: cannot be read: no such file or directory; did you mean testdata/settles.txtar?"},
		{"run testdata/golden", "testdata/golden: no scenario files (*.txtar) in this directory"},
		{"explore", "threelaws: explore: a scenario file must be given"},
		{"replay a b", "threelaws: replay takes one file, not 2"},
		{"replay testdata", "testdata: this is a directory, not a scenario file"},
		{"show overlap", "overlap: this is a family of "},
		{"explore -n many testdata/settles.txtar", "threelaws: explore: --schedules=many is not a whole number"},
		{"explore -n 0 testdata/settles.txtar", "threelaws: --schedules=0: at least 1"},
		{"explore testdata/settles.txtar -n", "threelaws: explore: --schedules needs a value"},
		{"explore --strategy exhaustiv testdata/settles.txtar",
			"threelaws: --strategy: exhaustiv is not one of its values; did you mean exhaustive?"},
		{"run testdata/nothere.txtar", "testdata/nothere.txtar: cannot be read: no such file or directory\n"},
		{"run --update -", "threelaws: run: --update has no file to rewrite where - is standard input"},
		{"completion", "threelaws: completion: one shell must be named: bash, zsh, fish, powershell"},
		{"completion zhs", "threelaws: completion: unknown shell zhs; did you mean zsh?"},
		{"completio --help", "threelaws: unknown command completio; did you mean completion?"},
		{"inspect -h", "threelaws: unknown command inspect; there are check, completion, explore,"},
		{"--help inspect", "threelaws: unknown command inspect; there are check, completion, explore,"},
		{"explor --help", "threelaws: unknown command explor; did you mean explore?"},
		{"explore --states 10 testdata/settles.txtar", "threelaws: --states=10 bounds --strategy exhaustive only"},
		{"explore --faults crash:no testdata/settles.txtar", "threelaws: --faults: no is not a number of faults"},
		{"serve --controllers replicatset",
			"threelaws: --controllers: unknown controller replicatset; did you mean replicaset?"},
		{"serve --controllers replicaset@selektor",
			"threelaws: --controllers: unknown era selektor of replicaset; did you mean selector?"},
		{"explore --faults crsh:1 testdata/settles.txtar",
			"threelaws: --faults: unknown fault crsh; did you mean crash?"},
		{"explore --era selektor testdata/settles.txtar",
			"threelaws: --era: unknown era selektor; did you mean selector?"},
		{"explore --laws never-figt testdata/settles.txtar",
			"threelaws: laws: unknown law never-figt; did you mean never-fight?"},
		{"show --as tree --at 99 testdata/settles.txtar",
			"threelaws: --at: step 99 is not in the timeline, which has 5 steps"},
		{"show --as tree --at -1 testdata/settles.txtar", "threelaws: --at: step -1 is not in the timeline"},
		{"show --as json --at 1 testdata/settles.txtar", "threelaws: --at: json is the whole history"},
		{"show --as png testdata/settles.txtar", "threelaws: --as: png is not one of its values"},
		{"show --as html --at 1 testdata/settles.txtar", "threelaws: --at: html is the whole history"},
		{"laws never-figt", "threelaws: laws: unknown law never-figt; did you mean never-fight?"},
		{"help replya", "threelaws: help: unknown command replya; did you mean replay?"},
		{"help scenario setle", "threelaws: help scenario: unknown verb setle; did you mean settle?"},
	} {
		got := cli(t, strings.Fields(c.args)...)
		if got.code != scenarios.ExitUsage || got.out != "" || !strings.HasPrefix(got.err, c.want) ||
			strings.Count(got.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q\n%s", c.args, got.code, got.err, c.want, got.out)
		}
	}
}
