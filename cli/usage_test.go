package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios/builtin"
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

// A mistake in a file gives one line on stderr, with the file, the line and the nearest valid word. No file is written.
func TestBadFiles(t *testing.T) {
	t.Setenv("CI", "")
	script := "apply world.yaml\ncontrollers replicaset\nsettle\n\n-- world.yaml --\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown verb", "aply world.yaml\n", ":1: unknown verb aply; did you mean apply?"},
		{"unknown field", script + strings.Replace(set, "  selector:", "  replica: 1\n  selector:", 1),
			":10: unknown field spec.replica of ReplicaSet in world.yaml; did you mean replicas?"},
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
		{"YAML", set,
			":1: apiVersion: is YAML, not a verb: a scenario is a script with its manifests in sections below it"},
		{"YAML documents", "---\n" + set, ":1: --- is YAML, not a verb"},
		{"states without exhaustive", "explore states=10\n", ":1: explore: states=10 bounds strategy=exhaustive only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "bad.txtar")
			write(t, path, c.text)
			for _, command := range []string{"run", "run --update", "explore --out " + dir, "replay", "show",
				"show --as tree"} {
				if strings.HasPrefix(command, "explore") && strings.HasPrefix(c.name, "schedule ") &&
					c.name != "schedule of another version" {
					continue // explore does not follow the schedule
				}
				cli(t, append(strings.Fields(command), path)...).oneLine(t, path+c.want)
				if left, _ := os.ReadDir(dir); len(left) != 1 || read(t, path) != c.text {
					t.Errorf("%s: something was written", command)
				}
			}
		})
	}
}

// A mistake on the command line gives one line on stderr with the nearest valid word.
func TestBadUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", `threelaws: no command is given; "threelaws help" lists them`},
		{"explor x", "threelaws: unknown command explor; did you mean explore?"},
		{"run --updat x", "threelaws: run: unknown flag --updat; did you mean --update?"},
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
		{"explore --likely -1s testdata/settles.txtar", "threelaws: --likely=-1s: at least 0s"},
		{"explore testdata/settles.txtar -n", "threelaws: explore: --schedules needs a value"},
		{"explore --strategy exhaustiv testdata/settles.txtar",
			"threelaws: --strategy: exhaustiv is not one of its values; did you mean exhaustive?"},
		{"run --update -", "threelaws: run: --update has no file to rewrite where - is standard input"},
		{"completion", "threelaws: completion: one shell must be named: bash, zsh, fish, powershell"},
		{"completion zhs", "threelaws: completion: unknown shell zhs; did you mean zsh?"},
		{"--help inspect", "threelaws: unknown command inspect; there are check, completion, explore,"},
		{"explor --help", "threelaws: unknown command explor; did you mean explore?"},
		{"explore --states 10 testdata/settles.txtar", "threelaws: --states=10 bounds --strategy exhaustive only"},
		{"explore --faults crash:no testdata/settles.txtar", "threelaws: --faults: no is not a number of faults"},
		{"serve --controllers replicatset",
			"threelaws: --controllers: unknown controller replicatset; did you mean replicaset?"},
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
		typed(t, c.args).oneLine(t, c.want)
	}
}

// Each shell gets a completion script that calls the program by its name.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		got := cli(t, "completion", shell)
		got.wants(t, 0, "threelaws", "__complete")
		var j completionJSON
		err := json.Unmarshal([]byte(cli(t, "completion", shell, "--json").out), &j)
		if err != nil || j.Shell != shell || j.Script != got.out {
			t.Errorf("%s --json: %v", shell, err)
		}
	}
	typed(t, "completion --help").passes(t, "usage: threelaws completion")
}

func TestCompletions(t *testing.T) {
	work(t)
	must(t, errors.Join(os.Mkdir(".hidden", 0o755), os.Mkdir("orders", 0o755)))
	for _, c := range []struct{ line, want string }{
		{"expl|", "explore"},
		{"run |", "orders/ testdata/ badinput/ bugs/ cronjob/ daemonset/ deployment/ disruption/ endpointslice/ job/ " +
			"manager/ mutants/ nodes/ orphan/ overlap/ podgc/ quota/ statefulset/ upgrade/"},
		{"run o|", "orders/ orphan/ overlap/"},
		{"run testdata/b|", "testdata/breaks.txtar"},
		{"run .h|", ".hidden/"},
		{"show overlap/adoption|", "overlap/adoption-lost"},
		{"show testdata/breaks.txtar |", ""},
		{"replay testdata/f|", "testdata/fights.txtar"},
		{"explore --strategy |", "exhaustive mix pct random"},
		{"explore --strategy=p|", "pct"},
		{"explore --era |", "binding controllerref current endless gated gated-without-gc selector"},
		{"explore --faults cr|", "crash:1"},
		{"explore --faults crash:1,lo|", "crash:1,lost:1"},
		{"explore --mutant replicaset/skip-re|", "replicaset/skip-recheck"},
		{"explore --laws never-fight,exact-s|", "never-fight,exact-status never-fight,exact-sum"},
		{"laws NOFIGHT|", "NOFIGHT-1 NOFIGHT-2 NOFIGHT-3"},
		{"laws --profile up|", "upstream"},
		{"serve --controllers replicaset,g|", "replicaset,garbage-collector replicaset,garbage-collector-controller " +
			"replicaset,garbagecollector replicaset,gc"},
		{"serve --controllers replicaset@c|", "replicaset@controllerref replicaset@current"},
		{"show --as t|", "timeline tree"},
		{"help sc|", "scenario"},
		{"help scenario set|", "settle"},
		{"help json ser|", "serve"},
		{"completion |", "bash fish powershell zsh"},
	} {
		words := strings.Split(strings.TrimSuffix(c.line, "|"), " ")
		offered := strings.Fields(cli(t, append([]string{"__completeNoDesc"}, words...)...).out)
		offered, want := offered[:len(offered)-1], strings.Fields(c.want) // the last one is cobra's directive
		slices.Sort(offered)
		slices.Sort(want)
		if !slices.Equal(offered, want) {
			t.Errorf("%s: offers %s, want %s", c.line, offered, want)
		}
	}
}

// The help of each command except test lists the keys of its JSON output, in lowerCamel.
func TestEveryCommandListsItsJSON(t *testing.T) {
	a := &app{registry: builtin.Registry(), console: console{out: io.Discard}}
	for _, c := range rootCommand(a, new(error)).Commands() {
		if c.Name() != "test" && !slices.ContainsFunc(outputs, func(o output) bool { return o.command == c.Name() }) {
			t.Errorf("%s does not document its --json output", c.Name())
		}
	}
	camel := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	for _, o := range describeOutputs("") {
		if len(o.Keys) == 0 {
			t.Errorf("%s has no keys", o.Command)
		}
		for _, k := range o.Keys {
			for word := range strings.SplitSeq(k.Key, ".") {
				if word = strings.TrimSuffix(word, "[]"); word != "" && !camel.MatchString(word) {
					t.Errorf("%s: key %s is not in lowerCamel", o.Command, k.Key)
				}
			}
		}
	}
}

// Each key that is printed is listed. Each key that is listed is printed, unless it is optional.
func TestPrintedKeysAreListed(t *testing.T) {
	work(t)
	for _, c := range []struct {
		args  string
		index int // the index in the command's outputs
	}{
		{"run testdata", 0}, {"explore -n 20 --era selector testdata/settles.txtar", 0},
		{"replay testdata/breaks.txtar", 0}, {"show testdata/fights.txtar", 0},
		{"show --as timeline testdata/fights.txtar", 1}, {"show --as tree testdata/settles.txtar", 2},
		{"show --as dot testdata/settles.txtar", 2}, {"laws", 0},
		{"version", 0}, {"completion fish", 0}, {"help", 0}, {"help run", 0}, {"help scenario", 1}, {"help json", 2},
	} {
		command := strings.Fields(c.args)[0]
		listed, required := map[string]bool{}, []string{}
		for _, k := range describeOutputs(command)[c.index].Keys {
			listed[k.Key] = true
			if !k.Optional && !strings.ContainsAny(k.Key, ".[") {
				required = append(required, k.Key)
			}
		}
		got := typed(t, "--json "+c.args)
		seen := map[string]bool{}
		for d := json.NewDecoder(strings.NewReader(got.out)); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%s: %v", c.args, err)
			}
			printed(v, "", seen)
		}
		for k := range seen {
			if !listed[k] && !strings.Contains(k, "commands[].") {
				t.Errorf("%s: key %s is not listed", c.args, k)
			}
		}
		for _, k := range required {
			if !seen[k] {
				t.Errorf("%s: key %s is not printed", c.args, k)
			}
		}
	}
}

// apiObjects are the keys whose values are Kubernetes objects.
var apiObjects = []string{"before", "after", "saw", "sawFor"}

func printed(v any, at string, seen map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			printed(e, at+"[]", seen)
		}
	case map[string]any:
		for k, e := range v {
			key := strings.TrimPrefix(at+"."+k, ".")
			seen[key] = true
			if _, text := e.(string); text || !slices.Contains(apiObjects, k) {
				printed(e, key, seen)
			}
		}
	}
}
