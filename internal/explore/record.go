package explore

import "github.com/threelaws/threelaws/sim"

// Recorder passes choices on from another source and writes them down, with the
// run's hash in front of each decision about an action.
type Recorder struct {
	// Halt, when set, is asked before each step; true ends the run.
	Halt func() bool

	source  sim.Choices
	chooser sim.Chooser
	entries Schedule
	trail   []uint64
	sent    []int // how many requests programs had sent before each decision about an action
	step    int
	halted  bool
	world   *sim.World // of the run, until [traceOf] has taken its requests
}

// Record returns a recorder of what c decides.
func Record(c sim.Choices) *Recorder {
	r := &Recorder{}
	r.Reset(c)
	return r
}

// Reset starts over with another source, reusing the memory. Schedules returned
// before are overwritten.
func (r *Recorder) Reset(c sim.Choices) {
	r.source = c
	r.chooser, _ = c.(sim.Chooser)
	r.entries, r.trail, r.sent = r.entries[:0], r.trail[:0], r.sent[:0]
	r.step, r.halted, r.world = 0, false, nil
}

// Schedule is what was decided since the last Reset.
func (r *Recorder) Schedule() Schedule { return r.entries }

// Trail holds the run's hash as it was before each decision about an action.
func (r *Recorder) Trail() []uint64 { return r.trail }

// Ended reports whether the source, or Halt, ended the run.
func (r *Recorder) Ended() bool { return r.halted || Ended(r.source) }

// Pick asks the source.
func (r *Recorder) Pick(n int, label string) int {
	i := r.source.Pick(n, label)
	r.entries = append(r.entries, Entry{Kind: Pick, Value: i, Label: label, Step: r.step, Default: i == 0})
	return i
}

// Next asks the source.
func (r *Recorder) Next(w *sim.World, enabled []sim.Action) int {
	r.step, r.world = w.Steps(), w
	r.trail, r.sent = append(r.trail, w.Hash()), append(r.sent, len(w.Requests()))
	if r.halted || r.Halt != nil && r.Halt() {
		r.halted = true
		return -1
	}
	i := r.ask(w, enabled)
	switch {
	case i >= 0:
		r.step++
		a := enabled[i]
		r.entries = append(r.entries, Entry{Action: a, Step: r.step, Default: i == 0 && a.Class != sim.Fault})
	case !r.Ended():
		r.entries = append(r.entries, Entry{Kind: Leave, Step: r.step, Default: true})
	}
	return i
}

func (r *Recorder) ask(w *sim.World, enabled []sim.Action) int {
	if r.chooser != nil {
		return r.chooser.Next(w, enabled)
	}
	return w.Draw(r.source, enabled)
}
