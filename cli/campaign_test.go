package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// pod returns a process that runs a Job's container, with this binary as the command. values replace the manifest's.
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

// --era applies to each controller of the file that has this era, whether the file lists the controllers or says "all".
func TestRegenerate(t *testing.T) {
	for _, x := range []struct{ line, want string }{
		{"replicaset podgc", "replicaset@selector podgc"},
		{"rs@current,rc", "replicaset@selector replication@selector"},
		{"* -cronjob kubelet", "*@selector -cronjob kubelet"},
		{"all@current", "all@selector"},
	} {
		f, err := scenarios.Parse("f", []byte("controllers "+x.line+"\n"))
		must(t, err)
		if err := inEra(builtin.Registry(), f, "selector"); err != nil {
			t.Errorf("%s: %v", x.line, err)
		}
		if got := strings.Join(f.Steps[0].Words(), " "); got != x.want {
			t.Errorf("%s in selector is %s, want %s", x.line, got, x.want)
		}
	}
}

// The current era of all controllers keeps all laws in all scenarios, under schedules with faults. SOAK is the number
// of schedules, by default ten for each scenario. SOAKTIME gives the scenarios a common time limit instead. SOAKSHARD
// and SOAKRESULTS make the test one shard of a campaign.
func TestConformingEraKeepsTheLaws(t *testing.T) {
	files := wholeWorlds(t)
	total := 10 * len(files)
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 1 {
		total = n
	}
	each := total/len(files) + 1
	until := time.Time{}
	if d, err := time.ParseDuration(os.Getenv("SOAKTIME")); err == nil {
		until, each = time.Now().Add(d), 10_000_000
	}
	part, err := campaign.ParseShard(os.Getenv("SOAKSHARD"))
	must(t, err)
	faults := map[string]int{}
	for _, name := range host.FaultNames {
		faults[name] = 1
	}
	g := builtin.Registry()
	schedules := 0
	for i, f := range files {
		_ = inEra(g, f, "current") // it ignores files in which no controller has eras
		o := scenarios.ExploreOptions{Schedules: each, Seed: uint64(i), Faults: maps.Clone(faults), LawsOnly: true, Shard: part,
			Results: os.Getenv("SOAKRESULTS"), World: strings.TrimPrefix(f.Name, "../scenarios/testdata/")}
		if !until.IsZero() {
			end := time.Now().Add(time.Until(until) / time.Duration(len(files)-i))
			o.Enough = func(drawn int) bool { return drawn > 0 && time.Now().After(end) }
		}
		x, err := scenarios.Explore(context.Background(), f, -1, g, o)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		schedules += x.Schedules
		if !until.IsZero() {
			t.Logf("%s: %d schedules, %d distinct, %d violations", o.World, x.Schedules, x.Distinct, x.Failed)
		}
		for _, failing := range x.Failures {
			t.Errorf("%s: %s: %s\n%s", f.Name, failing.Law, failing.Text, failing.Page.Text())
		}
	}
	t.Logf("%d schedules of %d worlds", schedules, len(files))
}

// wholeWorlds returns the scenarios in which all controllers can run in one era.
func wholeWorlds(t *testing.T) []*scenarios.File {
	paths, err := walk("../scenarios/testdata")
	must(t, err)
	var files []*scenarios.File
	for _, path := range paths {
		f, err := scenarios.Load(path)
		must(t, err)
		if !slices.ContainsFunc(f.Steps, changesEra) { // such a scenario runs an older era on purpose
			files = append(files, f)
		}
	}
	return files
}

func changesEra(s *scenarios.Step) bool {
	return s.Verb == "switch" || s.Verb == "downgrade-server"
}
