package cli

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every shell has a script that asks the program under its own name.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		got := cli(t, "completion", shell)
		if got.code != 0 || !strings.Contains(got.out, "threelaws") || !strings.Contains(got.out, "__complete") {
			t.Errorf("%s: exit %d\n%.200s%s", shell, got.code, got.out, got.err)
		}
		var j completionJSON
		err := json.Unmarshal([]byte(cli(t, "completion", shell, "--json").out), &j)
		if err != nil || j.Shell != shell || j.Script != got.out {
			t.Errorf("%s --json: %v", shell, err)
		}
	}
	got := cli(t, "completion", "--help")
	if got.code != 0 || !strings.Contains(got.out, "usage: threelaws completion") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestCompletions(t *testing.T) {
	work(t)
	for _, dir := range []string{".hidden", "orders"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"expl|", "explore"},
		{"run |", "orders/ testdata/ badinput/ bugs/ cronjob/ daemonset/ deployment/ disruption/ endpointslice/ job/ " +
			"manager/ mutants/ nodes/ orphan/ overlap/ podgc/ quota/ statefulset/ upgrade/"},
		{"run o|", "orders/ orphan/ overlap/"},
		{"run testdata/b|", "testdata/breaks.txtar"},
		{"run .h|", ".hidden/"},
		{"show overlap/adoption|", "overlap/adoption-lost"},
		{"show testdata/breaks.txtar |", ""},
		{"replay testdata/f|", "testdata/fights.txtar"},
		{"explore --strategy |", "exhaustive mix pct random"},
		{"explore --strategy=p|", "pct"},
		{"explore --era |", "binding controllerref current endless gated gated-without-gc selector"},
		{"explore --faults cr|", "crash:1"},
		{"explore --faults crash:1,lo|", "crash:1,lost:1"},
		{"explore --mutant replicaset/skip-re|", "replicaset/skip-recheck"},
		{"explore --laws never-fight,exact-s|", "never-fight,exact-status never-fight,exact-sum"},
		{"laws NOFIGHT|", "NOFIGHT-1 NOFIGHT-2 NOFIGHT-3"},
		{"laws --profile up|", "upstream"},
		{"serve --controllers replicaset,g|", "replicaset,garbage-collector replicaset,garbage-collector-controller " +
			"replicaset,garbagecollector replicaset,gc"},
		{"serve --controllers replicaset@c|", "replicaset@controllerref replicaset@current"},
		{"show --as t|", "timeline tree"},
		{"help sc|", "scenario"},
		{"help scenario set|", "settle"},
		{"help json ser|", "serve"},
		{"completion |", "bash fish powershell zsh"},
	} {
		words := strings.Split(strings.TrimSuffix(c.line, "|"), " ")
		got := cli(t, append([]string{"__completeNoDesc"}, words...)...)
		lines := strings.Split(strings.TrimSpace(got.out), "\n")
		var offered []string
		for _, l := range lines[:len(lines)-1] { // the last one is cobra's directive
			offered = append(offered, strings.TrimSpace(l))
		}
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(offered, want) {
				t.Errorf("%s: offers %s, want %s", c.line, offered, want)
			}
		}
		if len(offered) != len(strings.Fields(c.want)) {
			t.Errorf("%s: offers %s, want %s", c.line, offered, c.want)
		}
	}
}
