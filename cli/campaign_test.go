package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// kubelet creates the Job of a manifest, and runs its Pods as processes until the Job has ended. Their commands are
// scripts beside the manifest. The first Pod of index 0 runs ./killed. pods is the number of Pods by index.
func (s *served) kubelet(t *testing.T, manifest string, edit *strings.Replacer) (j batchv1.Job, pods map[string]int) {
	t.Helper()
	text := edit.Replace(read(t, manifest))
	must(t, yaml.UnmarshalStrict([]byte(text), &j))
	s.send(t, "POST", jobsPath, text)
	pods = map[string]int{}
	eventually(t, func() string {
		var list corev1.PodList
		must(t, json.Unmarshal([]byte(s.get(t, podsPath).body), &list))
		for _, p := range list.Items {
			if p.Labels[batchv1.JobNameLabel] != j.Name || p.Status.Phase != corev1.PodPending {
				continue
			}
			index, program, container := p.Annotations[batchv1.JobCompletionIndexAnnotation], os.Args[0], p.Spec.Containers[0]
			if pods[index]++; index == "0" && pods[index] == 1 {
				program = "./killed"
			}
			c := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(filepath.Dir(manifest), container.Command[0]))
			c.Env = append(os.Environ(), "THREELAWS="+program, "THREELAWS_AS_COMMAND=1", "THREELAWS_SAVE_EVERY=1ms", "CI=", "GITHUB_ACTIONS=")
			var before []string
			for _, e := range container.Env {
				if e.ValueFrom != nil {
					e.Value = index // the manifest reads only the index
				}
				c.Env = append(c.Env, e.Name+"="+strings.NewReplacer(before...).Replace(e.Value))
				before = append(before, "$("+e.Name+")", e.Value)
			}
			phase := corev1.PodSucceeded
			if c.Run() != nil {
				phase = corev1.PodFailed
			}
			s.send(t, "PATCH", podsPath+"/"+p.Name+"/status", fmt.Sprintf(`[{"op":"replace","path":"/status/phase","value":%q}]`, phase))
		}
		must(t, json.Unmarshal([]byte(s.get(t, jobsPath+"/"+j.Name).body), &j))
		if !slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
		}) {
			return fmt.Sprintf("%s does not end: %v, %+v", j.Name, pods, j.Status)
		}
		return ""
	})
	return j, pods
}

// The Jobs of a campaign complete. Their merged result has the same bytes as one run without shards. The Pod of a
// killed process is replaced. CAMPAIGN_SERVER is the URL of a server with another Job controller, such as upstream's.
func TestCampaign(t *testing.T) {
	deploy, err := filepath.Abs("../deploy/campaign")
	must(t, err)
	work(t)
	s := &served{url: os.Getenv("CAMPAIGN_SERVER")}
	if s.url == "" {
		s = startServe(t, "--controllers", "job", "--realtime=false")
	}
	const worlds, args = "testdata/settles.txtar testdata/fights.txtar", "--seed 7 -n 203 --era selector --faults crash:1"
	edit := strings.NewReplacer("value: /results", "value: results", "/scenarios", worlds, "-n 100000 --memory 1500", args+" --workers 1")
	must(t, os.WriteFile("killed", []byte("#!/bin/sh\n"+os.Args[0]+` "$@" & until ls results/*.jsonl; do :; done; kill -9 $!; exit 137`), 0o755))
	j, pods := s.kubelet(t, filepath.Join(deploy, "shards.yaml"), edit)
	if fmt.Sprint(pods) != "map[0:2 1:1 2:1 3:1 4:1 5:1 6:1 7:1]" || j.Status.CompletedIndexes != "0-7" || j.Status.Failed != 1 {
		t.Errorf("the Pods of each index: %v, the Job: %+v", pods, j.Status)
	}
	j, pods = s.kubelet(t, filepath.Join(deploy, "merge.yaml"), edit)
	if pods[""] != 1 || j.Status.Failed != 1 { // it fails because laws are violated
		t.Errorf("the Pods that merge: %v, the Job: %+v", pods, j.Status)
	}
	typed(t, "explore --out results/merged/failures --results one "+args+" "+worlds)
	one := typed(t, "merge -o one.jsonl --out results/merged/failures --html one.html one")
	must(t, os.WriteFile("one.txt", []byte(one.out), 0o644))
	for _, ext := range []string{".jsonl", ".html", ".txt"} {
		if all, alone := read(t, "results/merged/campaign"+ext), read(t, "one"+ext); all != alone {
			t.Errorf("the files %s of eight shards and of one run differ:\n%.600s\n%.600s", ext, all, alone)
		}
	}
	one.wants(t, scenarios.ExitFail, "203 schedules, ", "(95 % interval: ")
	typed(t, "merge --annotations one").wants(t, scenarios.ExitFail, "::error")
	replays := regexp.MustCompile("replay: threelaws (.*)").FindAllStringSubmatch(one.out, -1)
	for _, r := range replays {
		typed(t, r[1]).wants(t, scenarios.ExitFail, "reproduced")
	}
	if len(replays) < 2 {
		t.Errorf("%d replays in\n%s", len(replays), one.out)
	}
}

// --era applies to each controller of the file that has this era. The file may list the controllers or say "all".
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
