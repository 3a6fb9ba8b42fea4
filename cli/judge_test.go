package cli

import (
	"encoding/json"
	"os"
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
		out  string // in what is printed
	}{
		{auditLogs + "clean-rollout.log.gz", 0, "no law is broken"},
		{auditLogs + "steal.log.gz", 1, "--- claim-orphans-only broken 2 times by " + thief},
		{auditLogs + "configmap-war.log.gz", 1, "overwritten data.mode of tcbd743/cm/shared 48 times"},
		{auditLogs + "interferer.log.gz --human op-one$", 0, "no law is"},
		{auditLogs + "interferer.log.gz --office op-one$", 0, "no law is"},
		{auditLogs + "interferer.log.gz --at 19:46:59", 0, "no law is"},
		{auditLogs + "steal.log.gz --tree --at 19:46:53.3", 0, "rs/web\n├─ t3bd195/pod/web-w7wmh\n"},
		{auditLogs + "steal.log.gz --tree", 0, "cm/thief\n├─ t3bd195/pod/web-w7wmh\n"},
	} {
		got := typed(t, "judge "+c.args)
		if got.code != c.code || !strings.Contains(got.out, c.out) || got.err != "" {
			t.Errorf("judge %s: exit %d\n%s%s", c.args, got.code, got.out, got.err)
		}
	}
}

func TestJudgeJSON(t *testing.T) {
	got := typed(t, "judge --json "+auditLogs+"label-flapper.log.gz")
	var r struct {
		Breaches []struct{ ID, Actor string }
		Fights   []struct{ Culprits, Between []string }
		ExitCode int
	}
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Breaches) != 1 || r.Breaches[0].ID != "LAW-2" || len(r.Fights) != 1 || len(r.Fights[0].Culprits) != 1 ||
		len(r.Fights[0].Between) != 2 || r.ExitCode != scenarios.ExitFail || got.code != scenarios.ExitFail {
		t.Errorf("%+v", r)
	}
}

// The page of a log has what was found, whose doing it was, and the objects as they were.
func TestJudgePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.html")
	got := typed(t, "judge --html "+path+" "+auditLogs+"interferer.log.gz")
	if got.code != scenarios.ExitFail || got.err != "" {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"law":"dont-interfere"`, `"law":"never-fight"`, `"who":"operators/op-one"`,
		`"name":"t36475e/rs/web"`, `"kind: ReplicaSet"`, `"at":"19:46:58.`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if got := typed(t, "judge --html nowhere/audit.html "+auditLogs+"interferer.log.gz"); got.code != 2 ||
		!strings.Contains(got.err, "--html: ") || !strings.Contains(got.out, "dont-interfere") {
		t.Errorf("where it cannot be written: exit %d: %s\n%s", got.code, got.err, got.out)
	}
}

// What is no audit log is told by name, and by what is wrong with it.
func TestJudgeBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, err := os.ReadFile(auditLogs + "steal.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "an audit log must be given"},
		{filepath.Join(dir, "none.log"), 2, "none.log: "},
		{dir, 2, "a directory; name the files in it"},
		{write("binary.log", "\x7fELF\x00\x01\n\x00"), 2, "none of its 2 lines is an audit.k8s.io/v1 event"},
		{write("list.log", `{"kind":"EventList","apiVersion":"audit.k8s.io/v1"}`), 2, "none of its 1 lines"},
		{write("empty.log", ""), 5, "it is empty"},
		{write("cut.log.gz", string(whole[:5000])), 1, "the gzip stream is cut off"},
		{write("head.log.gz", string(whole[:4])), 2, "head.log.gz: "},
		{"--human ( x", 2, "--human: "},
		{"--at noon " + auditLogs + "steal.log.gz", 2, "no time"},
	} {
		got := typed(t, "judge "+c.args)
		if got.code != c.code || !strings.Contains(got.out+got.err, c.want) {
			t.Errorf("judge %s: exit %d\n%s%s", c.args, got.code, got.out, got.err)
		}
	}
}

func TestJudgeJUnit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junit.xml")
	typed(t, "judge --junit "+file+" "+auditLogs+"no-controllerref.log.gz")
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), `type="take-ownership"`) {
		t.Errorf("%v: %s", err, b)
	}
}
