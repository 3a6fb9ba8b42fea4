package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

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
		{"seed: 1\ntime: soon\n", "", "threelaws.yaml:2: time: cannot unmarshal !!str `soon` into time.Duration"},
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

// With --main, a scenario file can use the operator as a controller.
func TestMainOfFiles(t *testing.T) {
	op := current(t, "replicaset")
	op.Name = "operator"
	c := newChecked(t, op)
	write(t, "web.txtar", "apply set.yaml\ncontrollers operator gc\nsettle\n\n-- set.yaml --\n"+set)
	c.runs("explore", "-n", "5", "--main", "./cmd/manager", "web.txtar").wants(t, 0, "0 violations")
	if c.settings.Package != "./cmd/manager" {
		t.Errorf("the main package is %q", c.settings.Package)
	}
	c.runs("explore", "web.txtar").wants(t, scenarios.ExitUsage)
}

// The output names a skipped case or law with the reason. A flag overrides threelaws.yaml.
func TestCheckSkips(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	write(t, "threelaws.yaml", "skip:\n  faults: it is slow\n")
	args := []string{"-n", "2", "--case", "one-owner,faults"}
	c.run(args...).passes(t, "  faults                 skipped: it is slow\n")
	c.run(append(args, "--skip", "exact-sum=issue 12", "--skip", "edit=b")...).passes(t,
		"  faults                 2 schedules, ", "\nskipped\n  NOFIGHT-3  exact-sum  issue 12\n")
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
	if got, want := hosted.again("f"), "threelaws check --test TestX --sample a.yaml --sample b.yaml --replay f"; got != want {
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

// A program finds the files of its repository by a relative path, and by the absolute path that it makes of that path.
// A volume that shows no Secret and no ConfigMap is an empty folder of the program.
func TestCheckGivesFilesAndFolders(t *testing.T) {
	newChecked(t, host.Controller{})
	write(t, "go.mod", "module example.com/operator\n\ngo 1.25\n")
	write(t, "main.go", `package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	err := os.WriteFile("/data/file", nil, 0o600)
	for _, path := range []string{"/data/file", "config/default/manager.yaml", abs("config/default/manager.yaml")} {
		if err == nil {
			_, err = os.Stat(path)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println("all is there")
	for {
		time.Sleep(time.Hour)
	}
}

func abs(path string) string {
	path, _ = filepath.Abs(path)
	return path
}
`)
	write(t, "config/default/kustomization.yaml", "resources: [manager.yaml]\n")
	write(t, "config/default/manager.yaml", `apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: default}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      containers:
      - name: manager
        image: operator
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`)
	Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml").wants(t, scenarios.ExitUsage,
		"operator has written nothing", "the last lines that it printed: all is there")
}

// If the operator never stops writing, its last error is printed, because the cause may be something that it lacks.
func TestCheckUnsettledSaysWhy(t *testing.T) {
	newChecked(t, host.Controller{})
	write(t, "go.mod", "module example.com/operator\n\ngo 1.25\n")
	write(t, "main.go", `package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func main() {
	for n := 0; ; n++ {
		body := fmt.Sprintf("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%d\"}}", n)
		r, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && r.StatusCode == http.StatusOK {
			http.Post("http://apiserver/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(body))
		}
		fmt.Println("ERROR no cloud")
		time.Sleep(time.Second)
	}
}
`)
	got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "--case", "one-owner", "-n", "1")
	if !strings.Contains(got.out, "so no other facts were derived; the last error that it logged: ERROR no cloud") {
		t.Errorf("the error is missing:\n%s%s", got.out, got.err)
	}
}

// If a creation is refused in each retry, but the program prints another error, then this other error causes the retries.
// The operator settles. If the program prints the refusal, it does not settle.
func TestCheckRetries(t *testing.T) {
	for printed, settles := range map[string]bool{"`ERROR no such architecture`": true, "`ERROR ` + string(answer)": false} {
		newChecked(t, host.Controller{})
		write(t, "go.mod", "module example.com/operator\n\ngo 1.25\n")
		write(t, "main.go", `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func main() {
	go func() {
		for range time.Tick(time.Minute) { // like a leader that renews its Lease
			http.Get("http://apiserver/api/v1/namespaces/default")
		}
	}()
	wait := time.Second
	for {
		set, err := http.Get("http://apiserver/apis/apps/v1/namespaces/default/replicasets/web")
		if err == nil && set.StatusCode == http.StatusOK {
			body := "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"}}"
			made, _ := http.Post("http://apiserver/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(body))
			answer, _ := io.ReadAll(made.Body)
			fmt.Println(`+printed+`, len(answer))
			wait = min(2*wait, 1000*time.Second)
		}
		time.Sleep(wait)
	}
}
`)
		got := Command{}.try(t.Context(), "check", "--sample", "config/samples/web.yaml", "--case", "one-owner", "-n", "1")
		if strings.Contains(got.out, "does not settle") == settles {
			t.Errorf("the program prints %s:\n%s%s", printed, got.out, got.err)
		}
	}
}
