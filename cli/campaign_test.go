package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/scenarios"
)

// engine is the folder with what engines run.
const engine = "../deploy/campaign/"

// script is a step of a campaign, with this program as the command.
func script(t *testing.T, ctx context.Context, dir, name string, env ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, "/bin/sh", path)
	c.WaitDelay = time.Second
	c.Env = append(os.Environ(), append(env, "THREELAWS="+os.Args[0], "THREELAWS_AS_COMMAND=1", "CI=", "GITHUB_ACTIONS=")...)
	return c
}

// The steps of the workflow, and of any other engine, run here as they are there.
func TestCampaignSteps(t *testing.T) {
	deploy, err := filepath.Abs(engine)
	if err != nil {
		t.Fatal(err)
	}
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

// podRunner plays the kubelet: it runs the Pods of Jobs as processes.
type podRunner struct {
	*served
	t       *testing.T
	deploy  string
	results string
	kill    string // the index whose first process is killed

	mu      sync.Mutex
	started map[string]int // by index: how many processes
	known   map[string]bool
}

func (k *podRunner) send(method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, k.url+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s %w", method, path, resp.Status, text, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// create creates the Job of a manifest, after a change.
func (k *podRunner) create(name string, change func(env []corev1.EnvVar)) {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.deploy, name))
	var j batchv1.Job
	if err == nil {
		err = yaml.UnmarshalStrict(text, &j)
	}
	if err == nil {
		change(j.Spec.Template.Spec.Containers[0].Env)
		err = k.send(http.MethodPost, "/apis/batch/v1/namespaces/default/jobs", &j, nil)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

// complete runs Pods until a Job is complete.
func (k *podRunner) complete(job string) batchv1.Job {
	k.t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var pods corev1.PodList
		var j batchv1.Job
		if err := k.send(http.MethodGet, "/api/v1/namespaces/default/pods", nil, &pods); err != nil {
			k.t.Fatal(err)
		}
		for _, p := range pods.Items {
			if !k.known[p.Name] && p.DeletionTimestamp == nil {
				k.known[p.Name] = true
				go k.run(p)
			}
		}
		if err := k.send(http.MethodGet, "/apis/batch/v1/namespaces/default/jobs/"+job, nil, &j); err != nil {
			k.t.Fatal(err)
		}
		for _, c := range j.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
				return j
			}
		}
	}
	k.t.Fatalf("the Job %s does not end", job)
	return batchv1.Job{}
}

// run is the container of a Pod.
func (k *podRunner) run(p corev1.Pod) {
	index := p.Annotations["batch.kubernetes.io/job-completion-index"]
	values := map[string]string{}
	var env []string
	for _, e := range p.Spec.Containers[0].Env {
		v := e.Value
		if e.ValueFrom != nil {
			v = index
		}
		for name, old := range values {
			v = strings.ReplaceAll(v, "$("+name+")", old)
		}
		values[e.Name] = strings.ReplaceAll(v, "/results", k.results)
		env = append(env, e.Name+"="+values[e.Name])
	}
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	c := script(k.t, ctx, k.deploy, p.Spec.Containers[0].Command[0], append(env, "THREELAWS_SAVE_EVERY=5ms")...)
	k.mu.Lock()
	k.started[index]++
	if index == k.kill && k.started[index] == 1 {
		time.AfterFunc(300*time.Millisecond, cancel) // the node is lost
	}
	k.mu.Unlock()
	phase := corev1.PodSucceeded
	if c.Run() != nil {
		phase = corev1.PodFailed
	}
	status := corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(c.ProcessState.ExitCode())}}}}}
	if err := k.send(http.MethodPatch, "/api/v1/namespaces/default/pods/"+p.Name+"/status",
		map[string]any{"status": status}, nil); err != nil && k.t.Context().Err() == nil {
		k.t.Error(err)
	}
}

// The manifests run to their end with a Job controller: each index once, the index of a killed Pod again, and the merge
// of all is that of one run. The test is the kubelet, and starts a process for each Pod.
func TestCampaignJob(t *testing.T) {
	deploy, err := filepath.Abs(engine)
	if err != nil {
		t.Fatal(err)
	}
	work(t)
	k := &podRunner{served: startServe(t, "--controllers", "job"), t: t, deploy: deploy, results: "results", kill: "3",
		started: map[string]int{}, known: map[string]bool{}}
	set := func(name, value string) func([]corev1.EnvVar) {
		return func(env []corev1.EnvVar) {
			for i := range env {
				switch env[i].Name {
				case name:
					env[i].Value = value
				case "WORLDS":
					env[i].Value = "testdata/settles.txtar"
				}
			}
		}
	}
	k.create("shards.yaml", set("ARGS", "-n 1600 --faults crash:1 --workers 1"))
	j := k.complete("campaign")
	if j.Status.Succeeded != 8 || j.Status.CompletedIndexes != "0-7" {
		t.Errorf("the Job ends with %+v", j.Status)
	}
	for index, n := range k.started {
		if want := map[bool]int{true: 2, false: 1}[index == k.kill]; n != want {
			t.Errorf("index %s was started %d times, want %d", index, n, want)
		}
	}
	k.create("merge.yaml", set("", ""))
	if j := k.complete("campaign-merge"); j.Status.Succeeded != 1 {
		t.Errorf("the merge ends with %+v", j.Status)
	}
	cli(t, strings.Fields("explore -n 1600 --faults crash:1 --results one testdata/settles.txtar")...)
	typed(t, "merge -o one.jsonl one")
	a, err1 := os.ReadFile("results/merged/campaign.jsonl")
	b, err2 := os.ReadFile("one.jsonl")
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("the campaign is not one run: %v %v\n%.600s\n%.600s", err1, err2, a, b)
	}
}
