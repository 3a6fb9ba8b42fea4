package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log is shown in every form that a run has: whose doing it was, what it changed, what it broke.
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
		{"--as svg " + war, []string{"never-fight is broken at step 8"}},
	} {
		got := typed(t, "show "+c.args)
		if got.code != 0 || got.err != "" {
			t.Errorf("show %s: exit %d: %s", c.args, got.code, got.err)
		}
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

// What is in a log does not reach the terminal as what it would obey, in whatever form it is shown.
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
	if err := os.WriteFile(path, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, as := range []string{"timeline", "tree", "dot", "svg"} {
		got := typed(t, "show --as "+as+" "+path)
		if strings.ContainsAny(got.out+got.err, "\x00\x1b\u202e") || !strings.Contains(got.out, `\x1b[31m`) {
			t.Errorf("--as %s: %q %s", as, got.out, got.err)
		}
	}
}

// What is wrong with a log is told, as judge tells it; what begins otherwise is a scenario file.
func TestShowBadLog(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, err := os.ReadFile(auditLogs + "steal.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	event := `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"RequestReceived"}` + "\n"
	for _, c := range []struct {
		file, want string
		code       int
	}{
		{write("cut.log.gz", string(whole[:5000])), "the gzip stream is cut off", 0},
		{write("broken.log", event+`{"kind":"Ev`), "passed over: ", 0},
		{write("other.log", "\n {}\n"), "none of its 2 lines is an audit.k8s.io/v1 event", 2},
		{write("head.log.gz", string(whole[:4])), "head.log.gz: ", 2},
		{write("text.log", "Nov 21 19:46:52 node kubelet: started\n"), "unknown verb Nov", 2},
	} {
		if got := typed(t, "show "+c.file); got.code != c.code || !strings.Contains(got.err, c.want) {
			t.Errorf("show %s: exit %d: %q, want exit %d with %q", c.file, got.code, got.err, c.code, c.want)
		}
	}
}
