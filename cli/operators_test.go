package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios/builtin"
)

// released is an operator as it is released: its own main at its own versions.
type released struct {
	module string // with its version
	args   []string
	sample string   // where the repository has none that shows much
	with   string   // what exists beside it
	finds  []string // the laws that it is known to violate in these cases, see docs/evidence/operators.md
	way    string   // what is in the way, in the words of check
	skip   string   // why it is not tried
}

// operators are released operators that build from the module proxy. docs/evidence/operators.md says what check finds in all
// of its cases.
var operators = []released{
	{module: "sigs.k8s.io/jobset@v0.8.0"},
	{module: "sigs.k8s.io/lws@v0.7.0"},
	{module: "sigs.k8s.io/kueue@v0.17.0", sample: `
apiVersion: batch/v1
kind: Job
metadata:
  name: sample
  labels: {kueue.x-k8s.io/queue-name: queue}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: main, resources: {requests: {cpu: 1}}}
`, with: `
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue, namespace: default}
spec: {clusterQueue: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: standard
      resources: [{name: cpu, nominalQuota: 9}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: standard}
`},
	{module: "github.com/kubeflow/trainer/v2@v2.0.0", args: []string{"--with", "manifests/base/runtimes/torch_distributed.yaml"},
		sample: `
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: sample}
spec:
  runtimeRef: {name: torch-distributed}
`},
	{module: "github.com/kubeflow/training-operator@v1.8.1", args: []string{"--sample", "examples/pytorch/simple.yaml"}},
	{module: "github.com/ray-project/kuberay/ray-operator@v1.5.0",
		args: []string{"--sample", "config/samples/ray-cluster.sample.yaml"}},
	{module: "github.com/argoproj/argo-rollouts@v1.8.0", args: []string{"--sample", "examples/rollout-rolling-update.yaml"}},
	{module: "sigs.k8s.io/cluster-api@v1.10.0", way: "name one with --sample FILE"},
	{module: "github.com/kedacore/keda/v2@v2.21.0", args: []string{"--sample",
		"config/samples/keda_v1alpha1_scaledobject.yaml"}, skip: "it does not settle with a ScaledObject, for minutes"},
	{module: "github.com/elastic/cloud-on-k8s/v3@v3.5.0", skip: "no run has come to its end"},
	{module: "github.com/cert-manager/cert-manager@v1.21.2", way: "no main package"},
}

// Released operators settle with one sample, and each of 20 schedules is the same when it is run again.
func TestReleasedOperators(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("released operators are downloaded and built, each for minutes: with SOAK in the environment only")
	}
	for _, op := range operators {
		t.Run(op.module, op.test)
	}
}

func (op *released) test(t *testing.T) {
	if op.skip != "" {
		t.Skip(op.skip)
	}
	dir := op.download(t)
	args := append([]string{"check", "--json", "-n", "20", "--twice", "1", "--case", "one-owner,faults"}, op.args...)
	for flag, text := range map[string]string{"--sample": op.sample, "--with": op.with} {
		if text == "" {
			continue
		}
		file := filepath.Join(t.TempDir(), "manifest.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, flag, file)
	}
	t.Setenv("CI", "")
	t.Chdir(dir)
	before := tree(t, dir)
	var out, errs bytes.Buffer
	cmd := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: &out, Err: &errs}
	code := cmd.Run(t.Context(), args)
	if op.way != "" {
		if !strings.Contains(errs.String(), op.way) {
			t.Errorf("exit %d, and %q is not in the way any more:\n%s", code, op.way, errs.String())
		}
		return
	}
	var r checkReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, errs.String(), out.String())
	}
	found := 0
	for _, s := range r.Samples {
		if len(s.Cases) == 0 {
			t.Errorf("%s: %s", s.Sample, s.Text)
		}
		for _, c := range s.Cases {
			switch {
			case len(c.Errors) > 0:
				t.Errorf("%s: %q", c.Name, c.Errors)
			case c.Skipped == "" && (c.Schedules != 20 || c.Unsettled > 0):
				t.Errorf("%s: %d schedules, of which %d did not settle", c.Name, c.Schedules, c.Unsettled)
			}
			for _, f := range c.Failures {
				if found++; !slices.Contains(op.finds, f.Law) {
					t.Errorf("%s breaks %s: %s\n%s", c.Name, f.Law, f.Text, f.Page.Wide(120))
				}
			}
		}
	}
	if after := tree(t, dir); found == 0 && !slices.Equal(before, after) {
		t.Errorf("the repository has changed: %s", fmt.Sprint(after))
	}
}

// download copies the module from the module cache, as a repository that can be written.
func (op *released) download(t *testing.T) string {
	t.Helper()
	var m struct{ Dir, Error string }
	get := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", op.module)
	get.Dir = t.TempDir() // outside of this module
	text, err := get.Output()
	if json.Unmarshal(text, &m) != nil || m.Dir == "" {
		t.Skipf("the module proxy does not serve it: %v %s", err, m.Error)
	}
	dir := filepath.Join(t.TempDir(), "repository")
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree are the files below a directory, each with its size.
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
