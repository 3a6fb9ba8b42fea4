package page

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/page/pagetest"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// reader reads a live run as the page's script does.
type reader struct {
	Part
	parts int
}

func (r *reader) read(t *testing.T, l *Live) {
	t.Helper()
	text, err := l.Since(r.parts)
	if err != nil {
		t.Fatal(err)
	}
	if text == nil {
		return
	}
	var p Part
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Keep.Records > len(r.Records) || p.Keep.Lines > len(r.Lines) {
		t.Fatalf("who has %d records and %d lines is to keep %+v", len(r.Records), len(r.Lines), p.Keep)
	}
	p.Records = append(r.Records[:p.Keep.Records:p.Keep.Records], p.Records...)
	p.Lines = append(r.Lines[:p.Keep.Lines:p.Keep.Lines], p.Lines...)
	p.Versions = append(r.Versions[:p.Keep.Versions:p.Keep.Versions], p.Versions...)
	p.Text = append(r.Text[:p.Keep.Text:p.Keep.Text], p.Text...)
	for i := range p.Records {
		p.Records[i].Line = 0 // the lines name their records; the script uses that
	}
	p.Keep = reach{}
	r.Part, r.parts = p, l.Parts()
}

// refused is a history in which equal requests are refused repeatedly, followed by a write.
func refused() *sim.History {
	h := pagetest.Long(6)
	for i := range 9 {
		r := sim.Record{Index: h.Len(), Step: 20 + i, Op: sim.Refusal, Cause: -1, Process: "writer-0", Verb: "update",
			Object: sim.Ref{Kind: "ConfigMap", Name: fmt.Sprint("o-", i%2)}, Code: 409, Reason: "Conflict"}
		h.Records = append(h.Records, r)
	}
	w := h.Records[3]
	w.Index, w.Step, w.Verb, w.Before, w.After = h.Len(), 40, "delete", w.After, nil
	h.Records = append(h.Records, w)
	return h
}

// However a run is divided into parts, and whenever somebody reads it, the reader ends with the same result.
func TestLivePartsAddUp(t *testing.T) {
	for name, h := range map[string]*sim.History{"long": pagetest.Long(240), "hostile": pagetest.Hostile(),
		"refused": refused()} {
		late := []render.Mark{{Record: 2, Law: "never-panic", Text: "told late"}}
		whole := NewLive(0)
		whole.Begin(nil, 0, nil)
		whole.Add(h.Records, late)
		var want reader
		want.read(t, whole)
		for _, size := range []int{1, 2, 3, 7, 50} {
			l := NewLive(0)
			l.Begin(nil, 0, nil)
			var often, seldom reader
			for i, n := 0, 0; i < h.Len(); i, n = i+size, n+1 {
				l.Add(h.Records[i:min(i+size, h.Len())], nil)
				if often.read(t, l); n%3 == 2 {
					seldom.read(t, l)
				}
			}
			l.Add(nil, late)
			for who, r := range map[string]*reader{"often": &often, "seldom": &seldom} {
				r.read(t, l)
				if r.parts = want.parts; !reflect.DeepEqual(*r, want) {
					a, _ := json.Marshal(r.Part)
					b, _ := json.Marshal(want.Part)
					at := 0
					for at < min(len(a), len(b)) && a[at] == b[at] {
						at++
					}
					t.Fatalf("%s in parts of %d, read %s: got\n%.300s\nwant\n%.300s", name, size, who,
						a[max(0, at-99):], b[max(0, at-99):])
				}
			}
		}
		if want.Breaks[0].Line == 0 || !strings.Contains(fmt.Sprint(want.Lines), "VIOLATES never-panic") {
			t.Errorf("%s: what was told late is on no line: %+v", name, want.Breaks)
		}
	}
}

// Equal refusals share a line, even across parts.
func TestLiveCountsRefusals(t *testing.T) {
	l, h := NewLive(0), refused()
	l.Begin(nil, 0, nil)
	for i := range h.Records {
		l.Add(h.Records[i:i+1], nil)
	}
	if n := len(l.run.Lines); n != 5 || l.run.Lines[2].Did != "refused x5: 409 Conflict" {
		t.Errorf("%d lines, the third says %q", n, l.run.Lines[2].Did)
	}
}

// A restarted run begins with the world at that time, and keeps earlier violations.
func TestLiveBeginsAnew(t *testing.T) {
	h := pagetest.Long(240) // forty objects, each written twice; records 3n write o-n, the first forty times create
	l := NewLive(0)
	l.Begin(nil, 0, nil)
	l.Add(h.Records[:60], []render.Mark{{Record: 3, Law: "dont-share"}, {Record: 51, Law: "never-fight",
		Cycle: []int{48, 51}}})
	if l.Len() != 60 || l.Next() != 60 {
		t.Fatalf("%d records, next %d", l.Len(), l.Next())
	}
	gone := h.Records[45] // o-15 is deleted at the end
	gone.Index, gone.Step, gone.Verb, gone.Before, gone.After = 60, 200, "delete", gone.After, nil
	records := append(append([]sim.Record{}, h.Records[30:60]...), gone)
	var standing []sim.Record // o-0 to o-19, without o-15
	for i := range 20 {
		if r := h.Records[3*i]; i != 15 {
			standing = append(standing, sim.Record{Op: sim.Commit, Object: r.Object, After: r.After, Verb: "create"})
		}
	}
	l.Begin(standing, 30, records)
	if l.run.First != 10 || l.Len() != 31 || l.Next() != 61 {
		t.Fatalf("the world has %d objects, want o-0 to o-9; %d records, next %d", l.run.First, l.Len(), l.Next())
	}
	for i := range 10 {
		if got, want := l.run.Objects[l.run.Records[i].Object-1].Name, fmt.Sprint("cm/o-", i); got != want {
			t.Errorf("object %d of the world is %s, want %s", i, got, want)
		}
	}
	if len(l.run.Breaks) != 2 || l.run.Breaks[0].Line != 8 || l.run.Breaks[0].First != 7 {
		t.Errorf("the fight is on line 8, with the one before: %+v", l.run.Breaks)
	}
	if b := l.run.Breaks[1]; b.Law != "dont-share" || b.Line != 0 || len(b.Story) == 0 {
		t.Errorf("what was broken before is told as it was: %+v", b)
	}
	if c := l.run.Records[10].Cause; c != 0 {
		t.Errorf("what has been forgotten is the cause %d", c)
	}
	if r := l.run.Records[11]; r.Cause != 11 {
		t.Errorf("a delivery of the first write has the cause %d, want 11: %+v", r.Cause, r)
	}
}

// Of a large world, the objects written last are kept.
func TestLiveWorldIsBounded(t *testing.T) {
	var standing []sim.Record
	for i := range mostBegun + 5 {
		standing = append(standing, sim.Record{Op: sim.Commit, Version: uint64(10_000 - i),
			Object: sim.Ref{Kind: "ConfigMap", Name: fmt.Sprint(i)}, After: &metav1.ObjectMeta{Name: fmt.Sprint(i)}})
	}
	l := NewLive(0)
	l.Begin(standing, 7, nil)
	if n := len(l.run.Records); n != mostBegun || l.run.Objects[l.run.Records[n-1].Object-1].Name != "cm/0" {
		t.Errorf("%d objects, want %d, and last the one written last", n, mostBegun)
	}
}

// The page of a live run connects to its own server only.
func TestLivePolicy(t *testing.T) {
	html := string(LiveHTML(pagetest.Evil, "/feed"))
	if !strings.Contains(html, "; connect-src &#39;self&#39;\"") ||
		!strings.Contains(html, "default-src &#39;none&#39;") {
		t.Error("the policy is not that of a page that asks its own server")
	}
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d scripts begin in the page, want the data and the program", n)
	}
	still, err := Of("", Whole("", pagetest.Hostile(), nil)).HTML()
	if err != nil || strings.Contains(string(still), "connect-src") || strings.Contains(string(still), "EventSource") {
		t.Error("a page that is a file asks somebody", err)
	}
}
