package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// Run is one run of a script. The verbs act on it, and [Options.Inspect] gets it at the end.
type Run struct {
	registry *Registry
	file     *File
	t        *trial.Trial

	counting counting // which violations count
	course   course   // what makes the choices
	telling  telling  // what its timelines show
	settled  settled  // the result of the last settle
	failed   failed   // the failures so far

	compare func(r *Run, s *Step) string // compares the settled world with the worlds of quiet runs

	step  *Step           // the current step; nil between steps
	out   strings.Builder // the output of the step
	quiet bool            // the step's output is discarded

	replace  map[string]host.Controller // controller name -> the controller that runs instead
	replaced bool                       // the replacement was started
	switched int                        // the index after the last change of era
	marks    map[string]uint64          // name -> revision of the server that the mark stands for
	stale    bool                       // the script restarts processes from older states
	tried    func(s *Step, err error)   // called after each action of the user; may be nil
}

// settled holds the result of the last settle.
type settled struct {
	how   trial.Settling // the result of the last settle
	from  int            // the first record of its timeline
	not   string         // the reason if it did not settle
	dirty bool           // a step has changed the world since then
}

// course decides what happens next in a run. If choices is nil, it is the default schedule. Otherwise choices decides;
// it may be a recorded schedule.
type course struct {
	choices sim.Choices   // for explored settles; nil in the default run
	races   bool          // the user's actions race with the controllers
	keys    *explore.Keys // the schedule to replay; nil for none
	from    int           // the first record of the first explored settle

	faults   map[string]int // fault budget
	budgeted bool           // the fault budget was added to the world

	steps int // the maximum steps of an explored settle; 0 for the default
	idle  int // the maximum steps without a commit; 0 for maxIdleDrawn

	ended     bool   // the source of choices has ended the run
	senseless *Error // the error of the step that made no sense when it was reached
}

// maxIdleDrawn limits the steps without a commit in an explored run. It is lower than for a default run, because
// explored runs are many.
const maxIdleDrawn = 20_000

// follow replays a schedule in every settle that is not quiet.
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

// digest folds the script's own state between two steps.
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

// abandon stops a run after a panic.
func (r *Run) abandon() {
	defer func() { _ = recover() }()
	r.stop()
}

// World returns the world of the script, with its history.
func (r *Run) World() *sim.World { return r.t.World }

// Violations returns the violations of the laws that counted when they occurred, as marks for rendering.
func (r *Run) Violations() []render.Mark { return r.counting.counted() }

func (r *Run) hash() uint64 { return r.t.World.Hash() }

// barrier marks the beginning of the next timeline.
func (r *Run) barrier() {
	r.telling.settles++
	r.telling.from = r.t.World.History.Len()
}

func (r *Run) printf(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

// at returns the current step. Between steps it returns one that stands for the script.
func (r *Run) at() *Step {
	if r.step == nil {
		return &Step{file: &File{Name: "script"}}
	}
	return r.step
}

func (r *Run) errorf(format string, args ...any) error { return r.at().wrong(format, args...) }

// perform runs one step of the file. It returns the step's output. The error means that the step is wrong or has an
// unexpected result.
func (r *Run) perform(s *Step) (output string, err error) {
	r.step = s
	r.out.Reset()
	before := len(r.t.Judge.Violations())
	err = s.verb.run(r, s)
	var no *refused
	var e *Error
	switch {
	case errors.As(err, &no):
		r.printf("%s\n", no.Error())
		if s.Expect {
			return r.out.String(), nil
		}
		return r.out.String(), s.fail(ExitFail, "%s", no.Error())
	case errors.As(err, &e) && e.Code != ExitUsage:
		r.amiss(s, e)
		if s.Expect && !e.bang {
			r.counting.accept()
			return r.out.String(), nil
		}
		return r.out.String(), err
	case err != nil:
		return r.out.String(), err
	}
	return r.out.String(), r.judge(s, before)
}

// judge checks that a step violated a law if and only if it has a "!".
func (r *Run) judge(s *Step, before int) error {
	first := r.counting.first(before)
	r.counting.accept()
	switch {
	case first != nil:
		r.breaks(first)
		if s.Expect {
			return nil
		}
		return s.fail(ExitFail, "%s is violated: %s", first.Law.Name, render.WithoutUIDs(first.Text))
	case s.Expect:
		return s.missed("no law was violated and nothing was refused")
	}
	return nil
}

// refused is the error of a user request that the server refused. A "!" expects it.
type refused struct{ text string }

func (e *refused) Error() string { return "refused: " + e.text }

// act performs a user action. In the default run it happens at once. In an explored run it races with the controllers,
// from a barrier to the next explored settle. act returns the server's refusal.
func (r *Run) act(label string, f func() error) error {
	r.settled.dirty = true
	if r.t.Waiting() > 0 || r.course.races && r.telling.settles > 0 && r.raced() {
		s := r.step
		r.t.LaterUntil(label, func() bool {
			err := f()
			r.note(s, err)
			return !unreachable(err)
		})
		return nil
	}
	err := r.t.Do(label, f)
	r.note(r.step, err)
	r.telling.atOnce(r.t.World.Steps())
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		return &refused{err.Error()}
	}
	return err
}

// unreachable reports whether a request failed because no process serves a webhook. The user then tries again.
func unreachable(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed to call webhook") &&
		strings.Contains(err.Error(), "connection refused")
}

func (r *Run) note(s *Step, err error) {
	if r.tried != nil && s != nil {
		r.tried(s, err)
	}
}

// raced reports whether a step races in an explored settle. Otherwise it is part of the set-up.
func (r *Run) raced() bool {
	if r.step == nil {
		return true
	}
	from := slices.Index(r.file.Steps, r.step)
	for _, s := range r.file.Steps[from+1:] {
		if s.verb.settles {
			return !s.Has("quiet")
		}
	}
	return true
}

func (r *Run) request(req *fakeapi.Request) error {
	if resp := r.t.Cluster.Request(law.User, req); resp.Err != nil {
		s := resp.Err.ErrStatus
		rec := &sim.Record{Code: int(s.Code), Reason: string(s.Reason), Message: s.Message}
		return errors.New(render.RefusalOf(rec))
	}
	return nil
}

func (r *Run) send(t target, subresource string, kind types.PatchType, data []byte) error {
	return r.request(&fakeapi.Request{Verb: fakeapi.Patch, Kind: t.kind, Subresource: subresource,
		Namespace: t.namespace, Name: t.name, PatchType: kind, Patch: data})
}
