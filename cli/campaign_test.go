package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/scenarios"
)

// engine is the folder with what engines run.
const engine = "../deploy/campaign/"

// script is a step of a campaign, with this program as the command.
func script(t *testing.T, ctx context.Context, dir, name string, env ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, name))
	must(t, err)
	c := exec.CommandContext(ctx, "/bin/sh", path)
	c.WaitDelay = time.Second
	c.Env = append(os.Environ(), append(env, "THREELAWS="+os.Args[0], "THREELAWS_AS_COMMAND=1", "CI=", "GITHUB_ACTIONS=")...)
	return c
}

// The steps of the workflow, and of any other engine, run here as they are there.
func TestCampaignSteps(t *testing.T) {
	deploy, err := filepath.Abs(engine)
	must(t, err)
	work(t)
	for i := range 3 {
		c := script(t, t.Context(), deploy, "shard.sh", fmt.Sprintf("SHARD=%d/3", i), "RESULTS=results",
			"WORLDS=testdata/settles.txtar testdata/fights.txtar", "ARGS=-n 30")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	c := script(t, t.Context(), deploy, "merge.sh", "RESULTS=results", "ARGS=--annotations")
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != scenarios.ExitFail || !strings.Contains(string(out), "testdata/settles: 30 schedules") ||
		!strings.Contains(string(out), "::error") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"campaign.html", "campaign.jsonl", "campaign.txt"} {
		if info, err := os.Stat("results/merged/" + name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := script(t, t.Context(), deploy, "shard.sh", "SHARD=3/3", "RESULTS=results", "WORLDS=testdata/settles.txtar")
	if out, _ := bad.CombinedOutput(); bad.ProcessState.ExitCode() != scenarios.ExitUsage {
		t.Errorf("a shard that is not there: %v\n%s", bad.ProcessState, out)
	}
}

// container returns the process of a Job's container, which an index of the Job has.
func container(t *testing.T, deploy string, j *batchv1.Job, index int32, changed map[string]string) *exec.Cmd {
	t.Helper()
	c, values, env := j.Spec.Template.Spec.Containers[0], map[string]string{}, []string(nil)
	for _, e := range c.Env {
		v := cmp.Or(changed[e.Name], strings.ReplaceAll(e.Value, "/results", "results"))
		if e.ValueFrom != nil {
			if path := e.ValueFrom.FieldRef.FieldPath; path != "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']" {
				t.Errorf("%s is %s", e.Name, path)
			}
			v = fmt.Sprint(index)
		}
		for name, old := range values {
			v = strings.ReplaceAll(v, "$("+name+")", old)
		}
		values[e.Name], env = v, append(env, e.Name+"="+v)
	}
	return script(t, t.Context(), deploy, c.Command[0], env...)
}

// The manifests are Jobs. A process for each index, and the merge of all, are one run.
func TestCampaignJob(t *testing.T) {
	deploy, err := filepath.Abs(engine)
	must(t, err)
	work(t)
	s := startServe(t)
	job := func(name string) *batchv1.Job {
		text, j := read(t, filepath.Join(deploy, name)), &batchv1.Job{}
		must(t, yaml.UnmarshalStrict([]byte(text), j))
		s.send(t, "POST", "/apis/batch/v1/namespaces/default/jobs", text)
		return j
	}
	ends := func(c *exec.Cmd) {
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	shards := job("shards.yaml")
	if *shards.Spec.CompletionMode != batchv1.IndexedCompletion || *shards.Spec.BackoffLimitPerIndex < 1 {
		t.Errorf("a Pod that is killed does not start again: %+v", shards.Spec)
	}
	for i := range *shards.Spec.Completions {
		ends(container(t, deploy, shards, i, map[string]string{"WORLDS": "testdata/settles.txtar",
			"ARGS": "-n 160 --faults crash:1 --workers 1"}))
	}
	ends(container(t, deploy, job("merge.yaml"), 0, nil))
	cli(t, strings.Fields("explore -n 160 --faults crash:1 --results one testdata/settles.txtar")...)
	typed(t, "merge -o one.jsonl one")
	if a, b := read(t, "results/merged/campaign.jsonl"), read(t, "one.jsonl"); a != b {
		t.Errorf("the campaign is not one run:\n%.600s\n%.600s", a, b)
	}
}
