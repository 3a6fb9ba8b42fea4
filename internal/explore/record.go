package explore

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// Recorder records the choices of another source. It also records the run's hash before each decision about an action.
type Recorder struct {
	// Halt, if not nil, is called before each decision about an action. If it returns true, the run ends.
	Halt func() bool

	source  sim.Choices
	chooser sim.Chooser
	entries Schedule
	trail   []uint64
	sent    []int // for each decision about an action: the number of requests before it
	step    int
	halted  bool
	world   *sim.World // the world of the run, until [traceOf] takes its requests
}

// Record returns a recorder for the choices of c.
func Record(c sim.Choices) *Recorder {
	r := &Recorder{}
	r.Reset(c)
	return r
}

// Reset starts a new recording, with the choices of c. It overwrites the slices that Schedule and Trail have returned.
func (r *Recorder) Reset(c sim.Choices) {
	r.source = c
	r.chooser, _ = c.(sim.Chooser)
	r.entries, r.trail, r.sent = r.entries[:0], r.trail[:0], r.sent[:0]
	r.step, r.halted, r.world = 0, false, nil
}

// Schedule returns the decisions since the last Reset.
func (r *Recorder) Schedule() Schedule { return r.entries }

// Trail returns the run's hash before each decision about an action.
func (r *Recorder) Trail() []uint64 { return r.trail }

// Ended reports whether the source or Halt ended the run.
func (r *Recorder) Ended() bool { return r.halted || Ended(r.source) }

// Pick returns and records the source's pick.
func (r *Recorder) Pick(n int, label string) int {
	i := r.source.Pick(n, label)
	r.entries = append(r.entries, Entry{Kind: Pick, Value: i, Label: label, Step: r.step, Default: i == 0})
	return i
}

// Next returns and records the source's choice of an action.
func (r *Recorder) Next(w *sim.World, enabled []sim.Action) int {
	r.step, r.world = w.Steps(), w
	r.trail, r.sent = append(r.trail, w.Hash()), append(r.sent, len(w.Requests()))
	if r.halted || r.Halt != nil && r.Halt() {
		r.halted = true
		return -1
	}
	i := r.next(w, enabled)
	switch {
	case i >= 0:
		r.step++
		a := enabled[i]
		if first := slices.IndexFunc(enabled, a.Same); first != i {
			panic(fmt.Sprintf("explore: actions %d and %d at step %d have the key %q", first, i, r.step, a.Key()))
		}
		r.entries = append(r.entries, Entry{Action: a, Step: r.step, Default: i == 0 && a.Class != sim.Fault})
	case !r.Ended():
		r.entries = append(r.entries, Entry{Kind: Leave, Step: r.step, Default: true})
	}
	return i
}

func (r *Recorder) next(w *sim.World, enabled []sim.Action) int {
	if r.chooser != nil {
		return r.chooser.Next(w, enabled)
	}
	return w.Draw(r.source, enabled)
}
