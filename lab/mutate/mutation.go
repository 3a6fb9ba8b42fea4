package mutate

import (
	"fmt"
	"go/token"
)

// Mutation is one change of one place.
type Mutation struct {
	ID      int    // from 1, in the order of packages, files and places
	Package string // below the module: "controllers/ref"
	File    string // below the module
	Func    string // "Manager.Claim", "Claim"; "" outside of functions
	Line    int
	What    string // the operator and what it changes: "negate err != nil"
	Init    bool   // in the initialisation of its package
}

func (m *Mutation) String() string {
	return fmt.Sprintf("%s:%d %s: %s", m.File, m.Line, m.Func, m.What)
}

// Op is what a mutation does.
type Op string

// The operators.
const (
	Negate    Op = "negate"     // a condition, or a boolean that is returned
	DropLeft  Op = "drop left"  // of && and ||: only the right operand counts
	DropRight Op = "drop right" // only the left one counts
	Equal     Op = "equal"      // < becomes <=, and back; > becomes >=
	Drop      Op = "drop"       // a statement: a call, an assignment, a count
	Nothing   Op = "nothing"    // a call in an expression statement of values: they are zero, and it is not made
	NoError   Op = "no error"   // an error that is returned is nil
	Without   Op = "without"    // an element of a composite
)

// edit is text put before and behind a part of a file, and in its place.
type edit struct {
	from, to     token.Pos
	before, then string
	cut          bool // what is between from and to goes
}
