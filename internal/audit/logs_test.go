package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/audit"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

const (
	opOne = "system:serviceaccount:operators:op-one"
	opTwo = "system:serviceaccount:operators:op-two"
)

// recorded contains logs of a real control plane, with the expected violations, actors and fights.
var recorded = []struct {
	name      string
	violators string // in order of their first violation
	laws      string // with counts
	fights    string
}{
	{"clean-rollout", "", "", ""},
	{"job-run", "", "", ""},
	{"orphan-then-adopt", "", "", ""},
	{"two-rs-one-selector", "", "", ""},
	{"steal", opOne, "LAW-1b 2, LAW-2 2", ""},
	{"interferer", opOne, "LAW-2 20", "op-one, replicaset-controller: the pods of rs/web"},
	{"label-flapper", opOne, "LAW-2 8", "op-one, replicaset-controller: owner and labels of pod/web-n6rdv"},
	{"no-controllerref", opOne, "LAW-1 3", ""},
	{"configmap-war", opOne + " " + opTwo, "", "op-one, op-two: data.mode of cm/shared"},
}

var known = func() []audit.Controller {
	server := fakeapi.New(fakeapi.Options{})
	return audit.Hosted(controllers.Builtin(), func(gvk schema.GroupVersionKind) runtime.Object {
		return server.Kind(gvk).New()
	})
}()

func options() audit.Options { return audit.Options{Controllers: known, Laws: law.All()} }

// judged judges the log in these files.
func judged(t testing.TB, o audit.Options, files ...string) *audit.Report {
	t.Helper()
	s := audit.NewSource()
	for _, f := range files {
		if err := s.Open(f); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, o, s).Report(s)
}

func run(t testing.TB, o audit.Options, s *audit.Source) *audit.Auditor {
	t.Helper()
	a := audit.New(o)
	if err := a.Run(s, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	return a
}

// judgedText judges logs that are given as text.
func judgedText(t testing.TB, logs ...io.Reader) *audit.Report {
	t.Helper()
	s := audit.NewSource()
	for i, r := range logs {
		if err := s.Add(fmt.Sprintf("log%d", i), r); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, options(), s).Report(s)
}

// short summarizes a report.
func short(r *audit.Report) (violators, laws, fights string) {
	var l, f []string
	for _, b := range r.Violations {
		l = append(l, fmt.Sprintf("%s %d", b.ID, b.Count))
	}
	for _, x := range r.Fights {
		var who []string
		for _, w := range x.Between {
			who = append(who, w[strings.LastIndex(w, ":")+1:])
		}
		what := x.What
		for _, word := range strings.Fields(what) {
			if a, rest, ok := strings.Cut(word, "/"); ok && strings.HasPrefix(a, "t") && strings.Contains(rest, "/") {
				what = strings.Replace(what, word, rest, 1)
			}
		}
		f = append(f, strings.Join(who, ", ")+": "+what)
	}
	return strings.Join(r.Violators(), " "), strings.Join(l, ", "), strings.Join(f, "; ")
}

func TestRecordedLogs(t *testing.T) {
	for _, c := range recorded {
		t.Run(c.name, func(t *testing.T) {
			r := judged(t, options(), "testdata/"+c.name+".log.gz")
			violators, laws, fights := short(r)
			if violators != c.violators || laws != c.laws || fights != c.fights {
				t.Errorf("violators %q, laws %q, fights %q", violators, laws, fights)
			}
			if r.Judged == 0 || r.Violated != (c.violators != "") {
				t.Errorf("%d of %d writes are judged, a law is violated: %v", r.Judged, r.Writes, r.Violated)
			}
			for _, b := range append(r.Violations, r.Doubtful...) {
				t.Logf("%s %s %d doubt %v: %s %v %v", b.ID, b.Actor, b.Count, b.Doubt, b.Text, b.Objects, b.Story)
			}
			for _, l := range r.Left {
				t.Logf("left %+v", *l)
			}
			for _, f := range r.Fights {
				t.Logf("%+v", *f)
			}
		})
	}
}

// A takeover without a resource version in its request violates API-6. This is reported only if the log contains the
// request. A log that was derived from a watch does not show preconditions.
func TestWatchedRequests(t *testing.T) {
	s := newStory()
	s.web()
	s.does("alice", "create", "ConfigMap/mine", nil)
	s.does(opOne, "patch", "Pod/p", set{"metadata.ownerReferences": s.by("ConfigMap/mine")})
	watched := bytes.ReplaceAll(s.b.Bytes(), []byte(`"apiVersion":"audit.k8s.io/v1"`),
		[]byte(`"annotations":{"threelaws.example/from":"watch"},"apiVersion":"audit.k8s.io/v1"`))
	for _, c := range []struct {
		log  []byte
		want string
	}{{s.b.Bytes(), "LAW-1b LAW-2 API-6"}, {watched, "LAW-1b LAW-2"}} {
		var got []string
		for _, b := range judgedText(t, bytes.NewReader(c.log)).Violations {
			got = append(got, b.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("broken: %v, want %s", got, c.want)
		}
	}
}

// A log may begin at any event. A part of a log reports only actors that the whole log reports. An actor that restores
// its own object is not reported for a fight, even if the beginning of the fight is missing.
func TestALogMayBeginAnywhere(t *testing.T) {
	for _, c := range recorded {
		lines := whole(t, c.name)
		for from := 0; from < len(lines); from += 3 {
			report := judgedLines(t, lines[from:])
			for _, who := range report.Violators() {
				if !strings.Contains(c.violators, who) {
					t.Fatalf("%s from line %d on: %s is reported: %s", c.name, from+1, who, report.Text(120))
				}
			}
		}
	}
}

// If two actors repeatedly take a pod from each other, the only finding is a fight between both. A takeover is not
// reported in addition, because it is chance which actor was last.
func TestTakenToAndFro(t *testing.T) {
	s := newStory()
	s.does("alice", "create", "App/a", nil)
	s.does("alice", "create", "Tool/b", nil)
	s.does(opOne, "create", "Pod/p", set{"metadata.ownerReferences": s.by("App/a")})
	for range 5 {
		s.does(opTwo, "update", "Pod/p", set{"metadata.ownerReferences": s.by("Tool/b")})
		s.does(opOne, "update", "Pod/p", set{"metadata.ownerReferences": s.by("App/a")})
	}
	r := judgedText(t, &s.b)
	if len(r.Fights) != 1 || r.Fights[0].Owner != "" || strings.Join(r.Fights[0].Violators, " ") != opOne+" "+opTwo {
		t.Errorf("%s", r.Text(120))
	}
	if violators := r.Violators(); violators[0] != opTwo {
		t.Errorf("the first program that takes the object is not the first violator: %v", violators)
	}
}

// If the contested object exists before the log begins, managedFields shows who wrote its owner. Without managedFields,
// the report says that this is unknown, and blames both.
func TestViolatorsOfAFightWithoutItsBeginning(t *testing.T) {
	for _, managed := range []bool{true, false} {
		s := newStory()
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "ConfigMap/c", set{"metadata.ownerReferences": s.by("App/a"), "data": set{"m": "0"}})
		if managed {
			put(s.objects["ConfigMap/c"], "metadata.managedFields", []any{set{"manager": "op-one",
				"operation": "Update", "fieldsV1": set{"f:metadata": set{"f:ownerReferences": set{}}}}})
		}
		s.b.Reset()
		for range 6 {
			s.does(opTwo, "patch", "ConfigMap/c", set{"data": set{"m": "2"}})
			s.does(opOne, "patch", "ConfigMap/c", set{"data": set{"m": "1"}})
		}
		r := judgedText(t, &s.b)
		want, says := opOne+" "+opTwo, "the log does not show which of them is its controller"
		if managed {
			want, says = opTwo, "its owner is app/a, so "+opTwo+" should not write it"
		}
		if len(r.Fights) != 1 || strings.Join(r.Violators(), " ") != want ||
			!strings.Contains(strings.Join(strings.Fields(r.Text(100)), " "), says) {
			t.Errorf("with managedFields: %t; wrong fights, violators or text:\n%s", managed, r.Text(100))
		}
	}
}

// Text in a log cannot control the terminal, and cannot imitate a line of a report.
func TestTextIsPlain(t *testing.T) {
	const forged = "\n--- dont-interfere violated by alice\u2028"
	for _, evil := range []string{"\x1b[31m\u202e", "\x1b[31m\u202e" + forged} {
		name, long := "p"+evil, strings.Repeat(evil, 30)
		s := newStory()
		s.does("alice", "create", "ReplicaSet/web", set{"spec": set{"replicas": 1,
			"selector": set{"matchLabels": set{"app": "x"}}}})
		s.does(rsc, "create", "Pod/"+name, set{"metadata.labels": set{"app": "x", evil: evil},
			"metadata.ownerReferences": s.by("ReplicaSet/web"), "spec": set{"image": "a", evil: "a"}})
		for i := range 5 {
			for k, who := range []string{opOne + evil, opTwo + evil} {
				v := evil + string(rune('a'+k))
				s.does(who, "patch", "Pod/"+name, set{"metadata.labels": set{"app": v},
					"spec":                 set{"image": v, evil: v},
					"metadata.annotations": set{evil: v, "long": long + v, "n": string(rune('a' + i))}})
			}
		}
		// A log from another encoder contains the raw character.
		for _, log := range []string{s.b.String(), strings.ReplaceAll(s.b.String(), `\u001b`, "\x1b")} {
			r := judgedText(t, strings.NewReader(log))
			text := r.Text(100)
			line := strings.TrimRight(forged, "\u2028")
			if strings.ContainsAny(text, "\x1b\u202e\u2028\x00") || strings.Contains(text, line) {
				t.Errorf("the report contains control characters or the forged line: %q", text)
			}
			if strings.Contains(log, `\u001b`) && (!strings.Contains(text, `\x1b[31m\u202e`) || len(r.Fights) == 0) {
				t.Errorf("the text does not name the existing object: %s", text)
			}
		}
	}
}

// The page of a log shows which actor did what, with the names of the report, and marks each violation.
func TestShown(t *testing.T) {
	source := audit.NewSource()
	if err := source.Open("testdata/label-flapper.log.gz"); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Keep = true
	a := run(t, o, source)
	s := a.Shown(a.Report(source))
	if s.Of != s.History.Len() || s.Of < 100 {
		t.Fatalf("%d of %d records are shown", s.History.Len(), s.Of)
	}
	for _, m := range s.Marks {
		r := s.History.At(m.Record)
		if r == nil || r.Process != "operators/op-one" && m.Law != "never-fight" {
			t.Errorf("%s is on the record %d, %+v", m.Law, m.Record, r)
		}
	}
	fight := slices.IndexFunc(s.Marks, func(m render.Mark) bool { return m.Law == "never-fight" })
	if len(s.Marks) != 9 || fight != 1 || len(s.Marks[1].Cycle) < 2 || s.Marks[1].Sentence == "" {
		t.Errorf("%d marks, want 8 violations and, as the second mark, a fight with its cycle: %+v", len(s.Marks), s.Marks)
	}
	pod := slices.IndexFunc(s.History.Records, func(r sim.Record) bool {
		return r.Object.Kind == "Pod" && r.After != nil
	})
	if pod < 0 {
		t.Fatal("no pod is shown")
	}
	text, err := json.Marshal(s.History.Records[pod].After)
	for _, want := range []string{`"kind":"Pod"`, `"containers":`, `"uid":`, `"apiVersion":"v1"`} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("a pod has no %s: %s %v", want, text, err)
		}
	}
}
