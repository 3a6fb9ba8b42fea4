package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// Run is one run of a script. Its methods are the verbs, so that a Go test can
// do what a file can; see [NewRun].
type Run struct {
	Registry *Registry
	Strict   bool // races lost count as broken laws
	Verbose  bool // timelines show status writes too

	prefer       string // the law that is looked for, by its clause; "" for any
	file         *File
	t            *trial.Trial
	marks        map[string]uint64          // name -> revision of the server
	settles      int                        // barriers so far
	stale        bool                       // the script restarts processes from older states
	from         int                        // record from which the next settle's timeline starts
	since        int                        // record from which "laws since=switch" counts
	bound        int                        // steps a settle that is explored may take; 0 for no other than any has
	idle         int                        // of them without a commit; 0 for maxIdleDrawn
	choices      sim.Choices                // of the settles that are explored; nil in the default run
	explored     bool                       // the user's actions race with the controllers
	replace      map[string]host.Controller // controller name -> what to start instead
	faults       map[string]int             // fault budget
	step         *Step                      // the step being run, nil outside a file
	out          strings.Builder            // its output
	broken       int                        // breaches already accounted for
	quiet        bool                       // nobody reads the output
	unread       bool                       // nor asks for its failures, which it takes a timeline to note
	keys         *explore.Keys              // the schedule being replayed, nil for none
	found        *Counterexample            // what an exploration found
	exploredFrom int                        // first record of the first settle that was explored
	only         map[*law.Law]bool          // the laws that count; nil for all
	judged       []judging                  // which laws counted from which breach on
	failures     []Failure                  // what did not go as it should, in order
	dirty        bool                       // something was done since the last settle
	done         map[int]bool               // steps in which the script acted at once
	budgeted     bool                       // the fault budget is in the world
	ended        bool                       // the source of choices ended the run
	senseless    *Error                     // the step that made no sense when it came to it
	settling     trial.Settling             // of the last settle
	settledFrom  int                        // the first record that its timeline tells of
	asked        *asked                     // told of what the user tries; nil for nobody
	notes        []string                   // to print beneath the next timeline
	unsettled    string                     // how the last settle did not come to rest
}

// NewRun starts a script on an empty cluster under the default schedule.
func NewRun(g *Registry) *Run {
	r := &Run{Registry: g, t: trial.New(trial.Options{Laws: g.Laws}), marks: map[string]uint64{}}
	r.t.World.Digests = append(r.t.World.Digests, r.digest)
	return r
}

// digest folds what the script remembers between two steps.
func (r *Run) digest(h *sim.Hash) {
	h.Word(uint64(r.settles))
	if r.stale {
		for _, name := range slices.Sorted(maps.Keys(r.marks)) {
			h.Word(r.marks[name])
		}
		r.t.Cluster.DigestHistory(h)
	}
}

// Stop ends the run's processes. The run must not be used afterwards.
func (r *Run) Stop() { r.t.Stop() }

// World, Cluster and Judge are the run's parts, for tests that look closer.
func (r *Run) World() *sim.World      { return r.t.World }
func (r *Run) Cluster() *host.Cluster { return r.t.Cluster }
func (r *Run) Judge() *law.Judge      { return r.t.Judge }

// printf adds to the output of the step.
func (r *Run) printf(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

// errorf is a mistake in the step being run.
func (r *Run) errorf(format string, args ...any) error {
	if r.step != nil {
		return r.step.wrong(format, args...)
	}
	return wrong("script", 0, "", format, args...)
}

// refused is a request of the user that the server refused: expected with "!".
type refused struct{ text string }

func (e *refused) Error() string { return "refused: " + e.text }

// do performs one step of the file and says how it went: its output, and an
// error where the step is wrong or did not go as the file says.
func (r *Run) do(s *Step) (output string, err error) {
	r.step = s
	r.out.Reset()
	before := len(r.t.Judge.Breaches())
	err = FindVerb(s.Verb).run(r, s)
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
		r.fail(e)
		if s.Expect && !e.bang {
			r.accept()
			return r.out.String(), nil
		}
		return r.out.String(), err
	case err != nil:
		return r.out.String(), err
	}
	return r.out.String(), r.judge(s, before)
}

// accept counts the breaches so far as expected.
func (r *Run) accept() { r.broken = len(r.t.Judge.Breaches()) }

// judge holds the breaches of a step against its "!".
func (r *Run) judge(s *Step, before int) error {
	first := r.firstBreach(before)
	r.accept()
	switch {
	case first != nil:
		r.breaks(first)
		if s.Expect {
			return nil
		}
		return s.fail(ExitFail, "%s is broken: %s", first.Law.Name, render.WithoutUIDs(first.Text))
	case s.Expect:
		return s.missed("no law was broken and nothing was refused")
	}
	return nil
}

// firstBreach is the first breach from an index on that fails the run. Of
// several by one record it is the one that the run is looking for.
func (r *Run) firstBreach(from int) *law.Breach {
	bs := r.t.Judge.Breaches()
	var first *law.Breach
	for i := min(from, len(bs)); i < len(bs); i++ {
		switch b := &bs[i]; {
		case !r.fails(b):
		case first == nil:
			first = b
		case b.Record == first.Record && b.Law.ID == r.prefer:
			return b
		}
		if first != nil && (r.prefer == "" || first.Law.ID == r.prefer) {
			return first
		}
	}
	return first
}

func (r *Run) fails(b *law.Breach) bool {
	return r.counts(b) && (r.Strict || b.Strength == law.Informed)
}

// initial is the record after the initial world.
func (r *Run) initial() int {
	h := &r.t.World.History
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Process != "user" {
			return i
		}
	}
	return 0
}

// act performs something the user does: at once in the default run; in an
// explored run, between a barrier and a settle that is explored, as an action
// among the others. It returns what the server refused.
func (r *Run) act(label string, f func() error) error {
	r.dirty = true
	if r.t.Waiting() > 0 || r.explored && r.settles > 0 && r.races() {
		s := r.step
		r.t.Later(label, func() { r.asked.tried(s, f()) })
		return nil
	}
	err := r.t.Do(label, f)
	r.asked.tried(r.step, err)
	if r.done == nil {
		r.done = map[int]bool{}
	}
	r.done[r.t.World.Steps()] = true
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		return &refused{err.Error()}
	}
	return err
}

// races reports whether what the step does belongs to a settle that is
// explored: not one of set-up.
func (r *Run) races() bool {
	if r.file == nil || r.step == nil {
		return true
	}
	from := slices.Index(r.file.Steps, r.step)
	for _, s := range r.file.Steps[from+1:] {
		if s.Verb == verbSettle.Name {
			return !s.Has("quiet")
		}
	}
	return true
}

// barrier ends a settle: what comes next is told from here on.
func (r *Run) barrier() {
	r.settles++
	r.from = r.t.World.History.Len()
}

// processesNamed finds processes for a verb.
func (r *Run) processesNamed(name string) ([]*host.Process, error) {
	ps := r.instances(r.Registry.process(name))
	if len(ps) == 0 {
		return nil, r.errorf("unknown process %s%s", name, suggest(name, r.processNames()))
	}
	return ps, nil
}
