package page

import (
	"cmp"
	"encoding/json"
	"html/template"
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Live is the run of a world that is still running. It grows in parts, so that a page requests only the parts that it
// lacks. Call [Live.Begin] from time to time: it restarts the run, so that the page does not grow without limit.
type Live struct {
	maker

	zero   time.Duration // the world's time that is shown as zero
	offset int           // added to an index in the history to get the index in the run
	world  int           // the number of records of the initial world
	lines  []render.Line
	shared int           // the number of kinds that several controllers reconcile
	marks  []render.Mark // all violations, with indexes in the history
	breaks []Break       // marks as shown on the page; a text stays after its record has left the run
	parts  []reach
	next   int // index in the history of the next record
}

// reach holds the lengths of a run's lists before a part was added. Lines is the number of lines that the part keeps.
type reach struct {
	Records  int `json:"records"`
	Versions int `json:"versions"`
	Text     int `json:"text"`
	Lines    int `json:"lines"`
}

// Part contains the changes of a run since an earlier part. Keep says how many elements of a list the page keeps. The
// page appends the part's elements to them. Other lists are complete.
type Part struct {
	Run

	Keep reach `json:"keep"`
}

// mostBegun is the maximal number of objects in the initial world of a live page.
const mostBegun = 2000

// NewLive returns a run without records. The page shows times relative to the parameter zero.
func NewLive(zero time.Duration) *Live { return &Live{zero: zero} }

// Next returns the index of the next record to add.
func (l *Live) Next() int { return l.next }

// Len returns the number of records, without the records of the initial world.
func (l *Live) Len() int {
	if l.run == nil {
		return 0
	}
	return len(l.run.Records) - l.world
}

// Begin restarts the run with the last records of a history. first is the index of the first of these records. standing
// contains a creation record for each object that exists now. From these objects, Begin computes the initial world,
// which existed before the records. Earlier violations stay in the run.
func (l *Live) Begin(standing []sim.Record, first int, records []sim.Record) {
	world := before(standing, records)
	l.maker = *newMaker(&Source{Name: "live", History: &sim.History{Records: world}})
	l.when = func(at time.Duration) string { return max(0, at-l.zero).Round(time.Millisecond).String() }
	l.world, l.offset, l.next = len(world), len(world)-first, first
	l.lines, l.shared, l.parts = nil, 0, []reach{{}}
	for i := range world {
		world[i].Index, world[i].Cause = i, -1
		l.run.Records = append(l.run.Records, l.record(&world[i]))
	}
	l.run.First = len(world)
	for i := range records {
		if first > 0 || records[i].Step != records[0].Step || records[i].Process != "user" {
			break
		}
		l.run.First++ // it is one of the records that created the initial world
	}
	l.grow(records)
	l.finish(l.run.First)
}

// Add adds violations, and the records with the index [Live.Next] and later.
func (l *Live) Add(records []sim.Record, marks []render.Mark) {
	if len(records)+len(marks) == 0 {
		return
	}
	was := reach{len(l.run.Records), len(l.versions.list), len(l.versions.text), 0}
	from := was.Records
	for i := range marks {
		if at := marks[i].Record + l.offset; at >= l.run.First {
			from = min(from, at)
		}
	}
	l.grow(records)
	l.marks = append(l.marks, marks...)
	l.breaks = append(l.breaks, make([]Break, len(marks))...)
	was.Lines = l.finish(from)
	l.parts = append(l.parts, was)
}

func (l *Live) grow(records []sim.Record) {
	h := l.src.History
	for _, r := range records {
		r.Index += l.offset
		if r.Cause += l.offset; r.Cause < l.world {
			r.Cause = -1 // the record of the cause is no longer in the run
		}
		h.Records = append(h.Records, r)
		l.run.Records = append(l.run.Records, l.record(&r))
	}
	l.next += len(records)
}

// finish updates the lines of the records with index from and later. It also updates the violations and the lanes,
// which depend on all records. It returns the number of lines that did not change.
func (l *Live) finish(from int) int {
	h := l.src.History
	marks := l.inSight()
	if shared := render.CastOf(h).Shared(); shared > l.shared {
		l.shared, from = shared, l.run.First
	}
	keep := len(l.lines)
	for keep > 0 && slices.Max(l.lines[keep-1].Records) >= from {
		keep--
	}
	for keep > 0 && l.lines[keep-1].Refused { // equal refusals may have been added to this line
		keep--
	}
	if keep < len(l.lines) {
		from = min(from, l.lines[keep].Records[0])
	}
	more := render.Timeline(h, render.Options{From: max(from, l.run.First), Violations: marks, Others: true})
	for i := range more {
		more[i].N += keep
	}
	l.lines = append(l.lines[:keep:keep], more...)
	render.Explain(h, l.lines)
	l.maker.lines, l.run.Lines, l.run.Lanes = l.lines, []Line{}, [3][]Lane{}
	for i := range l.run.Processes {
		l.run.Processes[i].Syncs, l.run.Processes[i].Acts = nil, false
	}
	for i := range l.run.Objects {
		l.run.Objects[i].Lane = [3]int{}
	}
	l.timeline()
	l.lanes()
	l.broke(marks)
	return keep
}

// inSight returns the violations with their indexes in this run. If a record is no longer in the run, its index is -1.
func (l *Live) inSight() []render.Mark {
	marks := slices.Clone(l.marks)
	for i := range marks {
		m := &marks[i]
		m.Record = max(-1, m.Record+l.offset)
		if m.Record < l.run.First {
			m.Record = -1
		}
		cycle := m.Cycle
		m.Cycle = nil
		for _, c := range cycle {
			if c += l.offset; c < l.run.First {
				m.Cycle = nil
				break
			}
			m.Cycle = append(m.Cycle, c)
		}
	}
	return marks
}

// broke sets the run's violations, the last one first. A violation keeps its text when its line has left the run.
func (l *Live) broke(marks []render.Mark) {
	l.run.Breaks = []Break{}
	for i := range marks {
		b := &l.breaks[i]
		if marks[i].Record >= 0 || b.Law == "" {
			*b = l.breakOf(&marks[i])
		} else {
			b.Line, b.First, b.Last = 0, 0, 0
		}
		l.run.Breaks = append(l.run.Breaks, *b)
	}
	slices.Reverse(l.run.Breaks)
}

// Parts returns the number of parts.
func (l *Live) Parts() int { return len(l.parts) }

// Since returns the changes for a page as JSON. known is the number of parts that the page has. If the page has all
// parts, Since returns nil.
func (l *Live) Since(known int) ([]byte, error) {
	if known >= len(l.parts) {
		return nil, nil
	}
	p := Part{Run: *l.run, Keep: l.parts[known]}
	for _, r := range l.parts[known:] {
		p.Keep.Lines = min(p.Keep.Lines, r.Lines)
	}
	p.Records, p.Lines = l.run.Records[p.Keep.Records:], l.run.Lines[p.Keep.Lines:]
	p.Versions, p.Text = l.versions.list[p.Keep.Versions:], l.versions.text[p.Keep.Text:]
	return json.Marshal(&p)
}

// before returns the world as it was before some records. It removes the objects that the records created, and restores
// the objects that they changed or deleted. If there are too many objects, it keeps those that were written last.
func before(standing, records []sim.Record) []sim.Record {
	at := make(map[sim.Ref]int, len(standing))
	key := func(ref sim.Ref) sim.Ref { ref.UID = ""; return ref }
	for i := range standing {
		at[key(standing[i].Object)] = i
	}
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		if r.Op != sim.Commit {
			continue
		}
		j, there := at[key(r.Object)]
		if !there {
			j = len(standing)
			at[key(r.Object)] = j
			standing = append(standing, sim.Record{Op: sim.Commit, Verb: "create"})
		}
		standing[j].Object, standing[j].After = r.Object, r.Before
	}
	standing = slices.DeleteFunc(standing, func(r sim.Record) bool { return r.After == nil })
	slices.SortStableFunc(standing, func(a, b sim.Record) int { return cmp.Compare(a.Version, b.Version) })
	return standing[max(0, len(standing)-mostBegun):]
}

// LiveHTML returns the page of a run that is streamed from a URL of the same server. The stream consists of server-sent
// events that contain a [Part] each.
func LiveHTML(title, from string) []byte {
	nothing := NewLive(0)
	nothing.Begin(nil, 0, nil)
	data, err := json.Marshal(struct {
		Page
		Feed string `json:"feed"`
	}{Page{title, []*Run{nothing.run}}, from})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return document("page.html", &frame{Title: title, Script: scripts("live.js"), Data: template.JS(data),
		Connect: "'self'", Foot: "this page requests its own server only"})
}
