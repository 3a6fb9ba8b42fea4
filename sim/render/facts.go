package render

import "github.com/threelaws/threelaws/sim"

// Width is the number of columns everything fits in.
const Width = 100

// Facts looks inside the objects of a history. All functions must be set.
type Facts struct {
	// Owners lists an object's owner references, in the order of the object.
	Owners func(obj any) []Owner
	// Deleting reports whether an object has a deletion timestamp.
	Deleting func(obj any) bool
	// Change names what a commit did.
	Change func(r *sim.Record) Change
	// Refusal says why a request was refused, in a few words and without unique ids.
	Refusal func(r *sim.Record) string
}

// Owner is one owner reference.
type Owner struct {
	Ref        sim.Ref
	Controller bool // it is the ControllerRef
}

// Change is what one commit did.
type Change struct {
	Verb   string // adopt, release, create, delete, scale, status, patch, update, ...
	Detail string // "controller: none -> rs/web-a"
	Noise  bool   // status writes and the like: shown only in a verbose timeline
}

// Breach is one breaking of one law, as it is shown.
type Breach struct {
	Record   int    // index of the record that broke it
	Law      string // "dont-interfere"
	Sentence string // what must hold
	Source   string // where that is said
	Text     string // "owned by rs/web-b"
	Race     bool   // lawful for what the actor knew, not for the state it landed on
	Cycle    []int  // a fight: the records of its cycle
}

// String renders the breach as it stands in a timeline.
func (b Breach) String() string {
	word := "VIOLATES "
	if b.Race {
		word = "RACES "
	}
	if b.Text == "" {
		return word + b.Law
	}
	return word + b.Law + ": " + b.Text
}
