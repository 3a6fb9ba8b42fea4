package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// What is skipped is named with its reason, and a wrong operator passes without it.
func TestSkip(t *testing.T) {
	s := sample(widget(false, wrong{shares: true}))
	s.Skip = map[string]string{"dont-interfere": "issue 12", "faults": "slow"}
	plan := prepared(t, s)
	c := placed(t, plan, "orphan")
	x, err := c.Explore(t.Context(), "orphan")
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(x.Failures, func(f *scenarios.Counterexample) bool { return f.Law == "dont-interfere" }) {
		t.Error("a law that is skipped is violated")
	}
	for _, v := range plan.Verdicts([]check.Tried{{Name: "orphan", X: x}}) {
		if v.Name == "dont-interfere" && (v.State != check.Skipped || v.Why != "issue 12") {
			t.Errorf("dont-interfere is %s: %s", v.State, v.Why)
		}
	}
	for _, c := range plan.Cases {
		if c.Name == "faults" && c.Skip != "slow" {
			t.Errorf("faults is skipped: %q", c.Skip)
		}
	}
}

// A known finding fails no test, and what is known of another case does.
func TestAccept(t *testing.T) {
	s := sample(widget(false, wrong{shares: true}))
	s.Accept = []Accept{{Law: "dont-interfere", Case: "orphan", Reason: "issue 12"}}
	r := &running{Subject: s}
	plan := prepared(t, s)
	for _, x := range []struct {
		of    string
		known bool
	}{{"orphan", true}, {"somebody-elses", false}} {
		c := plan.Cases[slices.Index(check.Names, x.of)]
		told := check.Tried{Name: c.Name}
		w := r.world(&c, &told)
		if x.known {
			told.X = simtest.Check(t, w)
		} else if told.X, _ = w.Explore(t.Context(), x.of); w.Accept(told.X.Failures[0]) != "" {
			t.Errorf("%s: what is not known is accepted", x.of)
		}
		if (len(told.Known) > 0) != x.known {
			t.Errorf("%s: known are %v", x.of, told.Known)
		}
	}
}

// Settled is called at the end of each world, beside what a case asks itself.
func TestSettled(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Settled = func(host.Client) error { return errors.New("it is not as it should be") }
	plan := prepared(t, s)
	for _, of := range []string{"one-owner", "deleted/background"} {
		c := placed(t, plan, of)
		x, err := c.Explore(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Failures) == 0 || !strings.Contains(x.Failures[0].Text, "it is not as it should be") {
			t.Errorf("%s: %s", of, x.Text())
		}
	}
}

// Edits that are given are tried first.
func TestEdits(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Edits = []string{"{spec: {size: 3, color: blue}}"}
	if shown := prepared(t, s).String(); !strings.Contains(shown, "  follows     Edits[0], with 3 dependents in place of 2\n") {
		t.Errorf("it is shown as\n%s", shown)
	}
}

// Numbers in lists of objects are edited: a controller that makes as many dependents as one of them says is scaled by it.
func TestNumbersInLists(t *testing.T) {
	undeclared, _ := bare(t, "statefulset")
	file := filepath.Join(t.TempDir(), "web.yaml")
	text := "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec: {replicas: 1, serviceName: web, " +
		"selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, " +
		"image: registry.example/web, ports: [{containerPort: 80}]}]}}}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := Subject{Controller: undeclared, Samples: []string{file}, With: []string{"kubelet"},
		Edits: []string{"{spec: {replicas: 2}}"}}
	if shown := prepared(t, s).String(); !strings.Contains(shown, "  follows     Edits[0], with 2 dependents in place of 1\n") ||
		!strings.Contains(shown, "  follows     spec.template.spec.containers[0].ports[0].containerPort: 80 -> 81\n") {
		t.Errorf("it is shown as\n%s", shown)
	}
}

// Several samples are tried, each in a subtest, beside further controllers and objects.
func TestSeveral(t *testing.T) {
	s := sample(widget(false, wrong{}))
	second := filepath.Join(t.TempDir(), "second.yaml")
	if err := os.WriteFile(second, []byte("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {size: 1}\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(t.TempDir(), "files.yaml")
	if err := os.WriteFile(files, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	set, _ := bare(t, "replicaset")
	s.Samples, s.Files, s.Others, s.Schedules = append(s.Samples, second), []string{files}, []host.Controller{set}, 2
	Test(t, s)
}

// When the time is over the cases that are left are skipped, and the first is tried all the same.
func TestTime(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Time = time.Nanosecond
	Test(t, s)
}
