package audit_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/audit"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// A page of a log shows who did what, by the report's names, with a mark on each violation.
func TestShown(t *testing.T) {
	source := audit.NewSource()
	if err := source.Open("testdata/label-flapper.log.gz"); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Keep = true
	a := audit.New(o)
	if err := a.Run(source, never); err != nil {
		t.Fatal(err)
	}
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
		t.Errorf("%d marks, want eight and a fight, which is told second with its cycle: %+v", len(s.Marks), s.Marks)
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
