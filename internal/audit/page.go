package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Text formats a report in lines of this width.
func (r *Report) Text(width int) string {
	var b strings.Builder
	for _, f := range r.Violations {
		f.text(&b, width, "violated")
	}
	for _, f := range r.Fights {
		f.text(&b, width)
	}
	for _, f := range r.Doubtful {
		f.text(&b, width, "violated, perhaps unknowingly,")
	}
	for _, n := range r.Notes {
		b.WriteString(render.Fold(n))
	}
	for _, s := range r.Skipped {
		b.WriteString(render.Fold(s.String()))
	}
	for _, l := range r.Left {
		b.WriteString(render.Fold(fmt.Sprintf("not judged: %s: %d, the first: %s", l.Why, l.Count, l.First)))
	}
	b.WriteString(r.lawsText())
	b.WriteString(r.summary())
	return b.String()
}

func (f *ViolationGroup) text(b *strings.Builder, width int, how string) {
	fmt.Fprintf(b, "--- %s %s %s by %s\n", f.Law, how, times(f.Count), f.Actor)
	b.WriteString(indented(f.Sentence+" ("+f.Source+")", width))
	what := f.Text
	if len(f.Objects) > 0 {
		what = strings.Join(f.Objects, ", ")
		if f.Count > len(f.Objects) && len(f.Objects) == mostObjectsNamed {
			what += " and others"
		}
		what += ": " + f.Text
	}
	b.WriteString(indented(what+span(f.First, f.Last), width))
	b.WriteString("\n" + storyText(f.Story, width) + "\n")
}

// Sentence returns a description of the fight.
func (r *Fight) Sentence() string {
	who := strings.Join(r.Between, " and ")
	s := fmt.Sprintf("%s have repeated a cycle %d times, with %d writes, over %s%s", who, r.Rounds, r.Writes, r.What,
		span(r.First, r.Last))
	if f, field := r.field(); field {
		s = fmt.Sprintf("%s have overwritten %s %d times%s", who, f, r.Writes, span(r.First, r.Last))
	}
	switch {
	case r.dark:
		return s + "; its owner is " + r.Owner + ", and the log does not show which of them is its controller"
	case len(r.Violators) < len(r.Between) && r.Owner != "":
		return s + "; its owner is " + r.Owner + ", so " + strings.Join(r.Violators, " and ") + " should not write it"
	case r.shared:
		return s + "; its owner alternates, so ownership does not show who is right"
	case r.Owner == "":
		return s + "; it has no owner, so ownership does not show who is right"
	}
	return s
}

func (r *Fight) field() (string, bool) {
	for _, other := range []string{"owner and labels ", "the "} {
		if strings.HasPrefix(r.What, other) {
			return "", false
		}
	}
	return r.What, true
}

func (r *Fight) text(b *strings.Builder, width int) {
	fmt.Fprintf(b, "--- never-fight violated by %s\n", strings.Join(r.Violators, " and "))
	b.WriteString(indented(r.Sentence(), width))
	b.WriteString("\n    one round:\n" + storyText(r.Cycle, width) + "\n")
}

func storyText(story []line, width int) string {
	objects := slices.ContainsFunc(story, func(l line) bool { return l.Object != "" })
	t := render.Table{Indent: "    ", Width: width}
	for _, l := range story {
		if objects {
			t.Add(clock(l.At), account(l.Who), l.Did, l.Object, l.Change)
		} else {
			t.Add(clock(l.At), account(l.Who), l.Did)
		}
	}
	return t.String()
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

func span(first, last time.Time) string {
	if first.Equal(last) {
		return ", at " + first.UTC().Format(time.RFC3339)
	}
	return ", since " + first.UTC().Format(time.RFC3339) + ", the last at " + last.UTC().Format("15:04:05")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

func indented(text string, width int) string {
	var b strings.Builder
	t := render.Table{Indent: "    ", Width: width}
	t.Add(text)
	b.WriteString(t.String())
	return b.String()
}

func (r *Report) lawsText() string {
	var judged []string
	var needs []string
	by := map[string]int{}
	for _, l := range r.Laws {
		switch {
		case l.Judged:
			judged = append(judged, l.Name)
		default:
			if by[l.Why]++; by[l.Why] == 1 {
				needs = append(needs, l.Why)
			}
		}
	}
	other := 0
	for _, n := range by {
		other += n
	}
	return render.Fold("judged: "+strings.Join(judged, ", ")) +
		render.Fold(fmt.Sprintf("not judged: %d laws that need more than any audit log has: what informers showed, "+
			"what was reconciled, when the cluster settled (--json names them)", other))
}

func (r *Report) summary() string {
	verdict := "no law is violated"
	switch {
	case r.Violated:
		laws := 0
		for _, l := range r.Laws {
			if l.Count > 0 {
				laws++
			}
		}
		verdict = "1 law is violated"
		if laws > 1 {
			verdict = fmt.Sprintf("%d laws are violated", laws)
		}
		verdict += " by " + strings.Join(r.Violators(), ", ")
	case r.Judged == 0:
		verdict = "nothing could be judged"
	}
	s := fmt.Sprintf("%d lines, %d writes, %d judged", r.Lines, r.Writes, r.Judged)
	if !r.From.IsZero() {
		s += ", from " + r.From.UTC().Format(time.RFC3339) + " to " + r.To.UTC().Format(time.RFC3339)
	}
	return render.Fold(s + ": " + verdict)
}

// Shown is the part of a judged log that a page displays: records, marks on findings, the total number of records, and
// the time of the first event.
type Shown struct {
	History sim.History
	Marks   []render.Mark
	Of      int
	Began   time.Time
}

// Shown returns the kept records, with marks on the findings of the report. Call Report first.
func (a *Auditor) Shown(r *Report) *Shown {
	s := &Shown{Of: a.index, Began: a.first}
	at := map[int]int{}
	for _, rec := range a.kept.records {
		at[rec.Index] = len(s.History.Records)
		rec.Index = len(s.History.Records)
		alike(&rec)
		s.History.Records = append(s.History.Records, rec)
	}
	mark := func(m render.Mark) {
		i, there := at[m.Record]
		if !there {
			i = -1
		}
		m.Record = i
		s.Marks = append(s.Marks, m)
	}
	finding := func(marks []render.Mark, race bool) {
		for _, m := range marks {
			m.Race = race // with Options.Strict, r.Violations also contains races, which get no race mark
			mark(m)
		}
	}
	for _, f := range r.Violations { // only the first violation of each group; the others follow below
		finding(f.marks[:1], false)
	}
	for _, f := range r.Fights {
		m := render.Mark{Record: f.record, Law: "never-fight", Text: f.Sentence()}
		for _, l := range a.Laws {
			if l.ID == fightLaw {
				m.Sentence, m.Source = l.Sentence, l.Source
			}
		}
		for i := range s.History.Records {
			rec := &s.History.Records[i]
			if slices.ContainsFunc(f.Cycle, func(l line) bool { return l.At.Equal(a.first.Add(rec.At)) }) {
				m.Cycle = append(m.Cycle, i)
			}
		}
		mark(m)
	}
	for _, f := range r.Violations {
		finding(f.marks[1:], false)
	}
	for _, f := range r.Doubtful {
		finding(f.marks, true)
	}
	return s
}

// alike drops both bodies of a record if one is unknown. Otherwise a page would show every known field as changed.
func alike(r *sim.Record) {
	before, _ := r.Before.(*Object)
	after, _ := r.After.(*Object)
	if before == nil || after == nil || (before.spec == nil) == (after.spec == nil) {
		return
	}
	b, n := *before, *after
	b.spec, b.status, n.spec, n.status = nil, nil, nil, nil
	r.Before, r.After = &b, &n
}

// These constants limit what a page shows: all records, records before and after a finding, and marks of a finding.
const (
	mostKept           = 10_000
	keptBefore         = 200
	keptAfter          = 50
	mostMarksOfFinding = 20
)

type kept struct {
	records []sim.Record
	found   []int // [sim.Record].Index of each record that completed a finding
	most    int
}

// add keeps a record. If there are too many records, it drops records that are old and not near a finding.
func (k *kept) add(r sim.Record) {
	if k.records = append(k.records, r); len(k.records) < 2*k.most {
		return
	}
	last := k.records[len(k.records)-k.most/4].Index
	near := func(r sim.Record) bool {
		i, _ := slices.BinarySearch(k.found, r.Index-keptAfter)
		return i < len(k.found) && k.found[i] <= r.Index+keptBefore
	}
	k.records = slices.DeleteFunc(k.records, func(r sim.Record) bool { return r.Index < last && !near(r) })
	if n := len(k.records); n > k.most {
		k.records = slices.Clone(k.records[n-k.most:])
	}
}
