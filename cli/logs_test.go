package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

const (
	auditLogs = "../internal/audit/testdata/"
	thief     = "system:serviceaccount:operators:op-one"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		out  string // a part of the output
	}{
		{auditLogs + "clean-rollout.log.gz", 0, "no law is"},
		{auditLogs + "steal.log.gz", 1, "--- claim-orphans-only violated 2 times by " + thief},
		{auditLogs + "configmap-war.log.gz", 1, "overwritten data.mode of tcbd743/cm/shared 48 times"},
		{auditLogs + "interferer.log.gz --human op-one$", 0, "no law is"},
		{auditLogs + "interferer.log.gz --office op-one$", 0, "no law is"},
		{auditLogs + "interferer.log.gz --at 19:46:59", 0, "no law is"},
		{auditLogs + "steal.log.gz --tree --at 19:46:53.3", 0, "rs/web\n├─ t3bd195/pod/web-w7wmh\n"},
		{auditLogs + "steal.log.gz --tree", 0, "cm/thief\n├─ t3bd195/pod/web-w7wmh\n"},
	} {
		got := typed(t, "judge "+c.args)
		got.wants(t, c.code, c.out)
		if got.err != "" {
			t.Error(got.err)
		}
	}
}

func TestJudgeJSON(t *testing.T) {
	got := typed(t, "judge --json "+auditLogs+"label-flapper.log.gz")
	var r struct {
		Violations []struct{ ID, Actor string }
		Fights     []struct{ Violators, Between []string }
		ExitCode   int
	}
	must(t, json.Unmarshal([]byte(got.out), &r))
	if len(r.Violations) != 1 || r.Violations[0].ID != "LAW-2" || len(r.Fights) != 1 || len(r.Fights[0].Violators) != 1 ||
		len(r.Fights[0].Between) != 2 || r.ExitCode != scenarios.ExitFail || got.code != scenarios.ExitFail {
		t.Errorf("%+v", r)
	}
}

// The page of a judged log shows the violations, the user accounts and the objects. The JUnit file has the violations.
func TestJudgePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.html")
	junit := filepath.Join(t.TempDir(), "junit.xml")
	typed(t, "judge --junit "+junit+" --html "+path+" "+auditLogs+"interferer.log.gz").wants(t, scenarios.ExitFail)
	outcomeOf{out: read(t, junit)}.passes(t, `type="dont-interfere"`)
	text := read(t, path)
	for _, want := range []string{`"law":"dont-interfere"`, `"law":"never-fight"`, `"who":"operators/op-one"`,
		`"name":"t36475e/rs/web"`, `"kind: ReplicaSet"`, `"at":"19:46:58.`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	typed(t, "judge --html nowhere/audit.html "+auditLogs+"interferer.log.gz").wants(t, 2, "dont-interfere", "--html: ")
}

// show can print a log in each format in which it prints a run.
func TestShowLog(t *testing.T) {
	war, steal := auditLogs+"configmap-war.log.gz", auditLogs+"steal.log.gz"
	for _, c := range []struct {
		args string
		want []string
	}{
		{war, []string{"times count from 2026-11-21T19:47:26.584Z\n",
			`update  tcbd743/cm/shared  data.mode: "none" -> "op1"`, "VIOLATES never-fight: "}},
		{steal, []string{"!     5  519.041ms  t3bd195/cm/thief  take over  t3bd195/pod/web-w7wmh",
			"VIOLATES dont-interfere: owned by rs/web"}},
		{"--at 4 " + steal, []string{"4  512.409ms"}},
		{"--as tree " + steal, []string{"t3bd195/cm/thief\n├─ t3bd195/pod/web-w7wmh\n"}},
		{"--as tree --at 4 " + steal, []string{"t3bd195/rs/web\n├─ t3bd195/pod/web-w7wmh\n"}},
		{"--as dot " + war, []string{`label="operators/op-two", color=red`}},
		{"--as json " + war, []string{`"process":"operators/op-two"`, `"mode":"op1"`}},
		{"--json " + war, []string{`"process":"operators/op-two"`}},
		{"--as html " + war, []string{`"law":"never-fight"`, "threelaws judge " + war, `"at":"19:47:26.`}},
		{"--as svg " + war, []string{"never-fight is violated at step 8"}},
	} {
		got := typed(t, "show "+c.args)
		got.passes(t)
		for _, want := range c.want {
			if !strings.Contains(got.out, want) {
				t.Errorf("show %s: no %q in\n%.2000s", c.args, want, got.out)
			}
		}
	}
	if got := typed(t, "show --at 4 "+steal); strings.Contains(got.out, "take over") {
		t.Errorf("the timeline goes on after its step:\n%s", got.out)
	}
}

// No output format passes control characters of a log on to the terminal.
func TestShowLogIsPlain(t *testing.T) {
	const evil = "\\u001b[31m\\u202e\\u0000"
	event := `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","stageTimestamp":` +
		`"2026-11-21T10:00:0%d.000000Z","verb":"%s","user":{"username":"a` + evil + `"},"objectRef":{"resource":` +
		`"configmaps","namespace":"t","name":"c` + evil + `"},"responseStatus":{"code":%d},"requestObject":{},` +
		`"responseObject":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c` + evil + `","namespace":"t",` +
		`"uid":"u","resourceVersion":"%d","annotations":{"k":"v` + evil + `%[1]d"}},"data":{"m":"` + evil + `%[1]d"}}}` +
		"\n"
	path := filepath.Join(t.TempDir(), "audit.log")
	log := fmt.Sprintf(event, 1, "create", 201, 11) + fmt.Sprintf(event, 2, "update", 200, 12)
	write(t, path, log)
	for _, as := range []string{"timeline", "tree", "dot", "svg"} {
		got := typed(t, "show --as "+as+" "+path)
		if strings.ContainsAny(got.out+got.err, "\x00\x1b\u202e") || !strings.Contains(got.out, `\x1b[31m`) {
			t.Errorf("--as %s: %q %s", as, got.out, got.err)
		}
	}
}

// The error for a bad log names the file and the mistake. show reads any other text as a scenario file.
func TestBadLogs(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	whole := read(t, auditLogs+"steal.log.gz")
	event := `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"RequestReceived"}` + "\n"
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"judge", "an audit log must be given", 2},
		{"judge " + filepath.Join(dir, "none.log"), "none.log: ", 2},
		{"judge " + dir, "a directory; name the files in it", 2},
		{"judge " + file("binary.log", "\x7fELF\x00\x01\n\x00"), "none of its 2 lines is an audit.k8s.io/v1 event", 2},
		{"judge " + file("list.log", `{"kind":"EventList","apiVersion":"audit.k8s.io/v1"}`), "none of its 1 lines", 2},
		{"judge " + file("empty.log", ""), "it is empty", 5},
		{"judge " + file("cut.log.gz", whole[:5000]), "the gzip stream is cut off", 1},
		{"judge " + file("head.log.gz", whole[:4]), "head.log.gz: ", 2},
		{"judge --human ( x", "--human: ", 2},
		{"judge --at noon " + auditLogs + "steal.log.gz", "not a time", 2},
		{"show " + file("cut.log.gz", whole[:5000]), "the gzip stream is cut off", 0},
		{"show " + file("broken.log", event+`{"kind":"Ev`), "skipped: ", 0},
		{"show " + file("other.log", "\n {}\n"), "none of its 2 lines is an audit.k8s.io/v1 event", 2},
		{"show " + file("head.log.gz", whole[:4]), "head.log.gz: ", 2},
		{"show " + file("text.log", "Nov 21 19:46:52 node kubelet: started\n"), "unknown verb Nov", 2},
	} {
		typed(t, c.line).wants(t, c.code, c.want)
	}
}
