package cli

import (
	"bytes"
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

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/agent"
	"github.com/threelaws/threelaws/sim/host"
)

// checked is a check in a repository of its own, of an operator that is hosted in this process.
type checked struct {
	*testing.T
	op       host.Controller
	samples  []string // beside config/samples/web.yaml
	settings settings // as they were handed to what finds the operator
	reuse    func(agent.World) string
}

func newChecked(t *testing.T, op host.Controller) *checked {
	t.Helper()
	t.Setenv("CI", "")
	t.Chdir(t.TempDir())
	c := &checked{T: t, op: op}
	c.write("go.mod", "module example.com/operator\n")
	c.write("config/samples/web.yaml", "# A sample.\n"+set)
	return c
}

func (c *checked) write(path, text string) {
	c.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

// run runs the command check.
func (c *checked) run(args ...string) outcomeOf { return c.runs(append([]string{"check"}, args...)...) }

// runs runs a command.
func (c *checked) runs(args ...string) outcomeOf {
	c.Helper()
	var out, err bytes.Buffer
	cmd := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &out, Err: &err}
	cmd.operators = func(_ context.Context, s *settings) (*operator, error) {
		c.settings = *s
		var samples []*check.File
		for _, path := range append([]string{"config/samples/web.yaml"}, c.samples...) {
			data, err := os.ReadFile(filepath.Join(s.Dir, path))
			if err != nil {
				return nil, err
			}
			sample, err := check.Read(path, data)
			if err != nil {
				return nil, err
			}
			samples = append(samples, sample)
		}
		return &operator{Name: "operator", Dir: s.Dir, Builds: "./cmd/manager", Samples: samples,
			Notes: []string{"main package ./cmd/manager, from PROJECT"},
			Reuse: c.reuse,
			Waits: func() []string { return []string{"main.sync waits for an RWMutex, at manager/main.go:57"} },
			Host: func(context.Context) (func(host.Controller) host.Controller, error) {
				return func(host.Controller) host.Controller { return c.op }, nil
			}}, nil
	}
	return outcomeOf{cmd.Run(c.Context(), args), out.String(), err.String()}
}

// current is a controller of this module, of which nothing is declared but what it is.
func current(t *testing.T, name string) host.Controller {
	for _, c := range controllers.Builtin() {
		if c.Name == name && c.Era == "current" {
			return host.Controller{Name: c.Name, For: c.For, Routes: c.Routes, New: c.New, Workers: c.Workers}
		}
	}
	t.Fatalf("there is no %s", name)
	return host.Controller{}
}

// inOrderIn reports which of some texts does not stand in a text behind those before it, "" for none.
func inOrderIn(text string, parts ...string) string {
	for _, p := range parts {
		_, rest, ok := strings.Cut(text, p)
		if !ok {
			return p
		}
		text = rest
	}
	return ""
}

// A right operator passes, each part is printed in its place, and nothing is written.
func TestCheckPasses(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	got := c.run("-n", "5")
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit %d\n%s%s", got.code, got.err, got.out)
	}
	if missing := inOrderIn(got.out, "main package ./cmd/manager, from PROJECT\n", "builds ./cmd/manager\n",
		"replicaset, as quiet runs show it:\n", "  one-owner              5 schedules, ",
		"  deleted/background     5 schedules, ",
		"\nReplicaSet: no law is violated in what was tried. Laws of ownership: ", " held, 0 violated, ",
		" of 30 cases were explored, 0 failed; schedules: ", "\nnot judged\n", "EXACT-8", "\nheld\n", "LAW-1 ", "take-ownership",
		"evaluated ",
		"after it has settled, main.sync waits for an RWMutex, at manager/main.go:57\n"); missing != "" {
		t.Errorf("%q is not in its place\n%s", missing, got.out)
	}
	if onDisk("testdata") {
		t.Error("something is written")
	}
	cases := regexp.MustCompile("(?m)^  ([a-z/-]+) +(?:skipped: |5 schedules, )").FindAllStringSubmatch(got.out, -1)
	var names []string
	for _, m := range cases {
		names = append(names, m[1])
	}
	if !slices.Equal(names, check.Names) {
		t.Errorf("the cases are %q, want %q", names, check.Names)
	}
}

// idle is a program that logs and does nothing else.
type idle struct{ host.Program }

func (idle) Start()                {}
func (idle) Kill()                 {}
func (idle) Asked() []*host.Call   { return nil }
func (idle) Queried() []host.Query { return nil }
func (idle) Ended() (error, bool)  { return nil, false }
func (idle) Printed(int) []string {
	return []string{"2017-03-01T00:00:00Z\tINFO\tstarts", "2017-03-01T00:00:00Z\tERROR\tno cloud\t{\"error\": \"set CLOUD\"}",
		"main.main()", "\t/main.go:1"}
}

// Of an operator that does nothing for its sample, the last error that it logged is told, and with -v all that it
// logged.
func TestCheckIdle(t *testing.T) {
	op := host.Hosting(host.Controller{Name: "operator", For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")},
		func(*host.Cluster, string) host.Program { return idle{} })
	c := newChecked(t, op)
	got := c.run("-n", "5")
	if missing := inOrderIn(got.err, "config/samples/web.yaml: it did nothing for its owner: ",
		"; the last error that it logged: ERROR no cloud: set CLOUD; --args, ", "; -v shows what it logged"); missing != "" ||
		got.code != scenarios.ExitUsage || strings.Count(got.err, "\n") != 1 || strings.Contains(got.out, "starts") {
		t.Errorf("exit %d, %q is not in its place\n%s%s", got.code, missing, got.err, got.out)
	}
	got = c.run("-n", "5", "-v")
	if missing := inOrderIn(got.out, "config/samples/web.yaml: the last lines that it printed\n",
		"  2017-03-01T00:00:00Z  INFO  starts\n", "\"set CLOUD\"}\n  main.main()\n"); missing != "" {
		t.Errorf("%q is not in its place\n%s%s", missing, got.err, got.out)
	}
}

// The cases that are named are tried, and no others. A name that no case has is a mistake, before anything is built.
func TestCheckSomeCases(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	got := c.run("-n", "5", "--case", "faults,one-owner", "--twice", "1")
	if got.code != 0 || strings.Contains(got.out, "two-owners") || !strings.Contains(got.out, "schedules: 10, ") {
		t.Errorf("exit %d\n%s%s", got.code, got.err, got.out)
	}
	got = c.run("-n", "5", "--case", "fault")
	if got.code != scenarios.ExitUsage || got.out != "" || !strings.HasPrefix(got.err, "threelaws: --case: there is no case fault; "+
		"did you mean faults?; there are one-owner, faults, ") {
		t.Errorf("exit %d\n%s%s", got.code, got.err, got.out)
	}
	if got = c.run("--twice", "0"); got.code != scenarios.ExitUsage || !strings.Contains(got.err, "--twice=0: at least 1") {
		t.Errorf("exit %d\n%s%s", got.code, got.err, got.out)
	}
}

// However little time there is, the first case of the first sample is tried. The cases that are cut short and left out
// are named, and so are the samples that are left out.
func TestCheckInTime(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.samples = append(c.samples, "config/samples/second.yaml")
	c.write("config/samples/second.yaml", set)
	got := c.run("--time", "1ms", "--workers", "1")
	if missing := inOrderIn(got.out, "  one-owner              1 schedule, ", "  two-owners             left out: no time is left\n",
		" 1 of 30 cases were explored, ", "cut short before 5 schedules for lack of --time: one-owner\n",
		"left out for lack of --time: faults, two-owners, ", "config/samples/second.yaml: left out: --time 1ms is over\n",
	); missing != "" || got.code != exitUncovered {
		t.Errorf("exit %d, %q is not in its place\n%s%s", got.code, missing, got.err, got.out)
	}
	if got := c.run("--time", "0s"); got.code != scenarios.ExitUsage {
		t.Errorf("exit %d\n%s%s", got.code, got.err, got.out)
	}
}

// A violation is shown as explore shows it, and kept. The next check replays it first, and so does --replay.
func TestCheckFinds(t *testing.T) {
	c := newChecked(t, sloppy())
	got := c.run("-n", "5", "--junit", "junit.xml", "--annotations")
	if got.code != scenarios.ExitFail {
		t.Fatalf("exit %d\n%s%s", got.code, got.err, got.out)
	}
	kept, _ := filepath.Glob("testdata/threelaws/replicaset-two-owners/*.txtar")
	if len(kept) == 0 {
		t.Fatalf("nothing is kept\n%s", got.out)
	}
	law, _, _ := strings.Cut(filepath.Base(kept[0]), "-0")
	if n := strings.Count(got.out, "kept as testdata/threelaws/replicaset-two-owners/"); n != len(kept) {
		t.Errorf("%d files are kept of %d failures:\n%s", len(kept), n, got.out)
	}
	replay := "threelaws check --replay " + kept[0]
	if missing := inOrderIn(got.out, "two-owners             violated: ", ", and minimized now\n",
		"two-owners             5 schedules, violated in ", " (first in schedule ", "--- FAIL: replicaset/two-owners\n",
		replay, "\nviolated\n"); missing != "" {
		t.Errorf("%q is not in its place (%s)\n%s", missing, law, got.out)
	}
	if !strings.Contains(got.out, "::error file="+kept[0]) {
		t.Errorf("no annotation names %s", kept[0])
	}
	junit, err := os.ReadFile("junit.xml")
	if err != nil || !strings.Contains(string(junit), `<testcase name="two-owners" classname="replicaset"`) ||
		!strings.Contains(string(junit), `<skipped message="not judged: `) {
		t.Errorf("%v\n%s", err, junit)
	}
	again := c.run("-n", "5")
	if again.code != scenarios.ExitFail ||
		!strings.Contains(again.out, "two-owners             violated: ") {
		t.Errorf("a failure that was kept is not replayed: exit %d\n%s", again.code, again.out)
	}
	once := c.run("--replay", kept[0])
	if once.code != scenarios.ExitFail || !strings.Contains(once.out, replay) || strings.Contains(once.out, "one-owner ") {
		t.Errorf("exit %d\n%s%s", once.code, once.err, once.out)
	}
	lost := c.run("--replay", "elsewhere/x.txtar")
	if want := "threelaws: --replay elsewhere/x.txtar: no case of this operator is kept in a directory elsewhere\n"; lost.
		err != want || lost.code != scenarios.ExitUsage {
		t.Errorf("exit %d, %s", lost.code, lost.err)
	}
}

// A known finding is printed and fails nothing. One that does not occur any more is named.
func TestCheckAccepts(t *testing.T) {
	c := newChecked(t, sloppy())
	c.write("threelaws.yaml", "accept:\n- {law: exact-sum, reason: it is fixed in v2}\n")
	found := c.run("-n", "5", "--json")
	if found.code != scenarios.ExitFail || !strings.Contains(found.out, "threelaws.yaml:2: accept: no violation of exact-sum") {
		t.Fatalf("exit %d\n%s%s", found.code, found.err, found.out)
	}
	var report checkReport
	if err := json.Unmarshal([]byte(found.out), &report); err != nil {
		t.Fatal(err)
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
	c.write("threelaws.yaml", entries)
	if kept := c.run("-n", "5"); kept.code != 0 || !strings.Contains(kept.out, ", accepted: ") ||
		strings.Contains(kept.out, " 0 schedules") {
		t.Errorf("a case with an accepted failure that was kept is not explored: exit %d\n%s%s", kept.code, kept.err, kept.out)
	}
	if err := os.RemoveAll("testdata"); err != nil {
		t.Fatal(err)
	}
	got := c.run("-n", "5")
	if missing := inOrderIn(got.out, ", accepted: ", "it is fixed in v2", "no law is violated in what was tried, except for what is accepted. ", " 0 violated, ", " accepted, ",
		"\naccepted\n"); missing != "" || got.code != 0 || onDisk("testdata") {
		t.Errorf("exit %d, %q is not in its place\n%s%s", got.code, missing, got.err, got.out)
	}
	c.write("threelaws.yaml", "accept:\n- {law: exact-sum, reason: it is fixed in v2}\n")
	if cut := c.run("--time", "1ms", "--workers", "1"); strings.Contains(cut.out, "no violation of exact-sum") {
		t.Errorf("what was not tried is taken for fixed:\n%s", cut.out)
	}
	for text, want := range map[string]string{
		"- {law: exact-sums, reason: x}": "threelaws.yaml:2: accept: unknown law exact-sums; did you mean exact-sum?",
		"- {law: exact-sum}":             "threelaws.yaml:2: accept: exact-sum is accepted without a reason",
		"- {laws: exact-sum, reason: x}": "did you mean law?",
	} {
		c.write("threelaws.yaml", "accept:\n"+text+"\n")
		if got := c.run("-n", "5"); got.code != scenarios.ExitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: exit %d\n%s", text, got.code, got.err)
		}
	}
}

// Each sample is tried by itself. One with which nothing can be tried does not keep the others from it.
func TestCheckSamples(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.samples = []string{"config/samples/map.yaml"}
	c.write(c.samples[0], "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	got := c.run("-n", "5")
	why := "config/samples/map.yaml: it holds no apps/v1 ReplicaSet, on which replicaset works, but v1 ConfigMap; " +
		"--sample FILE names another sample\n"
	if missing := inOrderIn(got.out, "=== config/samples/web.yaml\n", "0 violated", "=== config/samples/map.yaml\n",
		"config/samples/web.yaml: ReplicaSet: no law is violated", "config/samples/map.yaml: it holds no", "2 samples, "); missing != "" ||
		got.err != why || got.code != 0 {
		t.Errorf("exit %d, %q is not in its place\n%s%s", got.code, missing, got.err, got.out)
	}
	got = c.run("-n", "5", "--sample", "config/samples/map.yaml")
	if got.err != strings.Replace(why, "; --sample FILE names another sample", "", 1) || got.code != scenarios.ExitUsage {
		t.Errorf("a sample that was named: exit %d\n%s%s", got.code, got.err, got.out)
	}
	c.write("config/samples/web.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n")
	if got = c.run("-n", "5"); got.code != scenarios.ExitUsage {
		t.Errorf("without a sample of use: exit %d\n%s%s", got.code, got.err, got.out)
	}
}

func TestCheckJSON(t *testing.T) {
	c := newChecked(t, sloppy())
	for _, args := range [][]string{{"--json"}, {"-o", "json"}} {
		got := c.run(append(args, "-n", "5")...)
		var r checkReport
		if err := json.Unmarshal([]byte(got.out), &r); err != nil {
			t.Fatalf("%v\n%s", err, got.out)
		}
		if r.ExitCode != got.code || got.code != scenarios.ExitFail || len(r.Samples) != 1 || len(r.Samples[0].Laws) == 0 ||
			r.Samples[0].Kind != "ReplicaSet" || len(r.Notes) != 2 {
			t.Errorf("exit %d\n%s", got.code, got.out)
		}
	}
}

// With json-lines each case and each law is a line of its own, and the first names the protocol.
func TestCheckLines(t *testing.T) {
	got := newChecked(t, sloppy()).run("-o", "json-lines", "-n", "5")
	if got.code != scenarios.ExitFail || got.err != "" {
		t.Errorf("exit %d\n%s", got.code, got.err)
	}
	var lines []checkLine
	for text := range strings.Lines(got.out) {
		var l checkLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		lines = append(lines, l)
	}
	if lines[0] != (checkLine{Protocol: checkProtocol}) {
		t.Errorf("the first line is %+v", lines[0])
	}
	named := func(name string) checkLine {
		i := slices.IndexFunc(lines, func(l checkLine) bool { return l.Name == name })
		if i < 0 {
			t.Fatalf("no line for %s\n%s", name, got.out)
		}
		return lines[i]
	}
	if l := named("two-owners"); !strings.Contains(l.Failed, "--- FAIL: replicaset/two-owners\n") || l.Skipped != "" {
		t.Errorf("%+v", l)
	}
	if l := named("EXACT-8-exact-status"); !strings.HasPrefix(l.Skipped, "not judged: ") || l.Failed != "" {
		t.Errorf("%+v", l)
	}
	if l := named("LAW-1-take-ownership"); l.Failed+l.Skipped == "" && !strings.HasPrefix(l.Told, "evaluated ") {
		t.Errorf("%+v", l)
	}
}

// A check without a verdict has an exit code of its own.
func TestCheckExitCodes(t *testing.T) {
	runs := 0
	for name, x := range map[string]struct {
		change func(op *host.Controller)
		code   int
		want   string // in what is printed
	}{
		"it does nothing": {func(op *host.Controller) {
			op.New = func(*host.Env) host.Reconciler {
				return host.SyncFunc(func(context.Context, string) error { return nil })
			}
		}, scenarios.ExitUsage,
			"; --args, --env and --with FILE give it what it lacks; --sample FILE names another sample"},
		"two runs differ": {func(op *host.Controller) {
			op.New = func(env *host.Env) host.Reconciler {
				runs++
				name := fmt.Sprintf("settings-%d", runs)
				return host.SyncFunc(func(ctx context.Context, key string) error {
					ns, _, _ := strings.Cut(key, "/")
					_, err := env.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}})
					return err
				})
			}
		}, scenarios.ExitNondetermine, "two runs of one schedule differ"},
		"it never settles": {func(op *host.Controller) {
			op.New = func(env *host.Env) host.Reconciler {
				return host.SyncFunc(func(ctx context.Context, key string) error {
					ns, name, _ := strings.Cut(key, "/")
					o, err := env.Client.Get(ctx, op.For, ns, name)
					if err != nil {
						return nil
					}
					count := o.DeepCopyObject().(metav1.Object)
					count.SetAnnotations(map[string]string{"count": count.GetResourceVersion()})
					_, err = env.Client.Update(ctx, count.(runtime.Object))
					return err
				})
			}
		}, scenarios.ExitNotSettled, "violated: come-to-rest"},
		"its keys name nothing": {func(op *host.Controller) {
			op.Routes = []host.Route{{Kind: op.For, Do: func(_ host.View, _ host.Event, out *host.Effect) {
				out.Keys = []string{"everything"}
			}}}
			op.New = func(env *host.Env) host.Reconciler {
				return host.SyncFunc(func(ctx context.Context, _ string) error {
					_, err := env.Client.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
						Namespace: "default", Name: "seen"}})
					if apierrors.IsAlreadyExists(err) {
						return nil
					}
					return err
				})
			}
		}, exitUncovered, "not covered: no key that sloppy synced names a ReplicaSet"},
	} {
		t.Run(name, func(t *testing.T) {
			op := sloppy()
			x.change(&op)
			got := newChecked(t, op).run("-n", "5")
			if got.code != x.code || !strings.Contains(got.out+got.err, x.want) {
				t.Errorf("exit %d\n%s%s", got.code, got.err, got.out)
			}
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out bytes.Buffer
		cmd := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &out, Err: &out}
		cmd.operators = func(context.Context, *settings) (*operator, error) {
			return &operator{Samples: []*check.File{{}}, Host: func(context.Context) (func(host.Controller) host.Controller,
				error) {
				return nil, nil
			}}, nil
		}
		if code := cmd.Run(ctx, []string{"check"}); code != exitInterrupted {
			t.Errorf("exit %d\n%s", code, out.String())
		}
	})
}

// An operator that does not do the same in processes that have served others gets a new process for each life, and the
// case is tried again.
func TestCheckFallsBackToNewProcesses(t *testing.T) {
	op := current(t, "replicaset")
	right := op.New
	reused, runs := false, 0
	op.New = func(env *host.Env) host.Reconciler {
		if !reused {
			return right(env)
		}
		runs++
		name := fmt.Sprintf("settings-%d", runs)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			ns, _, _ := strings.Cut(key, "/")
			_, err := env.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}})
			return err
		})
	}
	c := newChecked(t, op)
	c.reuse = func(world agent.World) string {
		reused = world != nil
		return ""
	}
	got := c.run("-n", "5", "--case", "one-owner")
	if missing := inOrderIn(got.out, "one-owner: two runs of one schedule differ in a process that has served others: ",
		"one-owner"); missing != "" || reused || got.code != 0 {
		t.Errorf("exit %d, %q is not in its place\n%s%s", got.code, missing, got.err, got.out)
	}
}

// The file of the repository has settings, and flags overrule it.
func TestCheckSettings(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.write("settings/crd.yaml", "kind: x\n")
	c.write(settingsFile, `# settings of check
package: ./cmd/manager
time: 5m
schedules: 7
args: [--leader-elect=false, a b]
env: {NAMESPACE: default}
crds: settings/crd.yaml
faults: none
`)
	if err := os.MkdirAll("cmd/manager", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir("cmd/manager")
	if got := c.run("-n", "5", "--args", "--a --b=c"); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.err, got.out)
	}
	want := settings{Dir: "../..", Package: "../../cmd/manager", Time: 5 * time.Minute, Schedules: 5, Seed: 1,
		Args: []string{"--a", "--b=c"}, Env: []string{"NAMESPACE=default"}, CRDs: []string{"../../settings/crd.yaml"},
		Budget: 100, faults: "none", set: true}
	if !reflect.DeepEqual(c.settings, want) {
		t.Errorf("got  %+v\nwant %+v", c.settings, want)
	}
}

// Failures name the files of the repository's definitions by relative paths, so these are what is found.
func TestCheckNamesFilesFromHere(t *testing.T) {
	c := newChecked(t, host.Controller{})
	c.write("main.go", "package main\n\nfunc main() {}\n")
	c.write("config/crd/bases/widgets.yaml", strings.Split(definitionYAML, "---")[0])
	op, err := findOperator(t.Context(), &settings{Dir: "."})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join("config", "crd", "bases", "widgets.yaml"); len(op.CRDs) != 1 || op.CRDs[0].Path != want {
		t.Errorf("got %+v, want one file %s", op.CRDs, want)
	}
}

func TestCheckMistakes(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	for _, x := range []struct{ file, args, want string }{
		{"tiem: 5m\n", "", "threelaws.yaml:1: unknown field tiem; did you mean time?"},
		{"seed: 1\ntime: soon\n", "", "threelaws.yaml:2: time: cannot unmarshal !!str `soon` into time.Duration"},
		{"seed: 1\nseed: 2\n", "", "threelaws.yaml:2: field seed stands twice"},
		{"- a\n", "", "threelaws.yaml:1: the settings are a mapping, as time: 5m"},
		{"", "a b", "threelaws: check takes one package, not 2"},
		{"", "--crds nowhere.yaml", "nowhere.yaml: cannot be read: no such file or directory"},
		{"", "--env NAMESPACE", "threelaws: --env NAMESPACE: write NAME=value"},
		{"", "--faults crsh:1", "threelaws: --faults: unknown fault crsh; did you mean crash?"},
		{"", "-n -1", "threelaws: --schedules=-1: at least 0"},
		{"", "-o xml", "threelaws: --output: xml is not one of its values"},
	} {
		c.write(settingsFile, x.file)
		got := c.run(strings.Fields(x.args)...)
		if got.code != scenarios.ExitUsage || !strings.HasPrefix(got.err, x.want) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%q %s: exit %d\n got %s\nwant %s", x.file, x.args, got.code, got.err, x.want)
		}
	}
	if got := typed(t, "check"); got.code != scenarios.ExitUsage {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// A file names the operator that --main hosts by its name.
func TestMainOfFiles(t *testing.T) {
	op := current(t, "replicaset")
	op.Name = "operator"
	c := newChecked(t, op)
	c.write("web.txtar", "apply set.yaml\ncontrollers operator gc\nsettle\n\n-- set.yaml --\n"+set)
	if got := c.runs("explore", "-n", "5", "--main", "./cmd/manager", "web.txtar"); got.code != 0 ||
		!strings.Contains(got.out, "0 violations") {
		t.Errorf("exit %d\n%s%s", got.code, got.err, got.out)
	}
	if c.settings.Package != "./cmd/manager" {
		t.Errorf("the main package is %q", c.settings.Package)
	}
	if got := c.runs("explore", "web.txtar"); got.code != scenarios.ExitUsage {
		t.Errorf("without --main the exit code is %d\n%s%s", got.code, got.err, got.out)
	}
}

// crashing is a program that prints and panics.
type crashing struct{ host.Program }

func (crashing) Start()                 {}
func (crashing) Kill()                  {}
func (crashing) Asked() []*host.Call    { return nil }
func (crashing) Queried() []host.Query  { return nil }
func (crashing) Ended() (error, bool)   { return &host.Panic{Text: "a nil map"}, true }
func (crashing) Printed(n int) []string { return slices.Repeat([]string{strings.Repeat("x", 1000)}, n) }

// A violation is shown with the last lines that a program has printed, shortened.
func TestPrintedLinesAreShown(t *testing.T) {
	op := host.Hosting(host.Controller{Name: "operator", For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")},
		func(*host.Cluster, string) host.Program { return crashing{} })
	c := newChecked(t, op)
	c.write("web.txtar", "apply set.yaml\ncontrollers operator\nsettle\n\n-- set.yaml --\n"+set)
	got := c.runs("explore", "-n", "5", "--main", "./cmd/manager", "web.txtar")
	if missing := inOrderIn(got.out, "a nil map", "    the last other lines that operator printed\n      xxxx"); missing != "" ||
		got.code != scenarios.ExitFail {
		t.Errorf("exit %d, %q is not in its place\n%s%s", got.code, missing, got.err, got.out)
	}
	if n := strings.Count(got.out, "x"); n > 400 {
		t.Errorf("%d bytes of what it printed are shown", n)
	}
}

// A case and a law that are skipped are named with the reason, whether a flag or threelaws.yaml says so.
func TestCheckSkips(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.write("threelaws.yaml", "skip:\n  faults: it is slow\n")
	for _, args := range [][]string{nil, {"--skip", "exact-sum=issue 12", "--skip", "edit=b"}} {
		got := c.run(append([]string{"-n", "2", "--case", "one-owner,faults"}, args...)...)
		faults, law := "  faults                 skipped: it is slow\n", ""
		if args != nil {
			faults, law = "  faults                 2 schedules, ", "\nskipped\n  NOFIGHT-3  exact-sum  issue 12\n"
		}
		if missing := inOrderIn(got.out, faults, law); missing != "" || got.code != 0 {
			t.Errorf("%q: exit %d, %q is not in its place\n%s%s", args, got.code, missing, got.err, got.out)
		}
	}
	for flag, want := range map[string]string{
		"--skip=fault=x":                 "threelaws: --skip: there is no case and no law fault; did you mean faults?\n",
		"--skip=faults":                  "threelaws: --skip: faults is skipped without a reason\n",
		"--skip=come-to-rest=x":          "threelaws: --skip: come-to-rest ends a run in any case: accept what is known of it\n",
		"--accept={law: exact-sum}":      "threelaws: --accept: exact-sum is accepted without a reason\n",
		"--accept={lw: exact-sum}":       "threelaws: --accept: unknown field lw; did you mean law?\n",
		"--edit={spec: {replicas: 3}":    "config/samples/web.yaml: Edits[0]: ",
		"--edit={metadata: {name: web}}": "config/samples/web.yaml: Edits[0]: {metadata: {name: web}} changes nothing in the sample",
	} {
		if got := c.run("-n", "1", flag); got.code != scenarios.ExitUsage || !strings.HasPrefix(got.err, want) ||
			strings.Count(got.err, "\n") != 1 {
			t.Errorf("%s: exit %d\n got %s\nwant %s", flag, got.code, got.err, want)
		}
	}
}
