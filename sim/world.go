package sim

import (
	"fmt"
	"slices"
)

// Observer sees each record, in order, at the end of the step that wrote it. A judge is an observer.
type Observer interface {
	Observe(r *Record)
}

// World is a set of actors and one stream of choices. Create it with [New]; the zero value is not usable.
type World struct {
	Clock   Clock
	History History

	// Observers see every record at the end of its step.
	Observers []Observer
	// Digests add the state of parts that are not actors, such as the API server, to [World.StateHash].
	Digests []func(h *Hash)

	choices  Choices
	draws    Choices // draws the actions
	chooser  Chooser
	compared bool
	actors   []Actor
	keepers  []keeper   // actors as keepers (action.go), at the same indexes; nil for an actor that is no keeper
	offered  []Action   // the actions of actors that are no keepers; the slice is reused
	lists    [][]Action // the enabled actions, one list for each actor that has any
	enabled  []Action
	steps    int
	told     int // number of records that were passed to the observers
	hash     Hash
	requests []Request // the requests of programs
}

// New returns an empty world with the given choices.
func New(c Choices) *World {
	w := &World{}
	w.SetChoices(c)
	return w
}

// SetChoices changes the source of later choices. For example, a scenario runs its setup under the default schedule,
// and is explored from there.
func (w *World) SetChoices(c Choices) {
	w.choices, w.draws = c, c
	if d, ok := c.(drawer); ok {
		w.draws = d.Draws()
	}
	w.chooser, _ = c.(Chooser)
	if s, ok := c.(comparer); ok && s.ComparesStates() {
		w.compared = true
	}
}

// Compared reports whether states of this world may be compared while it runs. Then digests must be updated as the
// world runs. For example, nothing can read the state of a running reconcile later.
func (w *World) Compared() bool { return w.compared }

// Add adds an actor. Within a class, enabled actions are in the order in which their actors were added.
func (w *World) Add(a Actor) {
	w.actors = append(w.actors, a)
	k, _ := a.(keeper)
	w.keepers = append(w.keepers, k)
}

// Steps returns the number of steps taken.
func (w *World) Steps() int { return w.steps }

// Hash returns the run's digest so far. It covers every action, every pick, every record, and every request of a
// program. Two equal runs have equal hashes at every step.
func (w *World) Hash() uint64 { return uint64(w.hash) }

// Pick returns a number in [0, n), and adds it to the hash. If n is more than 1, the number comes from the choices.
func (w *World) Pick(n int, label string) int {
	i := 0
	if n > 1 {
		i = w.choices.Pick(n, label)
	}
	w.hash.Word(uint64(i)<<32 | uint64(n))
	return i
}

// Enabled lists the enabled actions in canonical order: by class, then by actor. The next call reuses the slice.
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

// order sorts the offered actions by class. The next timers come after everything except faults, so that in the default
// schedule time passes only when nothing else can happen. While another action is enabled, timers beyond the clock's
// horizon are left out.
func (w *World) order() {
	var next [numClasses]int // by class: first the number of actions, then the index for the next action
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

// Quiet reports whether no action except faults is enabled.
func (w *World) Quiet() bool {
	e := w.Enabled()
	return len(e) == 0 || e[0].Class == Fault
}

// Step takes one enabled action. It returns false if no action is enabled, or if the [Chooser] ended the run. It also
// returns false if only faults are enabled and the choice was to take no action.
func (w *World) Step() bool { return w.StepAmong(w.Enabled()) }

// StepAmong does the same as [World.Step], for a caller that already has the result of [World.Enabled].
func (w *World) StepAmong(e []Action) bool {
	i, ok := w.choose(e)
	if !ok {
		return false
	}
	w.Take(e[i])
	return true
}

func (w *World) choose(e []Action) (int, bool) {
	if len(e) == 0 {
		return 0, false
	}
	if w.chooser != nil {
		i := w.chooser.Next(w, e)
		return i, i >= 0
	}
	i := w.Draw(w.draws, e)
	w.hash.Word(uint64(i+1)<<32 | uint64(len(e)))
	return i, i >= 0
}

// Take performs an enabled action as a step, and passes its records to the observers.
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
			if x := t[a.Slot]; w.Clock.Reach(x.At) && w.Clock.Stop(x) { // an event on the clock of Beside may stop the alarm
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

// Do calls f as a step of its own, for example for a user action between two calls of Settle in package trial.
func (w *World) Do(what string, f func()) {
	w.steps++
	w.hash.String(what)
	f()
	w.End()
}

// Record adds a record to the history, with the current step and time. The pointer is valid until the next record.
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

// End passes the observers the records since its last call. Take and Do call End.
func (w *World) End() {
	for ; w.told < w.History.Len(); w.told++ {
		r := w.History.At(w.told)
		for _, o := range w.Observers {
			o.Observe(r)
		}
	}
	w.History.trim()
}

// Footprint returns the footprint of an action, if it is taken now.
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

// Digester is an actor, an observer or a controller's memory whose whole state can be digested. Exhaustive search
// requires that all actors and observers are Digesters.
type Digester interface {
	Digest(h *Hash)
}

// part is a [Digester] with several parts, such as a process with several controllers. Some may have no digest.
type part interface {
	Digester
	// Undigested names a part that cannot be digested, or "".
	Undigested() string
}

// Undigested names the first actor or observer whose state cannot be digested, or "".
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

// StateHash returns a digest of the whole state of the world: the server, every actor, the timers, and the time. If two
// worlds have equal hashes, equal choices lead to equal futures. If the world is not [World.Compared], this is true
// only while no reconcile is running.
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
