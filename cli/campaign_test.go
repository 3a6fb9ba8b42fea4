package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/scenarios"
)

// pod returns a process that runs the container of a Job's Pod, with this binary as the command. values replace those
// in the manifest.
func pod(t *testing.T, manifest string, index int, values map[string]string) *exec.Cmd {
	t.Helper()
	var j batchv1.Job
	must(t, yaml.UnmarshalStrict([]byte(read(t, manifest)), &j))
	container, env := j.Spec.Template.Spec.Containers[0], map[string]string{}
	for _, e := range container.Env {
		v := e.Value
		if e.ValueFrom != nil {
			v = fmt.Sprint(index) // the manifest reads only the index
		}
		for name, before := range env {
			v = strings.ReplaceAll(v, "$("+name+")", before)
		}
		env[e.Name] = strings.ReplaceAll(v, "/results", "results")
	}
	maps.Copy(env, values)
	c := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(filepath.Dir(manifest), container.Command[0]))
	c.Env = append(os.Environ(), "THREELAWS="+os.Args[0], "THREELAWS_AS_COMMAND=1", "CI=", "GITHUB_ACTIONS=")
	for name, v := range env {
		c.Env = append(c.Env, name+"="+v)
	}
	return c
}

// A server accepts the manifests of a campaign. The merged result of their Pods equals the result of one run.
func TestCampaign(t *testing.T) {
	deploy, err := filepath.Abs("../deploy/campaign")
	must(t, err)
	work(t)
	shards, merge := filepath.Join(deploy, "shards.yaml"), filepath.Join(deploy, "merge.yaml")
	s := startServe(t)
	for _, manifest := range []string{shards, merge} {
		s.send(t, "POST", "/apis/batch/v1/namespaces/default/jobs", read(t, manifest))
	}
	const worlds, args = "testdata/settles.txtar testdata/fights.txtar", "-n 160 --faults crash:1 --workers 1"
	settings := map[string]string{"WORLDS": worlds, "ARGS": args}
	for i := range 8 {
		if out, err := pod(t, shards, i, settings).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	c := pod(t, merge, 0, map[string]string{"ARGS": "--annotations"})
	out, _ := c.CombinedOutput()
	outcomeOf{c.ProcessState.ExitCode(), string(out), ""}.wants(t, scenarios.ExitFail, "::error", "testdata/settles: 160 schedules")
	for _, name := range []string{"campaign.html", "campaign.txt"} {
		if info, err := os.Stat("results/merged/" + name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	typed(t, "explore "+args+" --results one "+worlds)
	typed(t, "merge -o one.jsonl one")
	if one, all := read(t, "one.jsonl"), read(t, "results/merged/campaign.jsonl"); one != all {
		t.Errorf("the results of the campaign and of one run differ:\n%.600s\n%.600s", all, one)
	}
	bad := pod(t, shards, 8, settings)
	if out, _ := bad.CombinedOutput(); bad.ProcessState.ExitCode() != scenarios.ExitUsage {
		t.Errorf("a shard whose index is too large: %v\n%s", bad.ProcessState, out)
	}
}
