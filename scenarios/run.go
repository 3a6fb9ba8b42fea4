package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// Run is one run of a script, as [Options.Inspect] is shown it when it is over.
// The verbs act on it.
type Run struct {
	registry *Registry
	file     *File
	t        *trial.Trial

	counting counting // which breaches fail it
	course   course   // who decides what happens
	telling  telling  // what its timelines show
	settled  settled  // how it came to rest last
	failed   failed   // what did not go as it should

	compare func(r *Run, s *Step) string // with how quiet runs of the steps before one end

	step  *Step           // the step being run, nil between steps
	out   strings.Builder // its output
	quiet bool            // which nobody reads

	replace  map[string]host.Controller // controller name -> what to start instead
	replaced bool                       // and it was
	switched int                        // the record after the last change of an era
	marks    map[string]uint64          // name -> revision of the server
	stale    bool                       // the script restarts processes from older states
	tried    func(s *Step, err error)   // told of what the user tries; nil for nobody
}

// settled is how the world came to rest, or did not.
type settled struct {
	how   trial.Settling // the last settle
	from  int            // the first record that its timeline tells of
	not   string         // how it did not come to rest, in words
	dirty bool           // something was done since
}

// course says who decides what happens in a run: nobody in the default schedule,
// else a source of choices, which may be a schedule that was recorded.
type course struct {
	choices sim.Choices   // of the settles that are explored; nil in the default run
	races   bool          // the user's actions race with the controllers
	keys    *explore.Keys // the schedule being replayed, nil for none
	from    int           // first record of the first settle that was explored

	faults   map[string]int // fault budget
	budgeted bool           // it is in the world

	steps int // that a settle which is explored may take; 0 for no other bound than any has
	idle  int // of them without a commit; 0 for maxIdleDrawn

	ended     bool   // the source of choices ended the run
	senseless *Error // or this step did, which made no sense when the run came to it
}

// maxIdleDrawn is how many steps without a commit an explored run may take, of
// which there are many.
const maxIdleDrawn = 20_000

// follow makes every settle that is not quiet go as the schedule says.
func (c *course) follow(s explore.Schedule) {
	c.keys = explore.Replay(s)
	c.choices, c.races = c.keys, true
}

// newRun starts a script on an empty cluster under the default schedule.
func newRun(g *Registry, f *File) *Run {
	server := g.server()
	if f.base != nil {
		server = f.base.fork()
	}
	t := trial.New(trial.Options{Laws: g.Laws, Server: server})
	r := &Run{registry: g, file: f, t: t, marks: map[string]uint64{}}
	r.counting.judge = t.Judge
	r.telling.history = &t.World.History
	t.World.Digests = append(t.World.Digests, r.digest)
	return r
}

// digest folds what the script remembers between two steps.
func (r *Run) digest(h *sim.Hash) {
	h.Word(uint64(r.telling.settles))
	if r.stale {
		for _, name := range slices.Sorted(maps.Keys(r.marks)) {
			h.Word(r.marks[name])
		}
		r.t.Cluster.DigestHistory(h)
	}
}

// stop ends the run's processes. The run must not be used afterwards.
func (r *Run) stop() { r.t.Stop() }

// abandon is stop where it is known already that something is wrong.
func (r *Run) abandon() {
	defer func() { _ = recover() }()
	r.stop()
}

// World is the world that the script ran in, with its history.
func (r *Run) World() *sim.World { return r.t.World }

// Breaches are the breaches of the laws that counted when they were broken, fit
// to be shown.
func (r *Run) Breaches() []render.Mark { return r.counting.counted() }

// hash digests everything that happened in the run so far.
func (r *Run) hash() uint64 { return r.t.World.Hash() }

// barrier ends a settle: what comes next is told from here on.
func (r *Run) barrier() {
	r.telling.settles++
	r.telling.from = r.t.World.History.Len()
}

// printf adds to the output of the step.
func (r *Run) printf(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

// at is the step being run; between steps one that stands for the script.
func (r *Run) at() *Step {
	if r.step == nil {
		return &Step{file: &File{Name: "script"}}
	}
	return r.step
}

// errorf is a mistake in the step being run.
func (r *Run) errorf(format string, args ...any) error { return r.at().wrong(format, args...) }
