package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// threelaws.yaml contains settings. Flags have precedence.
func TestCheckSettings(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	write(t, "settings/crd.yaml", "kind: x\n")
	write(t, settingsFile, `# settings of check
package: ./cmd/manager
time: 5m
schedules: 7
args: [--leader-elect=false, a b]
env: {NAMESPACE: default}
crds: settings/crd.yaml
faults: none
`)
	must(t, os.MkdirAll("cmd/manager", 0o755))
	t.Chdir("cmd/manager")
	c.run("-n", "5", "--args", "--a --b=c").passes(t)
	want := settings{Dir: "../..", Package: "../../cmd/manager", Time: 5 * time.Minute, Schedules: 5, Seed: 1,
		Args: []string{"--a", "--b=c"}, Env: []string{"NAMESPACE=default"}, CRDs: []string{"../../settings/crd.yaml"},
		Budget: 100, faults: "none", set: true}
	if !reflect.DeepEqual(c.settings, want) {
		t.Errorf("got  %+v\nwant %+v", c.settings, want)
	}
}

// CRD files have relative paths, because kept failures contain the paths.
func TestCheckNamesFilesFromHere(t *testing.T) {
	newChecked(t, host.Controller{})
	write(t, "main.go", "package main\n\nfunc main() {}\n")
	write(t, "config/crd/bases/widgets.yaml", strings.Split(definitionYAML, "---")[0])
	op, err := findOperator(t.Context(), &settings{Dir: "."})
	must(t, err)
	if want := filepath.Join("config", "crd", "bases", "widgets.yaml"); len(op.CRDs) != 1 || op.CRDs[0].Path != want {
		t.Errorf("got %+v, want one file %s", op.CRDs, want)
	}
}

func TestCheckMistakes(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	for _, x := range []struct{ file, args, want string }{
		{"tiem: 5m\n", "", "threelaws.yaml:1: unknown field tiem; did you mean time?"},
		{"seed: 1\ntime: soon\n", "", "threelaws.yaml:2: time: soon is no duration, such as 5m"},
		{"", "--replay testdata/threelaws/web-orphan/none.txtar", "threelaws: --replay testdata/threelaws/web-orphan/none.txtar: no such file"},
		{"", "--junit out/junit.xml", "threelaws: --junit out/junit.xml: no such directory: out"},
		{"seed: 1\nseed: 2\n", "", "threelaws.yaml:2: field seed is given twice"},
		{"- a\n", "", "threelaws.yaml:1: the settings are a mapping, as time: 5m"},
		{"accept: [{law: exact-sums, reason: x}]\n", "", "threelaws.yaml:1: accept: unknown law exact-sums; did you mean exact-sum?"},
		{"accept: [{law: exact-sum}]\n", "", "threelaws.yaml:1: accept: exact-sum is accepted without a reason"},
		{"accept: [{laws: exact-sum, reason: x}]\n", "", "threelaws.yaml:1: accept: unknown field laws; did you mean law?"},
		{"accept: [{law: exact-sum, reason: known, issue 12}]\n", "",
			`threelaws.yaml:1: accept: a comma ends the reason: put quotes around it: reason: "known, issue 12"`},
		{"", "a b", "threelaws: check takes one package, not 2"},
		{"", "--crds nowhere.yaml", "nowhere.yaml: cannot be read: no such file or directory"},
		{"", "--env NAMESPACE", "threelaws: --env NAMESPACE: write NAME=value"},
		{"", "--args --title='my_operator", "threelaws: --args: --title='my_operator: arguments are separated by spaces"},
		{"", "--faults crsh:1", "threelaws: --faults: unknown fault crsh; did you mean crash?"},
		{"", "-n -1", "threelaws: --schedules=-1: at least 0"},
		{"", "-o xml", "threelaws: --output: xml is not one of its values"},
		{"", "--time 0s", "threelaws: --time=0s: schedules need some time"},
		{"", "--twice 0", "threelaws: --twice=0: at least 1"},
		{"", "--skip=fault=x", "threelaws: --skip: there is no case and no law fault; did you mean faults?\n"},
		{"", "--skip=faults", "threelaws: --skip: faults is skipped without a reason\n"},
		{"", "--skip=always-settle=x", "threelaws: --skip: always-settle ends every run and cannot be skipped: " +
			"accept its known findings\n"},
	} {
		write(t, settingsFile, x.file)
		c.run(strings.Fields(x.args)...).oneLine(t, x.want)
	}
	for flag, want := range map[string]string{
		"--accept={law: exact-sum}": "threelaws: --accept: exact-sum is accepted without a reason\n",
		"--accept={lw: exact-sum}":  "threelaws: --accept: unknown field lw; did you mean law?\n",
	} {
		c.run(flag).oneLine(t, want)
	}
	for flag, want := range map[string]string{
		"--edit={spec: {replicas: 3}":    "config/samples/web.yaml: Edits[0]: ",
		"--edit={metadata: {name: web}}": "config/samples/web.yaml: Edits[0]: {metadata: {name: web}} changes nothing in the sample",
	} {
		c.run("-n", "1", flag).wants(t, scenarios.ExitUsage, want)
	}
	typed(t, "check").wants(t, scenarios.ExitUsage)
}

// Without CRDs there are no samples of custom kinds. The error names the flag for CRDs.
func TestCheckWithoutSample(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	op := &operator{}
	c := Command{operators: func(context.Context, *settings) (*operator, error) { return op, nil }}
	const text = "threelaws: check: there is no sample of a kind that the operator works on: name "
	c.try(t.Context(), "check").oneLine(t, text+"its CRDs with --crds, or a sample of a built-in kind with --sample FILE\n")
	op.CRDs = []*check.File{{}}
	c.try(t.Context(), "check").oneLine(t, text+"one with --sample FILE\n")
}

// With --main, a scenario file can use the operator as a controller.
func TestMainOfFiles(t *testing.T) {
	op := current(t, "replicaset")
	op.Name = "operator"
	c := newChecked(t, op)
	write(t, "web.txtar", "apply set.yaml\ncontrollers operator gc\nsettle\n\n-- set.yaml --\n"+set)
	write(t, settingsFile, "package: ./cmd/other\nenv: [ZONE=a]\n")
	c.runs("explore", "-n", "5", "--main", "./cmd/manager", "web.txtar").wants(t, 0, "0 violations")
	if c.settings.Package != "./cmd/manager" || !slices.Equal(c.settings.Env, []string{"ZONE=a"}) {
		t.Errorf("the main package is %q, its environment %q", c.settings.Package, c.settings.Env)
	}
	c.runs("run", "--main", "./cmd/manager", "web.txtar").passes(t, "1 file")
	c.runs("replay", "--main", "./cmd/manager", "web.txtar").passes(t, "no law is violated")
	c.runs("show", "--main", "./cmd/manager", "web.txtar").wants(t, 0, "create")
	for _, does := range []string{"explore", "run", "replay", "show"} {
		got := c.runs(does, "web.txtar")
		if got.wants(t, scenarios.ExitUsage); !strings.Contains(got.err, "; for an operator's own main package, add --main PACKAGE\n") {
			t.Errorf("%s: %s", does, got.err)
		}
	}
}

// The namespace of the program exists in the worlds of scenario files. The printed commands host the program too.
func TestWorldsOfMain(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	workload := &unstructured.Unstructured{}
	workload.SetNamespace("system")
	c.op.Name, c.own = "operator", []*unstructured.Unstructured{workload}
	there := "\n-- set.yaml --\n" + strings.Replace(set, "metadata: {", "metadata: {namespace: system, ", 1)
	write(t, "settles.txtar", "apply set.yaml\ncontrollers operator\nsettle\n"+there)
	c.runs("run", "--main", "./cmd/manager", "settles.txtar").wants(t, 0, "1 file")
	write(t, "web.txtar", "apply set.yaml\ncontrollers operator\nsettle\nexpect 9 pods\n"+there)
	got := c.runs("explore", "-n", "1", "--main", "./cmd/manager", "web.txtar")
	got.wants(t, scenarios.ExitFail, "replay: threelaws replay --main ./cmd/manager ")
	if !strings.Contains(got.err, "operator is not judged by most laws of ownership") {
		t.Errorf("the messages are %q", got.err)
	}
}

// A failure file of check lacks the dependents that the profile expects. So replay --main cannot reproduce every
// violation, and names check.
func TestReplayOfCheckWithMain(t *testing.T) {
	op := current(t, "replicaset")
	op.Name = "operator"
	c := newChecked(t, op)
	kept := "testdata/threelaws/replicaset-faults/exact-sum-01ab.txtar"
	write(t, kept, "apply set.yaml\ncontrollers operator gc\n! settle\n\n-- set.yaml --\n"+set)
	c.runs("replay", "--main", "./cmd/manager", kept).wants(t, scenarios.ExitFail,
		"\nnot as recorded; replay it with threelaws check --replay "+kept+"; hash ")
}

// The output names a skipped case or law with the reason. A flag overrides threelaws.yaml.
func TestCheckSkips(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	write(t, "threelaws.yaml", "skip:\n  faults: it is slow\n")
	args := []string{"-n", "2", "--case", "one-owner,faults"}
	c.run(args...).passes(t, "\nskipped cases\n  it is slow: faults\n")
	c.run(append(args, "--skip", "exact-sum=issue 12", "--skip", "edit=b")...).passes(t,
		"  faults                 2 schedules, ", "\nskipped\n  NOFIGHT-3  exact-sum  issue 12\n")
}

// The command that replays a failure has the flags that select the operator and its cluster.
func TestReplayCommand(t *testing.T) {
	c := checking{app: &app{name: "threelaws"}}
	cmd := &cobra.Command{}
	c.register(cmd)
	if err := cmd.ParseFlags(strings.Fields("--args=--mode=b --sample a.yaml,b.yaml --strict --time 5s -n 2")); err != nil {
		t.Fatal(err)
	}
	c.selects = selecting(cmd.Flags())
	if got, want := c.again("a.yaml", "f"), "threelaws check --args='--mode=b' --sample=a.yaml --sample=b.yaml --strict=true --replay f"; got != want {
		t.Errorf("a failure is replayed by %s, want %s", got, want)
	}
}

// Two shards and a single run have the same merged result, although the first shard writes failure files that a check
// without shards would replay. A merged violation can be replayed. Accepted violations stay accepted.
func TestCheckInShards(t *testing.T) {
	c := newChecked(t, sloppy())
	for _, args := range []string{"two --shard 0/2", "two --shard 1/2", "one"} {
		c.run(strings.Fields("-n 6 --results " + args)...)
	}
	one, two := c.runs("merge", "-o", "one.jsonl", "one"), c.runs("merge", "-o", "two.jsonl", "two")
	if one != two || one.code != scenarios.ExitFail || read(t, "one.jsonl") != read(t, "two.jsonl") {
		t.Errorf("one:\n%s\ntwo:\n%s%s", one.out, two.out, two.err)
	}
	_, replay, _ := strings.Cut(one.out, "    replay: threelaws ")
	replay, _, _ = strings.Cut(replay, "\n")
	c.runs(strings.Fields(replay)...).wants(t, scenarios.ExitFail, "VIOLATES claim-orphans-only")
	hosted := checking{app: &app{name: "threelaws"}, settings: settings{Test: "TestX", Samples: []string{"a.yaml", "b.yaml"}}}
	if got, want := hosted.again("a.yaml", "f"), "threelaws check --test TestX --sample a.yaml --sample b.yaml --replay f"; got != want {
		t.Errorf("a test's failure is replayed by %s, want %s", got, want)
	}
	entries := "accept:\n"
	for _, found := range regexp.MustCompile(`(?m)^([a-z-]+), first in`).FindAllStringSubmatch(one.out, -1) {
		entries += "- {law: " + found[1] + ", reason: issue 12}\n"
	}
	write(t, "threelaws.yaml", entries)
	c.run("-n", "6", "--results", "one")
	c.runs("merge", "one").passes(t, "\naccepted: claim-orphans-only, in ", ": issue 12\n", " 0 violations, ")
}

// An accepted violation is printed, but does not fail the check. An entry that matches no violation is listed.
func TestCheckAccepts(t *testing.T) {
	c := newChecked(t, sloppy())
	write(t, "threelaws.yaml", "accept:\n- {law: exact-sum, reason: it is fixed in v2}\n")
	found := c.run("-n", "5", "-o", "json")
	found.wants(t, scenarios.ExitFail, "threelaws.yaml:2: accept: no violation of exact-sum")
	var report checkReport
	if err := json.Unmarshal([]byte(found.out), &report); err != nil || report.ExitCode != found.code ||
		len(report.Samples) != 1 || len(report.Samples[0].Laws) == 0 || report.Samples[0].Kind != "ReplicaSet" || len(report.Notes) != 3 {
		t.Fatalf("%v\n%s", err, found.out)
	}
	entries := "accept:\n"
	for _, j := range report.Samples[0].Cases {
		for _, f := range j.Failures {
			object := ""
			for _, l := range f.Page.Lines {
				if len(l.Breaks) > 0 {
					object = l.Object
				}
			}
			entries += fmt.Sprintf("- {law: %s, object: %q, reason: it is fixed in v2}\n", f.Law, object)
		}
	}
	write(t, "threelaws.yaml", entries)
	if kept := c.run("-n", "5"); kept.code != 0 || !strings.Contains(kept.out, ", accepted: ") ||
		strings.Contains(kept.out, " 0 schedules") {
		t.Errorf("a case with an accepted failure that was kept is not explored: exit %d\n%s%s", kept.code, kept.err, kept.out)
	}
	must(t, os.RemoveAll("testdata"))
	c.run("-n", "5").passes(t, ", accepted: ", "it is fixed in v2",
		"no law is violated in what was tried, except for what is accepted. ", " 0 violated, ", " accepted, ", "\naccepted\n")
	if onDisk("testdata") {
		t.Error("an accepted failure is kept")
	}
	write(t, "threelaws.yaml", "accept:\n- {law: exact-sum, reason: it is fixed in v2}\n")
	if cut := c.run("--time", "1ms", "--workers", "1"); strings.Contains(cut.out, "no violation of exact-sum") {
		t.Errorf("an entry for a case that was not tried is listed as unmatched:\n%s", cut.out)
	}
}
