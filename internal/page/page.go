// Package page shows a run as a self-contained HTML file, or as a picture.
//
// The input is a history, the lines of its timeline, and violations, in the types of package render. [Of] converts the
// input to a value that can be encoded as JSON. [Page.HTML] puts the JSON into a file with a style and a script.
// [Page.SVG] draws only the swimlanes. [Index] makes a page that links to many pages.
//
// The file cannot use the network: its content security policy allows only its own style and script, by their hashes.
// The script inserts texts from the history as text, never as markup.
package page

import (
	"fmt"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Source is one run with its violations.
type Source struct {
	Name       string // the title of the run on the page: "minimized"
	History    *sim.History
	Violations []render.Mark
	First      int // index of the first shown record; earlier records are the initial world
	Lines      []render.Line
	Small      string           // the size after minimizing; "" if the run is not minimized
	Printed    []render.Printed // the last output of the run's programs
	Replay     string           // the command that replays the run; "" if there is none
	Began      time.Time        // the real time at the beginning; the zero time if times are virtual
}

// Failure returns the run that a text page describes.
func Failure(name string, p *render.Page) Source {
	h, first, lines := p.Run()
	return Source{Name: name, History: h, Violations: []render.Mark{p.Violation}, First: first, Lines: lines,
		Small: p.Small, Printed: p.Printed, Replay: p.Replay}
}

// mostFound is the maximal number of records of the run before minimizing. A page should be small enough to send.
const mostFound = 2000

// Counterexample returns the page of a failure, with the minimized run. The page also has the run before minimizing, if
// its length differs and is at most 2000 records. found, if not nil, returns the text page of this run, or nil.
func Counterexample(p *render.Page, found func() *render.Page) *Page {
	small := Failure("minimized", p)
	if found == nil {
		return Of(p.Title, small)
	}
	was := found()
	if was == nil {
		return Of(p.Title, small)
	}
	before := Failure("before minimizing", was)
	switch n := before.History.Len(); {
	case n > mostFound:
		small.Small += fmt.Sprintf("; before minimizing it has %d records, too many for this page", n)
		return Of(p.Title, small)
	case n == small.History.Len():
		return Of(p.Title, small)
	}
	return Of(p.Title, small, before)
}

// Whole returns a run with all violations. Its initial world is what the user created before other processes acted.
func Whole(name string, h *sim.History, violations []render.Mark) Source {
	first := 0
	for i := range h.Len() {
		if r := h.At(i); r != nil && r.Process != "user" {
			first = i
			break
		}
	}
	lines := render.Timeline(h, render.Options{From: first, Violations: violations, Others: true})
	render.Explain(h, lines)
	return Source{Name: name, History: h, Violations: violations, First: first, Lines: lines}
}

// Page is the content of an HTML file: one run, or several runs of the same failure.
type Page struct {
	Title string `json:"title"`
	Runs  []*Run `json:"runs"`
}

// Run is a run in the format of the page's script. Positions in lists count from 1 if 0 means "none", otherwise from 0.
type Run struct {
	Name      string           `json:"name"`
	Small     string           `json:"small,omitempty"`
	Replay    string           `json:"replay,omitempty"`
	First     int              `json:"first"` // position in Records, from 0: the first record after the initial world
	Breaks    []Break          `json:"breaks"`
	Processes []Process        `json:"processes"`
	Objects   []Object         `json:"objects"`
	Lanes     [3][]Lane        `json:"lanes"` // lanes of objects: one per object, one per generated name, one per kind
	Fold      int              `json:"fold"`  // the element of Lanes that is shown first
	Records   []Record         `json:"records"`
	Lines     []Line           `json:"lines"`
	Versions  []Version        `json:"versions"`
	Printed   []render.Printed `json:"printed,omitempty"` // the last output of the run's programs
	Text      []string         `json:"text"`              // all lines of all versions, each text once
}

// Process is an actor: a controller's process, or the user.
type Process struct {
	Name  string   `json:"name"`
	Era   string   `json:"era,omitempty"`
	Syncs []string `json:"syncs,omitempty"` // the objects that the process reconciles
	Acts  bool     `json:"acts"`            // the process acts in the shown part
}

// Object is an object of the run, identified by its name. A recreated object is the same Object.
type Object struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Lane [3]int `json:"lane"` // the position of the object's lane in each element of Run.Lanes, from 1
}

// Line is a line of the timeline.
type Line struct {
	N       int      `json:"n"`
	At      string   `json:"at"`
	Who     string   `json:"who"`
	Verb    string   `json:"verb"`
	Object  string   `json:"object"`
	Did     string   `json:"did,omitempty"`
	Because string   `json:"because,omitempty"`
	Breaks  []string `json:"breaks,omitempty"`
	Write   bool     `json:"write,omitempty"`
	Refused bool     `json:"refused,omitempty"`
	Stale   bool     `json:"stale,omitempty"`
	Record  int      `json:"record"` // position of the record at which the line is drawn, counted from 0
}

// Record is a record of the history.
type Record struct {
	Op       string   `json:"o"`
	Step     int      `json:"s"`
	At       string   `json:"t,omitempty"` // "" if equal to the time of the previous record
	Cause    int      `json:"c,omitempty"`
	Process  int      `json:"p,omitempty"`
	Object   int      `json:"r,omitempty"`
	For      int      `json:"f,omitempty"`
	Verb     string   `json:"v,omitempty"`
	Detail   string   `json:"d,omitempty"`
	Before   int      `json:"b,omitempty"`
	After    int      `json:"a,omitempty"`
	Saw      int      `json:"w,omitempty"`
	SawFor   int      `json:"z,omitempty"`
	Enqueued []string `json:"q,omitempty"`
	Observed []string `json:"x,omitempty"`
	Line     int      `json:"n,omitempty"` // number of the line that shows the record
	Noise    bool     `json:"u,omitempty"` // a status write or a lease renewal by a controller
	Lost     bool     `json:"l,omitempty"`
	Again    bool     `json:"g,omitempty"` // a delivery from an initial list or a relist
}

// Of makes a page of runs.
func Of(title string, runs ...Source) *Page {
	p := &Page{Title: title}
	for i := range runs {
		p.Runs = append(p.Runs, runOf(&runs[i]))
	}
	return p
}

type maker struct {
	src       *Source
	run       *Run
	base      int // index of the first record that is still in the history
	lines     []render.Line
	processes map[string]int
	objects   map[string]int
	versions  versions
	at        time.Duration
	when      func(time.Duration) string // formats a time of the run
}

func newMaker(src *Source) *maker {
	when := time.Duration.String
	if !src.Began.IsZero() {
		when = func(at time.Duration) string { return src.Began.Add(at).UTC().Format("15:04:05.000") }
	}
	return &maker{src: src, run: &Run{Name: src.Name, Small: src.Small, Replay: src.Replay, Printed: src.Printed, Breaks: []Break{},
		Lines: []Line{}, Records: []Record{}, Processes: []Process{}, Objects: []Object{}, Versions: []Version{},
		Text: []string{}}, processes: map[string]int{}, objects: map[string]int{},
		versions: newVersions(), at: -1, when: when}
}

func runOf(src *Source) *Run {
	m := newMaker(src)
	h := src.History
	for m.base < h.Len() && h.At(m.base) == nil {
		m.base++
	}
	m.run.First = max(0, src.First-m.base)
	m.lines = src.Lines
	for i := m.base; i < h.Len(); i++ {
		m.run.Records = append(m.run.Records, m.record(h.At(i)))
	}
	m.timeline()
	for i := range src.Violations {
		m.broken(&src.Violations[i])
	}
	m.lanes()
	m.run.Versions, m.run.Text = m.versions.list, m.versions.text
	return m.run
}

// record returns a record for the page, and adds the versions of objects in it.
func (m *maker) record(r *sim.Record) Record {
	j := Record{Op: render.OpName(r.Op), Step: r.Step, Cause: m.position(r.Cause), Process: m.process(r),
		Object: m.object(r.Object), For: m.object(r.For), Verb: r.Verb, Detail: r.Message,
		Enqueued: r.Enqueued, Observed: r.Observed, Lost: r.Lost, Again: r.Initial || r.Tombstone}
	if r.At != m.at {
		j.At, m.at = m.when(r.At), r.At
	}
	switch r.Op {
	case sim.Commit:
		c := render.ChangeOf(r)
		j.Verb, j.Detail, j.Noise = c.Verb, c.Detail, c.Noise
	case sim.Refusal:
		j.Detail = render.RefusalOf(r)
	case sim.FaultHit:
		j.Detail = r.Reason
		j.Object = 0
	}
	by := 0
	if r.Op == sim.Commit {
		by = m.position(r.Index)
	}
	j.Before = m.versions.add(r.Before, j.Object, 0)
	j.After = m.versions.add(r.After, j.Object, by)
	j.Saw = m.versions.add(r.Saw, j.Object, 0)
	j.SawFor = m.versions.add(r.SawFor, j.For, 0)
	return j
}

// position returns the position of a record in the run, counted from 1, or 0 if the record is not in the run.
func (m *maker) position(index int) int { return max(0, index-m.base+1) }

func (m *maker) process(r *sim.Record) int {
	if r.Process == "" {
		return 0
	}
	if m.processes[r.Process] == 0 {
		m.run.Processes = append(m.run.Processes, Process{Name: r.Process})
		m.processes[r.Process] = len(m.run.Processes)
	}
	p := &m.run.Processes[m.processes[r.Process]-1]
	if r.Era != "" {
		p.Era = r.Era
	}
	return m.processes[r.Process]
}

// object returns the number of an object, counted from 1, or 0 for no object.
func (m *maker) object(ref sim.Ref) int {
	if ref.IsZero() || ref.Name == "" {
		return 0
	}
	name := ref.String()
	key := ref.Kind + " " + ref.Namespace + " " + ref.Name
	if m.objects[key] == 0 {
		m.run.Objects = append(m.run.Objects, Object{Name: name, Kind: ref.Kind})
		m.objects[key] = len(m.run.Objects)
	}
	return m.objects[key]
}

// timeline adds the lines to the run, and sets the line of each record.
func (m *maker) timeline() {
	for i := range m.lines {
		l := &m.lines[i]
		at := l.Records[len(l.Records)-1]
		if l.Refused {
			at = l.Records[0] // later records of equal refusals are counted in the same line
		}
		m.run.Lines = append(m.run.Lines, Line{N: l.N, At: m.when(l.From), Who: l.Who, Verb: l.Verb,
			Object: l.Object, Did: l.Did(), Because: l.Because, Breaks: l.Breaks, Write: l.Write,
			Refused: l.Refused, Stale: l.Stale, Record: at - m.base})
		for _, k := range l.Records {
			r := &m.run.Records[k-m.base]
			r.Line = l.N
			if r.Process > 0 {
				m.run.Processes[r.Process-1].Acts = true
			}
		}
	}
}
