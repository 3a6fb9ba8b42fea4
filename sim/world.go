package sim

import (
	"fmt"
	"slices"
)

// Observer is told of each record once the step that wrote it has ended, in
// order. Judges are observers.
type Observer interface {
	Observe(r *Record)
}

// World is a set of actors under one stream of choices. The zero value is not
// usable; call [New].
type World struct {
	Clock   Clock
	History History

	// Observers are told of every record at the end of its step.
	Observers []Observer
	// Digests digest parts of the world's state that belong to no actor
	// (the API server); see [World.StateHash].
	Digests []func(h *Hash)

	choices  Choices
	chooser  Chooser
	compared bool
	actors   []Actor
	keepers  []keeper   // the same, nil for those that are none
	offered  []Action   // by one actor after another, but for those of keepers
	lists    [][]Action // what each actor offers
	enabled  []Action
	steps    int
	told     int // records already shown to observers
	hash     Hash
	requests []Request // of programs
}

// New returns an empty world whose choices come from c.
func New(c Choices) *World {
	w := &World{}
	w.SetChoices(c)
	return w
}

// SetChoices changes the source of choices from here on: a scenario sets up
// under the default schedule and explores afterwards.
func (w *World) SetChoices(c Choices) {
	w.choices = c
	w.chooser, _ = c.(Chooser)
	if s, ok := c.(comparer); ok && s.ComparesStates() {
		w.compared = true
	}
}

// Compared reports whether somebody compares states of this world while it
// runs: what a digest needs and cannot be found out later is then taken down as
// it happens.
func (w *World) Compared() bool { return w.compared }

// Add adds an actor. The order in which actors are added is canonical order.
func (w *World) Add(a Actor) {
	w.actors = append(w.actors, a)
	k, _ := a.(keeper)
	w.keepers = append(w.keepers, k)
}

// Steps is the number of steps taken.
func (w *World) Steps() int { return w.steps }

// Hash is the run's digest so far: every action taken, every pick, every record and
// every request of a program folded in. Equal runs have equal hashes at every step.
func (w *World) Hash() uint64 { return uint64(w.hash) }

// Pick asks the stream of choices; what it answered becomes part of the hash.
func (w *World) Pick(n int, label string) int {
	i := 0
	if n > 1 {
		i = w.choices.Pick(n, label)
	}
	w.hash.Word(uint64(i)<<32 | uint64(n))
	return i
}

// Enabled lists the enabled actions in canonical order: by class, then by
// actor. The slice is reused by the next call.
func (w *World) Enabled() []Action {
	w.offered, w.lists = w.offered[:0], w.lists[:0]
	for i, a := range w.actors {
		list := []Action(nil)
		if k := w.keepers[i]; k != nil {
			list = k.Offers()
		} else {
			from := len(w.offered)
			w.offered = a.Offer(w.offered)
			list = w.offered[from:]
		}
		if len(list) > 0 {
			w.lists = append(w.lists, list)
		}
	}
	w.order()
	return w.enabled
}

// order sorts the offered actions by class, stably. The timers that are due next
// come behind everything but faults, so that in the default schedule time
// passes only when nothing else can happen. Where something else can, those
// beyond the clock's horizon are left out.
func (w *World) order() {
	var next [numClasses]int // where in the list the next action of a class belongs
	all := 0
	for _, list := range w.lists {
		all += len(list)
		for i := range list {
			next[list[i].Class]++
		}
	}
	n := 0
	for c := Respond; c <= Timer; c++ {
		next[c], n = n, n+next[c]
	}
	w.enabled = slices.Grow(w.enabled[:0], all)[:n]
	for _, list := range w.lists {
		for i := range list {
			if a := &list[i]; a.Class != Fault {
				w.enabled[next[a.Class]] = *a
				next[a.Class]++
			}
		}
	}
	if len(w.enabled) == 0 || w.Clock.within() {
		for i := range w.Clock.due() {
			t := w.Clock.timers[i]
			w.enabled = append(w.enabled, Action{Class: Timer, Actor: t.Owner, Detail: t.Label, Slot: i})
		}
	}
	if next[Fault] == 0 {
		return
	}
	for _, list := range w.lists {
		for i := range list {
			if list[i].Class == Fault {
				w.enabled = append(w.enabled, list[i])
			}
		}
	}
}

// Quiet reports whether nothing but faults is enabled.
func (w *World) Quiet() bool {
	e := w.Enabled()
	return len(e) == 0 || e[0].Class == Fault
}

// Step takes one enabled action. It returns false when nothing but faults is
// enabled and the choice was to leave it at that, or when the [Chooser] ended
// the run.
func (w *World) Step() bool { return w.StepAmong(w.Enabled()) }

// StepAmong is [World.Step] for whoever has asked already what is enabled.
func (w *World) StepAmong(e []Action) bool {
	i, ok := w.choose(e)
	if !ok {
		return false
	}
	w.Take(e[i])
	return true
}

// choose picks among the enabled actions, as [World.Draw] does.
func (w *World) choose(e []Action) (int, bool) {
	if len(e) == 0 {
		return 0, false
	}
	if w.chooser != nil {
		i := w.chooser.Next(w, e)
		return i, i >= 0
	}
	i := w.Draw(w.choices, e)
	w.hash.Word(uint64(i+1)<<32 | uint64(len(e)))
	return i, i >= 0
}

// Take performs one enabled action as a step and tells the observers what came
// of it.
func (w *World) Take(a Action) {
	w.steps++
	w.hash.Word(uint64(a.Class))
	w.hash.String(a.Actor)
	w.hash.String(a.Detail)
	w.perform(a)
	w.End()
}

func (w *World) perform(a Action) {
	if a.Class == Timer {
		if t := w.Clock.timers; a.Slot < len(t) && t[a.Slot].Label == a.Detail && t[a.Slot].Owner == a.Actor {
			if x := t[a.Slot]; w.Clock.Reach(x.At) {
				w.Clock.Stop(x)
				x.Fire()
			}
			return
		}
	}
	for _, b := range w.actors {
		if b.Name() == a.Actor {
			b.Take(a)
			return
		}
	}
	panic("sim: took " + a.Key() + ", which no actor of the world offers")
}

// Do performs something outside the offered actions as a step of its own: what
// a scenario's user does between two settles.
func (w *World) Do(what string, f func()) {
	w.steps++
	w.hash.String(what)
	f()
	w.End()
}

// Record appends to the history; step, time and index are filled in. The
// pointer is good until the next record.
func (w *World) Record(r Record) *Record {
	r.Step, r.At = w.steps, w.Clock.elapsed
	w.foldRecord(&r)
	return w.History.add(r)
}

func (w *World) foldRecord(r *Record) {
	w.hash.Word(uint64(r.Op)<<56 ^ uint64(r.At)<<8 ^ uint64(r.Code) ^ r.Version<<20)
	w.hash.String(r.Object.Name)
	w.hash.String(r.Object.UID)
}

// End tells the observers of the records written since the last call. Step and
// Do call it.
func (w *World) End() {
	for ; w.told < w.History.Len(); w.told++ {
		r := w.History.At(w.told)
		for _, o := range w.Observers {
			o.Observe(r)
		}
	}
	w.History.trim()
}

// Footprint says what taking the action now would touch.
func (w *World) Footprint(a Action) Footprint {
	if a.Class == Timer || a.Class == Fault {
		return Footprint{Global: true}
	}
	for _, b := range w.actors {
		if b.Name() == a.Actor {
			return b.Footprint(a)
		}
	}
	return Footprint{Global: true}
}

// Digester is an actor, an observer or a controller's memory whose whole state
// can be digested; exhaustive search needs all actors and observers to be.
type Digester interface {
	Digest(h *Hash)
}

// part is a [Digester] that is made of others, of which one may not be.
type part interface {
	Digester
	// Undigested names what cannot be digested, "" when all can.
	Undigested() string
}

// Undigested names the first actor or observer whose state cannot be digested,
// "" when all can.
func (w *World) Undigested() string {
	for _, a := range w.actors {
		if name := undigested(a); name != "" {
			return name
		}
	}
	for _, o := range w.Observers {
		if name := undigested(o); name != "" {
			return name
		}
	}
	return ""
}

func undigested(x any) string {
	switch d := x.(type) {
	case part:
		return d.Undigested()
	case Digester:
		return ""
	case interface{ Name() string }:
		return d.Name()
	}
	return fmt.Sprintf("%T", x)
}

// StateHash digests the whole state of the world: the server, every actor, the
// timers, the time of day. Two worlds with equal hashes have equal
// futures under equal choices. In a world that is not [World.Compared] it says
// so only of states in which nobody is at work.
func (w *World) StateHash() uint64 {
	var h Hash
	h.Word(uint64(w.Clock.elapsed))
	for _, f := range w.Digests {
		f(&h)
	}
	for _, a := range w.actors {
		if d, ok := a.(Digester); ok {
			d.Digest(&h)
		}
	}
	if w.Clock.Horizon > 0 {
		h.Word(uint64(w.Clock.Horizon - w.Clock.elapsed))
	}
	for _, t := range w.Clock.timers {
		h.String(t.Owner)
		h.String(t.Label)
		h.Word(uint64(t.At - w.Clock.elapsed))
	}
	return uint64(h)
}
