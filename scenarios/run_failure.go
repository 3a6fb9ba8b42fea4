package scenarios

import "github.com/threelaws/threelaws/internal/render"

// Failure is a step that broke a law, in which an expectation did not hold, or
// after which the world did not come to rest.
type Failure struct {
	Step   *Step       // nil for the settle at the end of a script that has none
	Code   int         // the exit code it stands for if nothing expects it
	Breach render.Mark // what is to be shown; Law is a verb where no law is broken

	from int // the first record to be shown
}

// Expected reports whether the step has a "!".
func (f *Failure) Expected() bool { return f.Step != nil && f.Step.Expect }

// failed is what did not go as it should in a run.
type failed struct {
	all    []Failure    // in order
	unread bool         // nobody asks for them, which it takes a timeline to note
	found  *render.Page // what a step that explores found
}

// last is the failure that ended the run, nil for none.
func (f *failed) last() *Failure {
	if n := len(f.all); n > 0 {
		return &f.all[n-1]
	}
	return nil
}
