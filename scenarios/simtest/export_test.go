package simtest

// Drawn is one run under a stream of choices.
type Drawn = drawn

// The parts of [Case.Fuzz] that run any program.
var (
	Run  = run
	Fuzz = fuzz
)
