package sim

import (
	"slices"
	"strings"
)

// Class is the class of an action. Enabled actions are sorted by class, in the order of the constants, and the default
// schedule takes the first one. This models a responsive cluster. Requests are answered and events are delivered before
// any process acts. Time passes only when nothing else can happen.
type Class uint8

const (
	Respond Class = iota // a response reaches its caller
	Execute              // the API server executes a pending request
	Deliver              // one watch event reaches one informer of one process
	Work                 // a worker takes a key from its queue, or a process restarts, or a program exits
	User                 // the user's next action
	Timer                // the clock moves to the earliest timer
	Fault                // a fault from the fault budget
	numClasses
)

var classNames = [numClasses]string{"respond", "execute", "deliver", "work", "user", "timer", "fault"}

// String returns the class as schedules and scenario files write it.
func (c Class) String() string { return classNames[c] }

// Action is a step that an actor can take next. Class, Actor and Detail are its key. The key of an action is the same
// in every run that has reached the same point.
type Action struct {
	Class  Class
	Actor  string // the acting process, "user", "clock", "faults"
	Detail string // which of the actor's actions of this class: for example a kind, a worker or a fault

	Slot int // the actor finds the action by this number; not part of the key
}

// Key renders the canonical key, "class actor" or "class actor detail".
func (a Action) Key() string {
	if a.Detail == "" {
		return a.Class.String() + " " + a.Actor
	}
	return a.Class.String() + " " + a.Actor + " " + a.Detail
}

// Same reports whether two actions have the same key.
func (a Action) Same(b Action) bool {
	return a.Class == b.Class && a.Actor == b.Actor && a.Detail == b.Detail
}

// ParseKey parses a key of [Action.Key]. The slot of the result is zero.
func ParseKey(s string) (Action, bool) {
	class, rest, _ := strings.Cut(s, " ")
	c := slices.Index(classNames[:], class)
	if c < 0 || rest == "" {
		return Action{}, false
	}
	actor, detail, _ := strings.Cut(rest, " ")
	return Action{Class: Class(c), Actor: actor, Detail: detail}, true
}

// Footprint holds what an action reads and writes, for partial-order reduction.
type Footprint struct {
	Global  bool   // the action may read and write everything, as timers and faults do
	Process string // the process whose private state it reads or writes; "" for none
	Kind    string // the kind of object in the action's request; "" for none
	Object  string // namespace/name; "" means all objects of the kind
	Write   bool   // the action changes the server
}

// Independent reports whether the order of two actions with these footprints makes no difference, in any state in which
// both are enabled. Two writes to one kind are dependent, because watchers receive them in commit order.
func (f Footprint) Independent(g Footprint) bool {
	if f.Global || g.Global || (f.Process != "" && f.Process == g.Process) {
		return false
	}
	if f.Kind == "" || g.Kind == "" || f.Kind != g.Kind || !f.Write && !g.Write {
		return true
	}
	if f.Write && g.Write {
		return false
	}
	return f.Object != "" && g.Object != "" && f.Object != g.Object
}

// Actor is a source of actions: a process, the user, the faults, the clock.
type Actor interface {
	// Name is the actor's name in action keys; unique in its world.
	Name() string
	// Offer appends the actions that are enabled now. The order depends only on the state. Offer changes nothing.
	Offer(into []Action) []Action
	// Take performs one action that Offer returned in this state.
	Take(a Action)
	// Footprint returns the footprint that the action has if it is taken now.
	Footprint(a Action) Footprint
}

// keeper is an [Actor] that keeps its list of offers from step to step.
type keeper interface {
	// Offers returns the actions that Offer appends. The list is valid until the actor changes, and read-only.
	Offers() []Action
}
