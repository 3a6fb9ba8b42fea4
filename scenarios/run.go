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
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// Run is one run of a script. Each verb changes the Run. [Options.Inspect] receives the Run at the end.
type Run struct {
	registry *Registry
	file     *File
	t        *trial.Trial

	counting counting // which violations count
	course   course   // which source makes the choices
	telling  telling  // what the timelines show
	settled  settled  // the result of the last settle
	failed   failed   // the failures so far

	compare func(r *Run, s *Step) string // compares the settled world with those of quiet runs

	step  *Step           // the current step; nil between steps
	out   strings.Builder // the output of the current step
	quiet bool            // discard the output of steps

	begins func() error                                        // called before each step of a script; may be nil
	sends  func(all []*manifest.Manifest) []*manifest.Manifest // returns the manifests that a step sends now; may be nil

	replace  map[string]host.Controller // controller name -> the controller that runs instead
	replaced bool                       // the run has started a controller of replace
	switched int                        // the number of records before the last step "switch" or "downgrade-server"
	marks    map[string]uint64          // name of a mark -> the server's revision
	stale    bool                       // the script restarts processes from older states
	tried    func(s *Step, err error)   // called after each user action; may be nil
}

// settled describes the last settle, and what came after it.
type settled struct {
	how   trial.Settling // the result of the last settle
	from  int            // index of the first record in the timeline of the last settle
	not   string         // the output of the last settle that did not settle; "" if there was none
	dirty bool           // a step has changed the world since the settle
}

// course decides what happens next in a run. If choices is nil, the run has the default schedule. Otherwise choices
// decides in the explored settles, which are those without "quiet". choices may be a recorded schedule.
type course struct {
	choices sim.Choices   // decides in explored settles; nil in the default run
	races   bool          // the user's actions race with the controllers
	keys    *explore.Keys // the schedule to replay; nil for none
	from    int           // index of the first record of the first explored settle

	faults   map[string]int // the maximal number of faults in a run, by the fault's name
	budgeted bool           // faults was added to the world

	steps int // the maximal number of steps in an explored settle; 0 means the default
	idle  int // the maximal number of steps without a commit; 0 means maxIdleDrawn

	ended     bool   // choices ended the run, or a step could not be executed
	senseless *Error // the error of a step that could not be executed in this schedule
}

// maxIdleDrawn is the maximal number of steps without a commit in an explored run. It is smaller than in a default run,
// because there are many explored runs.
const maxIdleDrawn = 20_000

// follow makes a schedule decide in all settles that are not quiet.
func (c *course) follow(s explore.Schedule) {
	c.keys = explore.Replay(s)
	c.choices, c.races = c.keys, true
}

// newRun starts a run in the default schedule. The cluster contains only the installed objects of the file.
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
	t.World.SetChoices(setup{run: r})
	return r
}

// setup has the default order of actions. Its picks are those of the run, because the seed of a program that starts in the
// set-up is such a pick.
type setup struct{ run *Run }

// Draws returns the choices of the default schedule.
func (setup) Draws() sim.Choices { return sim.Zero{} }

// Pick returns a pick of the run, or 0 if the run has no choices.
func (s setup) Pick(n int, label string) int {
	if c := s.run.course.choices; c != nil {
		return c.Pick(n, label)
	}
	return 0
}

// digest adds to a hash the state that the script keeps between steps.
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

// abandon stops a run in which a panic occurred.
func (r *Run) abandon() {
	defer func() { _ = recover() }()
	r.stop()
}

// World returns the world of the script, with its history.
func (r *Run) World() *sim.World { return r.t.World }

// Violations returns each violation whose law counted when the violation occurred.
func (r *Run) Violations() []render.Mark { return r.counting.counted() }

func (r *Run) hash() uint64 { return r.t.World.Hash() }

// barrier ends the current timeline: the next one shows only later records.
func (r *Run) barrier() {
	r.telling.settles++
	r.telling.from = r.t.World.History.Len()
}

func (r *Run) printf(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

// at returns the current step. Between steps it returns a step without a line.
func (r *Run) at() *Step {
	if r.step == nil {
		return &Step{file: &File{Name: "script"}}
	}
	return r.step
}

func (r *Run) errorf(format string, args ...any) error { return r.at().wrong(format, args...) }

// perform executes a step of the file, and returns its output. It returns an error if the step is wrong or has an
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

// judge returns an error if a step without a "!" violated a law, or if a step with a "!" violated none.
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

// refused is the error of a user's request that the server refused. A step with a "!" may expect the refusal.
type refused struct{ text string }

func (e *refused) Error() string { return "refused: " + e.text }

// act executes a user action. In the default run it executes the action at once, and returns an error if the server
// refuses the action. In an explored run, an action after the first settle races with the controllers until the next
// explored settle, and act returns nil.
func (r *Run) act(label string, f func() error) error {
	r.settled.dirty = true
	if r.racing() {
		s, timeouts := r.step, 0
		r.t.LaterUntil(label, func() bool {
			err := f()
			r.note(s, err)
			if timedOut(err) {
				timeouts++
				return timeouts == mostTimeouts
			}
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

// racing reports whether the schedule decides when the user's next action happens.
func (r *Run) racing() bool {
	return r.t.Waiting() > 0 || r.course.races && r.telling.settles > 0 && r.raced()
}

// unreachable reports whether a request failed because the process that serves a webhook does not run. The user then
// repeats the request.
func unreachable(err error) bool { return webhookFailed(err, "connection refused") }

// timedOut reports whether a request failed because a webhook did not answer in time. For example, the webhook may read
// from caches that are not filled yet. The user then repeats the request, until it has failed mostTimeouts times.
func timedOut(err error) bool { return webhookFailed(err, "context deadline exceeded") }

const mostTimeouts = 60

func webhookFailed(err error, why string) bool {
	return err != nil && strings.Contains(err.Error(), "failed to call webhook") && strings.Contains(err.Error(), why)
}

func (r *Run) note(s *Step, err error) {
	if r.tried != nil && s != nil {
		r.tried(s, err)
	}
}

// raced reports whether the current step's action may race with the controllers. If the next settle is quiet, it may
// not.
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
