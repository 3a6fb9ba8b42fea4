package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// Skipped laws and cases are listed with their reasons. Violations of a skipped law are not reported.
func TestSkip(t *testing.T) {
	s := sample(widget(false, wrong{shares: true}))
	s.Skip = map[string]string{"dont-interfere": "issue 12", "faults": "slow"}
	plan := prepared(t, s)
	cases := explored(t, plan, "orphan")
	if slices.Contains(laws(cases[0].X), "dont-interfere") {
		t.Error("a law that is skipped is reported")
	}
	for _, v := range plan.Verdicts(cases) {
		if v.Name == "dont-interfere" && (v.State != check.Skipped || v.Why != "issue 12") {
			t.Errorf("the skipped law dont-interfere is %s: %s", v.State, v.Why)
		}
	}
	if c := caseOf(plan, "faults"); c.Skip != "slow" {
		t.Errorf("the case faults is skipped with the reason %q", c.Skip)
	}
}

// An accepted violation does not fail the test. The same violation in another case does.
func TestAccept(t *testing.T) {
	s := sample(widget(false, wrong{shares: true}))
	s.Accept = []Accept{{Law: "dont-interfere", Case: "orphan", Reason: "issue 12"}}
	r := &running{Subject: s}
	plan := prepared(t, s)
	for _, x := range []struct {
		of    string
		known bool
	}{{"orphan", true}, {"somebody-elses", false}} {
		told := check.Tried{Name: x.of}
		w := r.world(caseOf(plan, x.of), &told)
		if x.known {
			told.X = simtest.Check(t, w)
		} else if told.X, _ = w.Explore(t.Context(), x.of); w.Accept(told.X.Failures[0]) != "" {
			t.Errorf("%s: a violation that is not accepted counts as accepted", x.of)
		}
		if (len(told.Known) > 0) != x.known {
			t.Errorf("%s: the accepted violations are %v", x.of, told.Known)
		}
	}
}

// Settled is called at the end of each world, in addition to the checks of the case.
func TestSettled(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Settled = func(host.Client) error { return errors.New("it is not as it should be") }
	plan := prepared(t, s)
	for _, c := range explored(t, plan, "one-owner", "deleted/background") {
		if len(c.X.Failures) == 0 || !strings.Contains(c.X.Failures[0].Text, "it is not as it should be") {
			t.Errorf("%s: %s", c.Name, c.X.Text())
		}
	}
}

// Edits of the subject are tried first.
func TestEdits(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Edits = []string{"{spec: {size: 3, color: blue}}"}
	shows(t, prepared(t, s), "  follows     Edits[0], with 3 dependents in place of 2\n")
}

// Each of several samples is tested in a subtest, together with other controllers and objects.
func TestSeveral(t *testing.T) {
	s := sample(widget(false, wrong{}))
	set, _ := undeclared(t, "replicaset")
	s.Samples = append(s.Samples, sampleFile(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {size: 1}\n"))
	s.Files = []string{sampleFile(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\n")}
	s.Others, s.Schedules = []host.Controller{set}, 2
	Test(t, s)
}

// When the time is over, the remaining cases are skipped. The first case is always run.
func TestTime(t *testing.T) {
	s := sample(widget(false, wrong{}))
	s.Time = time.Nanosecond
	Test(t, s)
}
