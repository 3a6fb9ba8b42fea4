package page

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/page/pagetest"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// A version is encoded as changes of the previous version. Decoding returns it unchanged, with any content.
func TestVersionsReadBack(t *testing.T) {
	for name, h := range map[string]*sim.History{"long": pagetest.Long(400), "hostile": pagetest.Hostile()} {
		run := Of(name, Whole(name, h, nil)).Runs[0]
		for i := range h.Records {
			o, ok := h.Records[i].After.(metav1.Object)
			if !ok {
				continue
			}
			text := strings.Join(linesOf(run, run.Records[i].After), "\n")
			var got, want any
			if err := yaml.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%s: record %d: %v\n%s", name, i, err, text)
			}
			j, _ := json.Marshal(o)
			_ = json.Unmarshal(j, &want)
			delete(want.(map[string]any)["metadata"].(map[string]any), "creationTimestamp")
			delete(got.(map[string]any)["metadata"].(map[string]any), "creationTimestamp")
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: record %d: got %v, want %v", name, i, got, want)
			}
		}
	}
}

// Texts that YAML would read as another type are quoted, and lists are formatted as lists. The versions of a CRD are
// left out.
func TestYAML(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "on", Labels: map[string]string{"a": "true", "b": "1",
		"c": "", "d": "- x", "e": "é: \n#", "No": "~", "f": "0x1f", "g": "plain"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "me"}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Args: []string{"-a", "b c", "null"}},
			{Name: "d"}}}}
	text := strings.Join(yamlOf(pod), "\n")
	var got corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	pod.ManagedFields = nil
	if !reflect.DeepEqual(got.ObjectMeta, pod.ObjectMeta) || !reflect.DeepEqual(got.Spec, pod.Spec) {
		t.Errorf("read back as %+v\n%s", got, text)
	}
	crd := map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"group": "a", "versions": []any{"v1"}}}
	if lines := yamlOf(crd); !slices.Equal(lines[1:], []string{"spec:", "  group: a"}) {
		t.Errorf("a CRD: %q", lines)
	}
}

// A version shares lines with the previous version of its object, so pages are small.
func TestVersionsShare(t *testing.T) {
	run := Of("", Whole("", pagetest.Long(3000), nil)).Runs[0]
	own := 0
	for _, v := range run.Versions {
		own += len(v.Lines) + len(v.Put)/2
	}
	if perVersion := float64(own) / float64(len(run.Versions)); perVersion > 4 {
		t.Errorf("a version has %.1f new lines, but only one field changes in each", perVersion)
	}
}

// Whatever a history contains, the page's data contains no tag. The security policy contains the hash of the script.
func TestNothingOfAHistoryIsMarkup(t *testing.T) {
	text, err := Of(pagetest.Evil, Whole(pagetest.Evil, pagetest.Hostile(), nil)).HTML()
	if err != nil {
		t.Fatal(err)
	}
	file := string(text)
	if n := strings.Count(file, "<script"); n != 2 {
		t.Errorf("%d scripts begin in the page, want the data and the program", n)
	}
	if strings.Contains(file, "onerror=\"") || strings.Contains(file, "<img") {
		t.Error("a history's text stands in the page as markup")
	}
	program := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindStringSubmatch(file)
	if program == nil || !strings.Contains(html.UnescapeString(file), hash(program[1])) {
		t.Error("the policy does not name the page's program")
	}
	svg := string(Of(pagetest.Evil, Whole(pagetest.Evil, pagetest.Hostile(), nil)).SVG())
	if strings.Contains(svg, "<script") || strings.Contains(svg, "<img") {
		t.Error("a history's text stands in the picture as markup")
	}
}

// A picture is valid XML for any text, including characters that XML forbids.
func TestPictureIsXML(t *testing.T) {
	for _, title := range []string{pagetest.Evil, "a\x00b\x1b[31m\ufffe\xff"} {
		h := pagetest.Hostile()
		h.Records[0].Process = title
		svg := Of(title, Whole(title, h, nil)).SVG()
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%q: %v", title, err)
			}
		}
	}
}

// If there are many objects, objects with the same generated name, or of the same kind, share a lane.
func TestLanesFold(t *testing.T) {
	run := Of("", Whole("", pagetest.Long(900), nil)).Runs[0]
	if run.Fold != 2 || len(run.Lanes[0]) != 40 || len(run.Lanes[2]) != 1 || run.Lanes[2][0].Size != 40 {
		t.Errorf("forty objects are shown in %d lanes, fold %d: %v", len(run.Lanes[run.Fold]), run.Fold, run.Lanes[2])
	}
	run = Of("", Whole("", pagetest.Long(12), nil)).Runs[0]
	if run.Fold != 0 || len(run.Lanes[0]) != 4 {
		t.Errorf("four objects are shown in %d lanes, fold %d", len(run.Lanes[0]), run.Fold)
	}
}

// The page shows races, violations, the lines of a fight, and the fight as sentences. A violation that a step repeats
// is shown once.
func TestBreaks(t *testing.T) {
	h := pagetest.Long(30)
	fight := render.Mark{Record: 27, Law: "never-fight", Sentence: "s", Text: "t", Cycle: []int{21, 24}}
	race := render.Mark{Record: 3, Law: "dont-share", Text: "lost", Race: true}
	run := Of("", Whole("", h, []render.Mark{race, race, fight})).Runs[0]
	if len(run.Breaks) != 2 || !run.Breaks[0].Race || run.Breaks[0].Line != 2 {
		t.Fatalf("breaks %+v", run.Breaks)
	}
	b := run.Breaks[1]
	if b.First != 8 || b.Last != 9 || strings.Join(b.Story, "; ") !=
		"writer-1: cm/o-7 creates cm/o-7; writer-0: cm/o-8 creates cm/o-8" {
		t.Errorf("the fight is %+v", b)
	}
}

// If a run is too long for a page, the error says so.
func TestTooLong(t *testing.T) {
	p := &Page{Title: "long", Runs: []*Run{{Records: make([]Record, MostRecords+1)}}}
	if _, err := p.HTML(); err == nil || !strings.Contains(err.Error(), "50001 records gets no page: the limit is 50000") {
		t.Errorf("a run of 50001 records: %v", err)
	}
}

// The index has a row per run and a column per violated law.
func TestIndex(t *testing.T) {
	html := string(Index("all", []Row{
		{Name: "a<b", Page: "javascript:a?b.html",
			Broken: []Cell{{Law: "never-fight"}, {Law: "dont-share", Race: true}}},
		{Name: "c", Page: "c.html", Expected: true, Broken: []Cell{{Law: "never-fight"}}},
		{Name: "d", Why: "too long"},
	}))
	for _, want := range []string{`<a href="./javascript:a%3Fb.html">a&lt;b</a>`,
		`<td class="violated"><a href="./javascript:a%3Fb.html">violated</a></td>`,
		`<td class="expected"><a href="./c.html">violated, as expected</a></td>`, "a race was lost", "d (too long)",
		`<th scope="col" title="">dont-share</th><th scope="col" title="">never-fight</th>`} {
		if !strings.Contains(html, want) {
			t.Errorf("the index lacks %s:\n%s", want, html)
		}
	}
}

// linesOf returns the text of a version.
func linesOf(r *Run, version int) []string {
	var lines []string
	for _, i := range positions(r, version) {
		lines = append(lines, r.Text[i])
	}
	return lines
}

func positions(r *Run, version int) []int {
	if version == 0 {
		return nil
	}
	v := &r.Versions[version-1]
	base := positions(r, v.Base)
	if v.Put != nil {
		lines := slices.Clone(base)
		for i := 0; i < len(v.Put); i += 2 {
			lines[v.Put[i]] = v.Put[i+1]
		}
		return lines
	}
	return slices.Concat(base[:v.Head], v.Lines, base[len(base)-v.Tail:])
}

// A page contains the output of the programs.
func TestPrinted(t *testing.T) {
	h := pagetest.Long(10)
	p := render.NewPage(h, render.Mark{Record: 5, Law: "keep-quiet"}, 0)
	p.Printed = []render.Printed{{Process: "operator", Lines: []string{"it <starts>"}}}
	run := Of("printed", Failure("minimized", p)).Runs[0]
	if !reflect.DeepEqual(run.Printed, p.Printed) {
		t.Errorf("the page has the output %v", run.Printed)
	}
}

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
		t.Fatalf("a reader with %d records and %d lines must keep %+v", len(r.Records), len(r.Lines), p.Keep)
	}
	p.Records = append(r.Records[:p.Keep.Records:p.Keep.Records], p.Records...)
	p.Lines = append(r.Lines[:p.Keep.Lines:p.Keep.Lines], p.Lines...)
	p.Versions = append(r.Versions[:p.Keep.Versions:p.Keep.Versions], p.Versions...)
	p.Text = append(r.Text[:p.Keep.Text:p.Keep.Text], p.Text...)
	for i := range p.Records {
		p.Records[i].Line = 0 // the lines contain the numbers of their records, which the script uses
	}
	p.Keep = reach{}
	r.Part, r.parts = p, l.Parts()
}

// refused returns a history in which equal requests are refused repeatedly, followed by a write.
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

// A reader ends with the same result, however the run is divided into parts, and whenever it reads them.
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
			t.Errorf("%s: the late violation is on no line: %+v", name, want.Breaks)
		}
	}
}

// Equal refusals share a line, even if they are in different parts.
func TestLiveCountsRefusals(t *testing.T) {
	l, h := NewLive(0), refused()
	l.Begin(nil, 0, nil)
	for i := range h.Records {
		l.Add(h.Records[i:i+1], nil)
	}
	if n := len(l.run.Lines); n != 5 || l.run.Lines[2].Did != "refused x5: 409 Conflict" {
		t.Errorf("%d lines, want 5; the third is %q", n, l.run.Lines[2].Did)
	}
}

// A restarted run begins with the world at that time, and keeps earlier violations.
func TestLiveBeginsAgain(t *testing.T) {
	h := pagetest.Long(240) // forty objects, each written twice; record 3n writes o-n; the first forty are creations
	l := NewLive(0)
	l.Begin(nil, 0, nil)
	l.Add(h.Records[:60], []render.Mark{{Record: 3, Law: "dont-share"}, {Record: 51, Law: "never-fight",
		Cycle: []int{48, 51}}})
	if l.Len() != 60 || l.Next() != 60 {
		t.Fatalf("the run has %d records and expects record %d next, want 60 and 60", l.Len(), l.Next())
	}
	gone := h.Records[45] // o-15 does not exist at the end
	gone.Index, gone.Step, gone.Verb, gone.Before, gone.After = 60, 200, "delete", gone.After, nil
	records := append(append([]sim.Record{}, h.Records[30:60]...), gone)
	var standing []sim.Record // o-0 to o-19 without o-15
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
		t.Errorf("the earlier violation has changed: %+v", b)
	}
	if c := l.run.Records[10].Cause; c != 0 {
		t.Errorf("the cause is the dropped record %d", c)
	}
	if r := l.run.Records[11]; r.Cause != 11 {
		t.Errorf("a delivery of the first write has the cause %d, want 11: %+v", r.Cause, r)
	}
}

// If the world is large, the initial world contains only the objects that were written last.
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

// The page of a live run may connect only to its own server.
func TestLivePolicy(t *testing.T) {
	html := string(LiveHTML(pagetest.Evil, "/feed"))
	if !strings.Contains(html, "; connect-src &#39;self&#39;\"") ||
		!strings.Contains(html, "default-src &#39;none&#39;") {
		t.Error("the policy does not allow requests to the own server only")
	}
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d scripts begin in the page, want the data and the program", n)
	}
	still, err := Of("", Whole("", pagetest.Hostile(), nil)).HTML()
	if err != nil || strings.Contains(string(still), "connect-src") || strings.Contains(string(still), "EventSource") {
		t.Error("a page in a file contains code that sends requests", err)
	}
}
