//go:build thirdparty

// Package operators runs "threelaws check" in the repositories of released operators, with their unmodified mains. Each
// operator has a directory. Its threelaws.yaml accepts the known violations, which the files beside it replay. Its
// row.md is its row in docs/evidence/operators.md.
package operators

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write each operator's row.md")

// operator is a released operator, in the directory of its name.
type operator struct {
	name   string
	title  string // the name in the table
	module string // with its version
	first  string // the result of the first "threelaws check" without settings
}

// operators lists the operators, quick ones first.
var operators = []operator{
	{name: "jobset", title: "JobSet", module: "sigs.k8s.io/jobset@v0.8.0", first: "verdict"},
	{name: "lws", title: "LeaderWorkerSet", module: "sigs.k8s.io/lws@v0.7.0", first: "verdict"},
	{name: "sample-controller", title: "sample-controller", module: "k8s.io/sample-controller@v0.36.3", first: "verdict"},
	{name: "agent-sandbox", title: "Agent Sandbox", module: "sigs.k8s.io/agent-sandbox@v0.2.1", first: "verdict"},
	{name: "kuberay", title: "KubeRay", module: "github.com/ray-project/kuberay/ray-operator@v1.5.0", first: "verdict"},
	{name: "trainer", title: "Kubeflow trainer", module: "github.com/kubeflow/trainer/v2@v2.0.0", first: "no sample of a TrainJob"},
	{name: "training-operator", title: "Kubeflow training-operator", module: "github.com/kubeflow/training-operator@v1.8.1", first: "verdict"},
	{name: "argo-rollouts", title: "Argo Rollouts", module: "github.com/argoproj/argo-rollouts@v1.8.0", first: "verdict"},
	{name: "kueue", title: "Kueue", module: "sigs.k8s.io/kueue@v0.17.0", first: "verdict"},
	{name: "cluster-api", title: "Cluster API", module: "sigs.k8s.io/cluster-api@v1.10.0", first: "no sample"},
	{name: "keda", title: "KEDA", module: "github.com/kedacore/keda/v2@v2.21.0", first: "verdict"},
	{name: "mongodb", title: "MongoDB community operator", module: "github.com/mongodb/mongodb-kubernetes-operator@v0.9.0", first: "verdict"},
	{name: "eck", title: "ECK", module: "github.com/elastic/cloud-on-k8s/v3@v3.5.0", first: "no helm"},
}

const (
	longest = 10                   // lines of a threelaws.yaml
	kept    = "testdata/threelaws" // where check keeps violations
)

// report is a part of the output of check -o json.
type report struct {
	Notes   []string
	Seconds float64
	Samples []struct {
		Sample, Kind, Summary string
		Cases                 []struct {
			Name, Skipped        string
			LeftOut, Cut         bool
			Schedules, Unsettled int
			Failures             []struct{ Law, Text, Written string }
			Accepted, Errors     []string
		}
		Laws []struct{ Law, State string }
	}
}

// In each operator, check finds only violations that its threelaws.yaml accepts. Two runs of one schedule do not
// differ.
func TestOperators(t *testing.T) {
	bin := build(t)
	for i := range operators {
		t.Run(operators[i].name, func(t *testing.T) { operators[i].test(t, bin) })
	}
}

// build builds the command, and returns the directory that holds it.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/threelaws")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func (op *operator) test(t *testing.T, bin string) {
	settings, err := os.ReadFile(filepath.Join(op.name, "threelaws.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(settings, []byte("\n")); n > longest {
		t.Errorf("threelaws.yaml has %d lines, more than %d", n, longest)
	}
	dir := op.repository(t)
	before := tree(t, dir)
	began := time.Now()
	r, text := check(t, bin, dir)
	took := time.Since(began)
	op.compare(t, r, text)
	if after := tree(t, dir); !t.Failed() && !slices.Equal(before, after) {
		t.Errorf("the repository has changed: %s", after)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(op.name, "row.md"), []byte(op.row(r, took)), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if _, err := os.Stat(filepath.Join(op.name, "row.md")); err != nil {
		t.Logf("the operator has no row yet: run with -update to write %v", err.(*fs.PathError).Path)
	}
	if !t.Failed() {
		op.repeats(t, bin, dir)
	}
}

// repository copies the module from the module cache to a writable directory, and adds the operator's files.
func (op *operator) repository(t *testing.T) string {
	t.Helper()
	var m struct{ Dir, Error string }
	get := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", op.module)
	get.Dir = t.TempDir() // outside of this module
	text, err := get.Output()
	if json.Unmarshal(text, &m) != nil || m.Dir == "" {
		t.Fatalf("the module proxy does not serve it: %v %s", err, m.Error)
	}
	dir := filepath.Join(t.TempDir(), "repository")
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(op.name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		from, to := filepath.Join(op.name, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.Name() == "row.md":
		case e.Name() == "found": // the violations, as check kept them
			err = os.CopyFS(filepath.Join(dir, kept), os.DirFS(from))
		default:
			var data []byte
			if data, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, data, 0o666)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// check runs threelaws check like a user, without the environment variables of this repository's Makefile. The second
// value is the text on stderr.
func check(t *testing.T, bin, dir string, flags ...string) (r *report, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "threelaws"), append([]string{"check", "-o", "json"}, flags...)...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GOFLAGS", "CGO_ENABLED", "CI"}, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r = &report{}
	if bad := json.Unmarshal(out.Bytes(), r); bad != nil {
		t.Fatalf("%v: %v\n%s%s", err, bad, errs.String(), out.String())
	}
	return r, errs.String()
}

// compare reports each violation that is not accepted. It logs each accepted violation that was not found.
func (op *operator) compare(t *testing.T, r *report, text string) {
	t.Helper()
	tried := 0
	for _, s := range r.Samples {
		for _, c := range s.Cases {
			if c.Schedules > 0 {
				tried++
			}
			for _, f := range c.Failures {
				t.Errorf("%s %s violates %s: %s", s.Kind, c.Name, f.Law, f.Text)
			}
			for _, e := range c.Errors {
				t.Errorf("%s %s: %s", s.Kind, c.Name, e)
			}
			if len(c.Failures) == 0 && c.Unsettled > 0 {
				t.Errorf("%s %s: %d of %d schedules do not settle", s.Kind, c.Name, c.Unsettled, c.Schedules)
			}
		}
	}
	if tried == 0 {
		t.Errorf("no verdict:\n%s", text)
	}
	for _, n := range r.Notes {
		if strings.Contains(n, "no violation of ") { // a rare violation needs more schedules than a slow machine runs
			t.Log(n)
		}
	}
}

// repeats explores two cases in 20 schedules each. It runs each schedule twice, and checks that the two runs are equal.
func (op *operator) repeats(t *testing.T, bin, dir string) {
	t.Helper()
	r, text := check(t, bin, dir, "--schedules", "20", "--twice", "1", "--case", "one-owner,faults")
	for _, s := range r.Samples {
		for _, c := range s.Cases {
			if len(c.Errors) > 0 || c.Skipped == "" && !c.LeftOut && c.Schedules < 20 {
				t.Errorf("%s: %d schedules, each twice: %q\n%s", c.Name, c.Schedules, c.Errors, text)
			}
		}
	}
}

// row returns the operator's row: name, first try, verdict, time, and the parts that were left out.
func (op *operator) row(r *report, took time.Duration) string {
	_, version, _ := strings.Cut(op.module, "@")
	var verdicts, left []string
	for _, s := range r.Samples {
		if len(s.Cases) == 0 {
			left = append(left, "no verdict for "+filepath.Base(s.Sample))
			continue
		}
		tried, schedules, skipped, short := 0, 0, 0, 0
		var violated []string
		for _, c := range s.Cases {
			schedules += c.Schedules
			switch {
			case c.Skipped != "":
				skipped++
			case c.LeftOut:
				short++
			default:
				tried++
			}
			var laws []string
			for _, f := range c.Failures {
				laws = append(laws, f.Law)
			}
			for _, a := range c.Accepted {
				law, _, _ := strings.Cut(a, ": ")
				laws = append(laws, law)
			}
			slices.Sort(laws)
			for _, law := range slices.Compact(laws) {
				violated = append(violated, fmt.Sprintf("`%s` in `%s`", law, c.Name))
			}
		}
		held := 0
		for _, l := range s.Laws {
			if l.State == "held" {
				held++
			}
		}
		verdict := "nothing violated"
		if len(violated) > 0 {
			verdict = "violates " + strings.Join(violated, ", ")
		}
		verdicts = append(verdicts, fmt.Sprintf("%s: %s; %d laws held, %d of %d cases, %d schedules", s.Kind, verdict, held, tried,
			len(s.Cases), schedules))
		if short > 0 {
			left = append(left, fmt.Sprintf("%s: %d cases for lack of time", s.Kind, short))
		}
		if skipped > 0 {
			left = append(left, fmt.Sprintf("%s: %d cases that cannot be tried", s.Kind, skipped))
		}
	}
	return fmt.Sprintf("| %s %s | %s | %s | %s | %s |\n", op.title, version, op.first, strings.Join(verdicts, ". "),
		took.Round(time.Second), strings.Join(left, ", "))
}

// tree returns the files below a directory, each with its size.
func tree(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		files = append(files, fmt.Sprintf("%s %d", path, info.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
